"""Fork, pipes between workers, as multiprocessing does it where there is no shared memory."""

import multiprocessing
import os
import random


def search(seed, connection):
    draw = random.Random(seed)
    connection.send(max(draw.random() for _ in range(20_000)))
    connection.close()


def main():
    context = multiprocessing.get_context("fork")
    best = []
    for seed in range(6):
        ours, its = context.Pipe(duplex=False)
        worker = context.Process(target=search, args=(seed, its))
        worker.start()
        its.close()
        best.append((ours, worker))
    assert all(0.99 < ours.recv() < 1 for ours, _ in best)
    for _, worker in best:
        worker.join(10)
        assert worker.exitcode == 0
    read, write = os.pipe()
    if os.fork() == 0:
        os.write(write, b"x" * 4096)
        os._exit(3)
    assert os.read(read, 4096) == b"x" * 4096
    assert os.waitstatus_to_exitcode(os.wait()[1]) == 3
    print("OK", flush=True)


main()
