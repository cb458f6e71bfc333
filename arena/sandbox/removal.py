"""Remove a folder that a hostile program, now dead, has filled."""

import os
from pathlib import Path


def remove(folder: str) -> None:
    """Remove it, however deep, odd and locked it is: without recursion or following a link."""
    Path(folder).chmod(0o700)
    lifted = Path(folder, f".{os.urandom(8).hex()}")
    number = 0
    while found := list(os.scandir(folder)):
        for entry in found:
            if not entry.is_dir(follow_symlinks=False):
                Path(entry).unlink()
                continue
            Path(entry).chmod(0o700)
            for inner in list(os.scandir(entry)):
                # Lifted to the top, so that no path gets too long.
                if inner.is_dir(follow_symlinks=False):
                    Path(inner).chmod(0o700)
                number += 1
                Path(inner).rename(f"{lifted}-{number}")
            Path(entry).rmdir()
    Path(folder).rmdir()
