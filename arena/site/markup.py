"""Build HTML, SVG and Atom from parts that can't break out of their places.

Pure. Invariant: only `Safe` text goes in as it is; all other text is made visible
(`reports.escape`) and escaped, so a name is read and never executed: as text, in an attribute, in a
picture, in a feed.
"""

from arena.reports.escape import plain, sentence

_EMPTY = frozenset(
    {"br", "circle", "col", "hr", "img", "input", "line", "link", "meta", "path", "polygon", "rect"}
)
_ESCAPES = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;", "`": "&#96;"}
)


class Safe(str):
    """Our own markup; foreign text in it has been escaped."""

    __slots__ = ()


NOTHING = Safe("")

Content = str | None  # `Safe`, or a text that still has to be escaped; None is nothing


def escaped(text: str) -> Safe:
    """Text of one line."""
    return text if isinstance(text, Safe) else Safe(plain(text).translate(_ESCAPES))


def long_text(text: str) -> Safe:
    """A sentence, which may be longer than a name."""
    return Safe(sentence(text).translate(_ESCAPES))


def join(*parts: Content, between: str = "") -> Safe:
    return Safe(between.join(escaped(part) for part in parts if part is not None))


def attributes(given: dict[str, object]) -> str:
    """`class_` is class, underscores become hyphens; None and False are left out."""
    made = []
    for name, value in given.items():
        if value is None or value is False:
            continue
        shown = name.rstrip("_").replace("_", "-")
        text = value if isinstance(value, Safe) else str(value).translate(_ESCAPES)
        made.append(f" {shown}" if value is True else f' {shown}="{text}"')
    return "".join(made)


def tag(name: str, /, *parts: Content, **given: object) -> Safe:
    begun = f"<{name}{attributes(given)}>"
    return Safe(begun if name in _EMPTY else f"{begun}{join(*parts)}</{name}>")


def shape(name: str, /, *parts: Content, **given: object) -> Safe:
    inside = join(*parts)
    begun = f"<{name}{attributes(given)}"
    return Safe(f"{begun}>{inside}</{name}>" if inside else f"{begun}/>")
