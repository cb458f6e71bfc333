"""Names of files in a site: of an event, of a bot.

Pure. Invariant: a file's name has letters a to z, digits and hyphens, whatever a bot is called, and
two bots never share one; it says nothing that the page doesn't say.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata

_OTHER = re.compile(r"[^a-z0-9]+")
_LONGEST = 40
_TOLD_APART = 16
"""Hex digits: of eight, whoever wanted the page of another would find a name within an hour."""


def bot_slug(entrant: str) -> str:
    """Of a bot, by its id or name: readable, and told apart by a hash."""
    simple = unicodedata.normalize("NFKD", entrant).encode("ascii", "ignore").decode().lower()
    shown = _OTHER.sub("-", simple).strip("-")[:_LONGEST].strip("-")
    told_apart = hashlib.sha256(entrant.encode("utf-8", "surrogatepass")).hexdigest()[:_TOLD_APART]
    return f"{shown or 'bot'}-{told_apart}"


def event_slug(commitment: str) -> str:
    """Of an event, by its commitment, which no other has."""
    return commitment[:12] or "event"
