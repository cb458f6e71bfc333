"""Find what ships with the package besides code: the protocol's page and example bots.

They are kept once, in `protocol/` and `example_bots/` of the repository. A wheel carries copies
in `arena/scaffolds/shipped/` (pyproject.toml, force-include); a checkout has the originals.
"""

from __future__ import annotations

from pathlib import Path

_WHEEL = Path(__file__).with_name("shipped")
_CHECKOUT = Path(__file__).parents[2]

EXAMPLES = ("beginner", "column-js", "greedy", "matcher", "random", "strong")
"""The example bots that need no compiler."""


def specification() -> Path:
    """SPEC.md: all that a bot's author needs to know, whatever the language."""
    packaged = _WHEEL / "SPEC.md"
    return packaged if packaged.is_file() else _CHECKOUT / "protocol" / "SPEC.md"


def example_bot(name: str) -> Path | None:
    """The folder of an example bot, if there is one of that name."""
    if name not in EXAMPLES:
        return None
    places = (_WHEEL / "bots" / name, _CHECKOUT / "example_bots" / name)
    return next((place for place in places if place.is_dir()), None)


def is_example(path: Path) -> bool:
    """Whether a bot is one of them: they are public, wherever the package is installed."""
    return path.parent in {_WHEEL / "bots", _CHECKOUT / "example_bots"}
