"""Asks a listener of the machine by datagram."""

import socket
import sys

try:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asker:
        asker.settimeout(2)
        asker.sendto(b"secret?", ("127.0.0.1", int(sys.argv[1])))
        print("BROKE", asker.recv(100).decode())
except OSError as error:
    print("HELD", error)
