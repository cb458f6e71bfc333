"""Asks the kernel for the network interfaces."""

import socket
import struct

GET_LINK, DUMP = 18, 0x301

try:
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as found:
        found.send(struct.pack("=IHHIIB3x", 20, GET_LINK, DUMP, 1, 0, 0))
        print("BROKE netlink: an answer of", len(found.recv(65536)), "bytes")
except OSError as error:
    print("HELD", error)
