"""Looks for a file along all the ways round: /proc/PID/root, cwd, and open descriptors."""

import glob
import sys

wanted = sys.argv[1]
folders = [
    *glob.glob("/proc/[0-9]*/root"),
    *glob.glob("/proc/[0-9]*/cwd"),
    *glob.glob("/proc/self/fd/*"),
    "/proc/self/root",
    "/proc/thread-self/root",
    "/proc/self/root/proc/1/root",
    "/proc/self/cwd/../..",
    "../../user",
]
for folder in folders:
    for path in (folder + wanted, folder + "/" + wanted.rpartition("/")[2]):
        try:
            with open(path) as file:
                print("BROKE", path.replace(wanted, "…"), file.read())
                sys.exit()
        except (OSError, UnicodeDecodeError):
            continue
print("HELD no way of", len(folders), "leads there")
