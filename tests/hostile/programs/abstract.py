"""Listens at a local socket with a name in no folder, or asks there."""

import socket
import sys

role, name, *word = sys.argv[1:]
try:
    with socket.socket(socket.AF_UNIX) as found:
        found.settimeout(2 if role == "receive" else 30)
        if role == "send":
            found.bind("\0" + name)
            found.listen()
            print("ready", flush=True)
            while True:
                client, _ = found.accept()
                with client:
                    client.sendall(word[0].encode())
        found.connect("\0" + name)
        print("BROKE", found.recv(100).decode())
except OSError as error:
    print("HELD", error)
