"""Starts programs that run as their owner, and sees whom they run as."""

import os
import subprocess
import sys
import time


def uids_of(child, name):
    """Whom it runs as; it is told as started a moment before it has other rights."""
    for _ in range(100):
        time.sleep(0.005)
        with open(f"/proc/{child.pid}/status") as status:
            fields = dict(line.split(":", 1) for line in status)
        if fields["Name"].strip() == name[:15]:
            break
    return fields["Uid"].split()


for path in filter(os.path.exists, sys.argv[1:]):
    with subprocess.Popen(
        [path], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as child:
        try:
            uids = uids_of(child, os.path.basename(path))
        except OSError as error:
            print("HELD it can't even look:", error.strerror)
            sys.exit()
        finally:
            child.kill()
    if len(set(uids)) > 1:
        print("BROKE", path, "runs with the uids", *uids)
        sys.exit()
print("HELD they run as their caller")
