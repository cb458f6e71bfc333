"""What the terminal that we write to can show."""

from __future__ import annotations

import os
import shutil
import sys


def columns() -> int:
    """The width of the terminal; 80 where there is none."""
    return shutil.get_terminal_size((80, 24)).columns


def colour() -> bool:
    """Whether stdout is a terminal that wants colour (https://no-color.org)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")
