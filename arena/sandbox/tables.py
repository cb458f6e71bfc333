"""Read the tables (NAME.toml) that lie beside the modules of this package."""

import functools
import tomllib
from pathlib import Path
from typing import Any


@functools.cache
def table(name: str) -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name(f"{name}.toml").read_text("utf-8"))
