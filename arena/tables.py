"""Read the tables of words and cases (NAME.toml) that lie beside the modules."""

import functools
import tomllib
from pathlib import Path
from typing import Any


@functools.cache
def table(name: str) -> dict[str, Any]:
    """`name`: the path below this package, without its suffix."""
    return tomllib.loads((Path(__file__).parent / f"{name}.toml").read_text("utf-8"))
