"""Asks for facts about a file that it can't open."""

import os
import sys

how, path = sys.argv[1:]
try:
    if how == "stat":
        print("BROKE", os.stat(path).st_size, "bytes")
    elif how == "link":
        print("BROKE", os.readlink(path))
    else:
        print("BROKE", os.getxattr(path, "user.arena").decode())
except OSError as error:
    print("HELD", error.strerror)
