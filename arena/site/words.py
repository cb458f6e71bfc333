"""The strings of the pages: in English as they are written, in the browser's language by a script.

Strings carry their keys, numbers and times their values, so that a script can say them otherwise;
without scripts the page is complete, in English.

Invariant: a key that English lacks is our bug and raises; every language has the same keys with the
same values (`tests/site`).
"""

import functools
import json
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from importlib.resources import files

from arena.reports.escape import sentence
from arena.site.markup import NOTHING, Content, Safe, attributes, escaped, join, long_text, tag

LANGUAGES: Mapping[str, str] = {
    "en": "English",
    "fr": "Français",
    "it": "Italiano",
    "es": "Español",
    "ja": "日本語",
}
_VALUE = re.compile(r"\{(\w+)\}")
_HOLE = re.compile(r"\{(?:([a-z-]+):|(=))?(\w+)\}")
"""In a template: {KEY} is a string, {ATTRIBUTE:KEY} an attribute with one, {=PART} a part."""


@functools.cache
def strings(language: str) -> Mapping[str, str]:
    text = (files("arena.site") / "assets" / "strings" / f"{language}.json").read_text("utf-8")
    found: dict[str, str] = json.loads(text)
    return found


def asset_files() -> Iterator[tuple[str, bytes]]:
    """Styles, scripts, and a script with the strings of each language: (name, content)."""
    folder = files("arena.site") / "assets"
    for asset in sorted(folder.iterdir(), key=lambda each: each.name):
        if asset.is_file():
            yield asset.name, asset.read_bytes()
    for language in LANGUAGES:
        words = json.dumps(dict(strings(language)), ensure_ascii=False, separators=(",", ":"))
        yield f"lang/{language}.js", f'arenaWords("{language}",{words});\n'.encode()


def english(key: str, **values: object) -> str:
    return _VALUE.sub(lambda found: str(values[found[1]]), strings("en")[key])


def say(key: str, /, **values: object) -> Safe:
    # Numbers stay numbers, so that each language formats them.
    shown = {
        name: value if isinstance(value, int | float) else sentence(str(value))
        for name, value in values.items()
    }
    data = json.dumps(shown, ensure_ascii=False) if shown else None
    return tag("span", long_text(english(key, **values)), data_t=key, data_v=data)


def label_attributes(attribute: str, key: str) -> dict[str, object]:
    """A string as an attribute of an element: aria-label, title."""
    return {attribute: escaped(english(key)), "data_a": f"{attribute.replace('_', '-')}:{key}"}


@functools.cache
def _template(path: str) -> str:
    return "".join(map(str.strip, (files("arena") / path).read_text("utf-8").splitlines()))


def fragment(path: str, **parts: Content) -> Safe:
    """Markup of ours from a file in the package, with these parts and the strings that it names."""

    def filled(found: re.Match[str]) -> str:
        attribute, part, key = found.groups()
        if attribute:
            return attributes(label_attributes(attribute, key)).strip()
        return join(parts[key]) if part else say(key)

    return Safe(_HOLE.sub(filled, _template(path)))


def number(value: float, decimals: int = 0, *, sign: bool = False) -> Safe:
    shown = f"{value:{'+' if sign else ''},.{decimals}f}".replace("-", "\u2212")
    return tag("span", shown, data_n=f"{value:.{decimals}f}", data_s=sign or None)


def moment(seconds: float, *, day: bool = True) -> Safe:
    if seconds <= 0:
        return NOTHING
    at = datetime.fromtimestamp(seconds, UTC)
    shown = f"{at:%Y-%m-%d}" if day else f"{at:%Y-%m-%d %H:%M} UTC"
    return tag("time", shown, datetime=at.isoformat(timespec="seconds"), data_day=day or None)
