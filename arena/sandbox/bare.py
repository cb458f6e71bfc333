"""Run a module of this package that loads the standard library and its like alone:
`python -I -S bare.py MODULE [ARGUMENT …]`.

The package's own __init__ needs msgspec, which has no place there: stand-ins for the two packages
let the module be found without it.
"""

import importlib
import os
import sys
import types
from pathlib import Path

if __name__ == "__main__":
    here = Path(__file__).parent
    for name, folder in (("arena.sandbox", here), ("arena", here.parent)):
        sys.modules[name] = types.ModuleType(name)
        sys.modules[name].__path__ = [str(folder)]
    importlib.import_module(f"arena.sandbox.{sys.argv[1]}").main(*sys.argv[2:])
    os._exit(0)  # an interpreter takes as long to clean up as to begin
