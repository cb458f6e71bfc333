"""When the results of a cluster's tasks are let go of."""

import trio

from arena.executors.dask import DaskExecutor, _Round


class Future:
    """One that knows whether it was released."""

    released = False

    def release(self):
        """Let go of it."""
        self.released = True


def test_results_are_released_when_their_records_are_durable():
    """In the order in which they came, and nothing before."""
    executor = DaskExecutor(None)
    round_ = _Round(executor, iter(()), None, None, trio.Event())
    one, two = Future(), Future()
    round_._arrived += [(10, one), (20, two)]
    for durable, released in ((9, (False, False)), (19, (True, False)), (20, (True, True))):
        executor.log = lambda durable=durable: (20, durable)
        round_._release()
        assert released == (one.released, two.released)
