"""Authors of a ladder: authors.csv, and pseudonyms."""

import csv
import hashlib
import hmac
import io
from collections.abc import Mapping
from pathlib import Path

from arena.model import Frozen, UserError
from arena.store.files import read_small

FILE = "authors.csv"
_COLUMNS = ("id", "name", "group")
_DIGITS = 6


class Listed(Frozen, frozen=True):
    """A row of authors.csv."""

    id: str
    name: str = ""
    group: str = ""


def listed_authors(folder: Path) -> dict[str, Listed]:
    """By id; none where there is no authors.csv. UserError with the line of what is wrong."""
    path = folder / FILE
    try:
        text = read_small(path).decode("utf-8-sig")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: can't be read: {error}") from None
    rows = csv.DictReader(io.StringIO(text), delimiter=";" if ";" in text.split("\n")[0] else ",")
    if "id" not in (rows.fieldnames or ()):
        raise UserError(f"{path}:1: no column 'id'; its columns are: {', '.join(_COLUMNS)}")
    found: dict[str, Listed] = {}
    for row in rows:
        cells = {name: (row.get(name) or "").strip() for name in _COLUMNS}
        if not cells["id"]:
            continue
        if cells["id"] in found:
            raise UserError(f"{path}:{rows.line_num}: {cells['id']} is there twice")
        found[cells["id"]] = Listed(**cells)
    return found


def pseudonym(key: str, author: str, taken: Mapping[str, str]) -> str:
    """A handle that tells nothing of its author without the key; `taken`: authors by handle."""
    digest = hmac.new(bytes.fromhex(key), author.encode(), hashlib.sha256).hexdigest()
    digits = _DIGITS
    while taken.get(handle := f"bot-{digest[:digits]}", author) != author:
        digits += 1
    return handle
