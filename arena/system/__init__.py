"""The seams to the operating system: clock, files, network, processes, randomness.

Theory of operation. The rooms that act (`engine`, `executors`, `store`, `event`, `live`) read the
clock, write files, start processes, draw random bytes and open sockets through the modules of this
package and in no other way; `tests/test_seams.py` lists the exceptions. Each module is an
interface: a few functions, called as attributes of the module (`clock.monotonic()`). So a simulator
can put its own in their place with `replaced`, and a call costs no more than without the seam.

Invariant: nothing here knows of bots, matches or events.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any


@contextmanager
def replaced(seam: ModuleType, **functions: Callable[..., Any]) -> Iterator[None]:
    """Put other functions into a seam for a while; AttributeError for one that it doesn't have."""
    before = {name: getattr(seam, name) for name in functions}
    try:
        for name, function in functions.items():
            setattr(seam, name, function)
        yield
    finally:
        for name, function in before.items():
            setattr(seam, name, function)
