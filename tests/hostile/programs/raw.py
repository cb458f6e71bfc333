"""Listens to the machine's network, and forges packets."""

import socket

try:
    with (
        socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 3),
        socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP),
    ):
        print("BROKE raw: sockets that see and forge packets")
except OSError as error:
    print("HELD", error)
