"""Makes a hard link to a file of the user, by name and from an open descriptor."""

import os
import sys

source, target = sys.argv[1:]
try:
    os.link(source, target)
    print("BROKE a second name for the file")
except OSError as error:
    print("HELD", error.strerror)
