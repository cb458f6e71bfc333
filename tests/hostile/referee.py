"""A stand-in for the referee: a process with everything that an attacker would like to have.

Started by stage.py with a JSON object of secrets as its standard input's first line; it prints
one line of facts and lives until that input ends. It has listeners of all sorts that hand out a
secret, another secret in its environment, in its memory and in an open file without a name, and
it lets signals pend, so that whether one has come can be read in /proc.
"""

import contextlib
import ctypes
import json
import os
import selectors
import signal
import socket
import sys
from pathlib import Path

PR_SET_PTRACER = 0x59616D61
ANYBODY = ctypes.c_ulong(-1 & 0xFFFFFFFFFFFFFFFF)

CAPABILITIES_VERSION = 0x20080522

PENDING = (signal.SIGUSR1, signal.SIGUSR2, signal.SIGTERM, signal.SIGIO, signal.SIGURG)


def listener(family, address):
    found = socket.socket(family, socket.SOCK_STREAM)
    found.bind(address)
    found.listen(16)
    return found


def main():
    signal.pthread_sigmask(signal.SIG_BLOCK, PENDING)
    asked = json.loads(sys.stdin.readline())
    # Where Yama forbids to trace others it mustn't be Yama that holds: it is no guard of ours.
    ctypes.CDLL(None).prctl(PR_SET_PTRACER, ANYBODY, 0, 0, 0)
    # And root's privileges would protect it from whoever has the same uid, but fewer of them.
    header = (ctypes.c_uint32 * 2)(CAPABILITIES_VERSION, 0)
    ctypes.CDLL(None).capset(header, (ctypes.c_uint32 * 6)())
    memory = ctypes.create_string_buffer(asked["referee_secret"].encode())
    handle = os.open(asked["folder"], os.O_TMPFILE | os.O_RDWR, 0o600)
    os.write(handle, asked["referee_secret"].encode())

    tcp = listener(socket.AF_INET, ("127.0.0.1", 0))
    streams = [tcp, listener(socket.AF_UNIX, asked["unix_path"])]
    Path(asked["unix_path"]).chmod(0o777)
    streams.append(listener(socket.AF_UNIX, "\0" + asked["unix_name"]))
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind(("127.0.0.1", 0))

    facts = {
        "referee_pid": os.getpid(),
        "referee_address": ctypes.addressof(memory),
        "referee_fd": handle,
        "tcp_port": tcp.getsockname()[1],
        "udp_port": udp.getsockname()[1],
    }
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()
    secret = asked["secret"].encode() + b"\n"
    with selectors.DefaultSelector() as selector:
        for each in (*streams, udp, sys.stdin):
            selector.register(each, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.fileobj is sys.stdin:
                    return
                with contextlib.suppress(OSError):
                    if key.fileobj is udp:
                        _, client = udp.recvfrom(100)
                        udp.sendto(secret, client)
                    else:
                        client, _ = key.fileobj.accept()
                        with client:
                            client.sendall(secret)


if __name__ == "__main__":
    main()
