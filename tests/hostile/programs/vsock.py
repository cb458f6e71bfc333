"""Opens a socket to the hypervisor, which no network namespace keeps from anybody."""

import socket

try:
    with socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM) as found:
        found.settimeout(1)
        outcome = found.connect_ex((socket.VMADDR_CID_HOST, 1))
        print(f"BROKE vsock: connect to the host gives error {outcome}")
except OSError as error:
    print("HELD", error)
