"""Threads with locks, queues, conditions, pools, and a parallel search."""

import queue
import threading
from concurrent.futures import ThreadPoolExecutor

work = queue.Queue()
found = []
lock = threading.Lock()


def worker():
    while (item := work.get()) is not None:
        with lock:
            found.append(item * item)


threads = [threading.Thread(target=worker) for _ in range(16)]
for thread in threads:
    thread.start()
for item in range(1000):
    work.put(item)
for _ in threads:
    work.put(None)
for thread in threads:
    thread.join(10)
assert sorted(found) == [item * item for item in range(1000)]
with ThreadPoolExecutor(8) as pool:
    assert sum(pool.map(len, ["x" * n for n in range(100)])) == 4950
ready = threading.Barrier(4, timeout=10)
with ThreadPoolExecutor(4) as pool:
    assert sorted(pool.map(lambda _: ready.wait(), range(4))) == [0, 1, 2, 3]
print("OK", flush=True)
