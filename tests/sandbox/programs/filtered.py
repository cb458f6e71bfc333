"""Lives under a filter of system calls: `filtered.py HEX run ARGS…` becomes another program,
`filtered.py HEX calls` reads lines "name number arguments…" and answers each with its errno.

In a line, @ stands for this process's pid, and `pointer` for 4,096 bytes of zeros.
"""

import ctypes
import os
import struct
import sys

libc = ctypes.CDLL(None, use_errno=True)


class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_void_p)]


def prctl(*arguments):
    if libc.prctl(*(ctypes.c_ulong(each) for each in arguments)) != 0:
        sys.exit(f"prctl: {os.strerror(ctypes.get_errno())}")


def install(code):
    buffer = ctypes.create_string_buffer(code, len(code))
    program = Program(len(code) // 8, ctypes.addressof(buffer))
    prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS
    prctl(22, 2, ctypes.addressof(program), 0, 0)  # PR_SET_SECCOMP


def call(number, *arguments):
    ctypes.set_errno(0)
    result = libc.syscall(*(ctypes.c_long(each) for each in (number, *arguments)))
    return ctypes.get_errno() if result == -1 else 0


def main():
    code = bytearray.fromhex(sys.argv[1])
    for at in range(0, len(code), 8):
        # The placeholder of the main process, found here without the code under test.
        operation, constant = struct.unpack_from("=H2xI", code, at)
        if operation == 0x15 and constant in {0x7FFFFF11, 0x800000EF}:
            pid = os.getpid() if constant < 0x80000000 else -os.getpid() & 0xFFFFFFFF
            struct.pack_into("=I", code, at + 4, pid)
    lines = sys.stdin.read().splitlines() if sys.argv[2] == "calls" else []
    zeros = ctypes.create_string_buffer(4096)
    install(bytes(code))
    if sys.argv[2] == "run":
        os.execvp(sys.argv[3], sys.argv[3:])
    for line in lines:
        name, *words = line.split()
        known = {"@": os.getpid(), "pointer": ctypes.addressof(zeros)}
        numbers = [known[word] if word in known else int(word, 0) for word in words]
        sys.stdout.write(f"{name} {call(*numbers)}\n")


main()
