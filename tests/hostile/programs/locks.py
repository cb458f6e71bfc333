"""Tells a word by locks on bytes of a file that both bots see: bit n is byte n.

A lock for reading needs no right to write; whether somebody holds one can be asked without any.
"""

import fcntl
import os
import struct
import sys
import time

F_OFD_GETLK, F_OFD_SETLK = 36, 37

kind, path, role, what = sys.argv[1:]
ask, take = (F_OFD_GETLK, F_OFD_SETLK) if kind == "ofd" else (fcntl.F_GETLK, fcntl.F_SETLK)


def lock(command, how, at):
    wanted = struct.pack("hhqqi4x", how, os.SEEK_SET, at, 1, 0)
    return struct.unpack("hhqqi4x", fcntl.fcntl(file, command, wanted))[0]


with open(path, "rb") as file:
    try:
        if role == "send":
            for at, bit in enumerate(what):
                if bit == "1":
                    lock(take, fcntl.F_RDLCK, at)
            print("ready", flush=True)
            time.sleep(30)
        else:
            bits = (lock(ask, fcntl.F_WRLCK, at) != fcntl.F_UNLCK for at in range(int(what)))
            print("BROKE", "".join("01"[bit] for bit in bits))
    except OSError as error:
        print("HELD", error.strerror)
