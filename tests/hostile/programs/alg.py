"""Has the kernel compute for it: a large surface, and time that is charged to nobody."""

import socket

try:
    with socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET) as found:
        found.bind(("hash", "sha256"))
        print("BROKE alg: bound to sha256")
except OSError as error:
    print("HELD", error)
