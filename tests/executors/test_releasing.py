"""When the results of a cluster's tasks are let go of."""

from arena.executors.dask import DaskExecutor


class Future:
    """One that knows whether it was released."""

    released = False

    def release(self):
        """Let go of it."""
        self.released = True


def test_results_are_released_when_their_records_are_durable():
    """In the order in which they came, and nothing before; not by the end of a wave either."""
    executor = DaskExecutor(None)
    one, two = Future(), Future()
    for written, future in ((10, one), (20, two)):
        executor.log = lambda written=written: (written, 0)
        executor.arrived(future)
    for durable, released in ((9, (False, False)), (19, (True, False)), (20, (True, True))):
        executor.log = lambda durable=durable: (20, durable)
        executor.release()
        assert released == (one.released, two.released)
