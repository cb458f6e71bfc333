"""Looks for what careless parents leave: variables and open descriptors."""

import os
import sys

found = []
if sys.argv[1] == "environment":
    for path in ("/proc/self/environ", f"/proc/{os.getppid()}/environ", "/proc/1/environ"):
        try:
            with open(path, "rb") as file:
                found.append(file.read())
        except OSError:
            continue
else:
    for number in range(3, 1024):
        try:
            found.append(b"[%d] " % number + os.pread(number, 4096, 0))
        except OSError:
            continue
text = b" ".join(found).replace(b"\0", b" ").decode(errors="replace")
print("BROKE" if sys.argv[2] in text else "HELD", text.replace("\n", " "))
