"""asyncio: tasks, time-outs, signals, a subprocess, a socket pair, threads of an executor."""

import asyncio
import hashlib
import signal
import socket


async def child():
    made = await asyncio.create_subprocess_exec(
        "/bin/cat", stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    output, _ = await made.communicate(b"through a child")
    assert output == b"through a child", output
    assert await made.wait() == 0


async def pair():
    ours, its = socket.socketpair()
    reader, writer = await asyncio.open_connection(sock=ours)
    its.sendall(b"line\n")
    assert await reader.readline() == b"line\n"
    writer.close()
    its.close()


async def main():
    caught = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGUSR1, caught.set)
    signal.raise_signal(signal.SIGUSR1)
    await asyncio.wait_for(caught.wait(), 5)
    await asyncio.gather(child(), pair(), *(asyncio.sleep(0.01) for _ in range(100)))
    digest = await asyncio.to_thread(lambda: hashlib.sha256(b"x" * 1_000_000).hexdigest())
    assert len(digest) == 64
    try:
        async with asyncio.timeout(0.01):
            await asyncio.sleep(10)
    except TimeoutError:
        print("OK", flush=True)


asyncio.run(main())
