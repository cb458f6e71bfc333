"""File names in a site, for events and bots.

Pure. Invariant: a file name has letters a to z, digits and hyphens, whatever a bot is called; two
bots never share one; it reveals nothing that the page doesn't say.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata

_OTHER = re.compile(r"[^a-z0-9]+")
_LONGEST = 40
_TOLD_APART = 16
"""Hex digits: with eight, a name that takes over another bot's page is found within an hour."""


def bot_slug(entrant: str) -> str:
    """A file name for a bot's id or name: readable, with a hash that makes it unique."""
    simple = unicodedata.normalize("NFKD", entrant).encode("ascii", "ignore").decode().lower()
    shown = _OTHER.sub("-", simple).strip("-")[:_LONGEST].strip("-")
    told_apart = hashlib.sha256(entrant.encode("utf-8", "surrogatepass")).hexdigest()[:_TOLD_APART]
    return f"{shown or 'bot'}-{told_apart}"


def event_slug(commitment: str) -> str:
    """A folder name for an event, from its commitment, which is unique."""
    return commitment[:12] or "event"
