"""Choose bots by what people call them: a name, an id, or a shell pattern such as `old-*`."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from difflib import get_close_matches
from fnmatch import fnmatchcase

from arena.model.errors import UserError


def is_called(names: Iterable[str], patterns: Collection[str]) -> bool:
    return any(fnmatchcase(name, pattern) for name in names for pattern in patterns)


def calls_of(bots: Iterable[tuple[str, str]]) -> dict[str, set[str]]:
    """Ids by every name and id. `bots`: ids and names."""
    calls: dict[str, set[str]] = defaultdict(set)
    for entrant, name in bots:
        calls[entrant].add(entrant)
        calls[name].add(entrant)
    return calls


def bots_called(
    calls: Mapping[str, Collection[str]], patterns: Iterable[str], flag: str
) -> set[str]:
    """The ids of the bots that are called so; `calls`: ids by every name and id. UserError, which
    names the flag, for a pattern that fits none.
    """
    found: set[str] = set()
    for pattern in patterns:
        fitting = [name for name in calls if is_called((name,), (pattern,))]
        if not fitting:
            near = get_close_matches(pattern, calls, n=3) or sorted(calls)[:3]
            raise UserError(f"{flag} {pattern}: no bot is called so; there are {', '.join(near)}")
        found.update(*(calls[name] for name in fitting))
    return found
