"""An event, which is the content of event.json; its entrants, and bots as they are started.

Names and versions of bots become file names, cells and words of commands. Invariant: a label is one
word of letters, digits, `.`, `_` and `-`, at least one of them a letter or digit, and nothing in it
is invisible.
"""

import re
import unicodedata
from typing import Annotated

from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import replace

from arena.model.fields import Count, Frozen, Label, Text
from arena.model.parameters import MOST, setting_hash, setting_version
from arena.model.settings import Settings

FORMAT = 1  # the version of event.json and matches.jsonl; readers refuse any other
VERSION_DIGITS = 8  # of the content's hash, as the version of a bot that states none
LONGEST_LABEL = 40  # longest name and version: two of them still fit into a row of the table

# Invisible letters and marks: two names that look alike must not differ by them.
_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)


def label_fault(text: str) -> str:
    """Say why a text can't be a name or a version, or return nothing. Expects NFC."""
    if not 1 <= len(text) <= LONGEST_LABEL:
        return f"it must have 1 to {LONGEST_LABEL} characters, not {len(text)}"
    for place, c in enumerate(text):
        kind = unicodedata.category(c)
        # Marks belong to letters in many scripts (Devanagari vowels), but can't begin a word.
        fits = kind[0] == "L" or kind == "Nd" or c in "._-" or (kind[0] == "M" and place > 0)
        if not fits or _INVISIBLE.match(c):
            shown = f"'{c}'" if c.isprintable() else f"U+{ord(c):04X}"
            return f"it may have letters, digits, '.', '_' and '-', but not {shown}"
    if not any(c.isalnum() for c in text):
        return "it must have at least one letter or digit"
    return ""


class Entrant(Frozen, frozen=True, kw_only=True):
    """A contestant as the log knows it. `id` is name@version and unique in an event."""

    id: Label
    name: Label
    version: Label
    author: Label = ""
    hash: Label
    """SHA-256 over the content of the bot's folder: what it was, byte for byte.
    Of an entrant with `params`: over that hash and them."""
    content: Label | UnsetType = UNSET
    """The hash of the folder's content, of an entrant with `params`."""
    params: Annotated[dict[Label, Label], Meta(max_length=MOST)] | UnsetType = UNSET
    """Parameters that differ from the defaults in its bot.toml, as its process gets them."""

    @property
    def snapshot(self) -> str:
        """The hash of its folder's content."""
        return self.hash if self.content is UNSET else self.content

    @property
    def setting(self) -> dict[str, str]:
        return {} if self.params is UNSET else self.params

    def with_setting(self, params: dict[str, str]) -> "Entrant":
        """The same content with other parameters; the same entrant if all are its defaults."""
        if not params:
            return self
        version = setting_version(self.version, params, LONGEST_LABEL)
        return replace(
            self,
            id=f"{self.name}@{version}",
            version=version,
            hash=setting_hash(self.hash, params),
            content=self.hash,
            params=params,
        )


class Bot(Frozen, frozen=True, kw_only=True):
    """An entrant that can be started, on the machine it was made on alone; never published."""

    entrant: Entrant
    root: str  # folder with the snapshot (and what its build made); inside the sandbox it is /bot
    run: tuple[str, ...]
    """Argument vector; paths into the snapshot are given as they appear inside (/bot/...)."""
    expose: tuple[str, ...] = ()
    """Folders outside the system's own (an interpreter's installation) to show read-only."""
    env: tuple[tuple[str, str], ...] = ()  # added to the fixed environment: where its packages lie
    scratch_mb: int = 0  # size of its private /tmp; 0: none
    source: str = ""  # the path that the user named


class NotRun(Frozen, frozen=True, kw_only=True):
    """An entrant that takes no part, and why (one line)."""

    name: Text
    reason: Text


class Machine(Frozen, frozen=True, kw_only=True):
    """A machine that it was played on; host facts, left out of everything canonical."""

    system: Text = ""
    cpu: Text = ""
    cores: Count = 0
    python: Text = ""
    arena: Text = ""
    speed: Count | UnsetType = UNSET
    """Rounds of a fixed piece of work in a millisecond of a core, the slowest that played; left out
    where none was tried."""


class Confinement(Frozen, frozen=True, kw_only=True):
    """How the bots were confined, as a live try found, not as the settings asked."""

    detail: Text = ""  # the means and its version: "bwrap 0.11.0", "Landlock ABI 7"
    tool: Text | UnsetType = UNSET  # its file, with the SHA-256; absent for that of the system
    memory: Text = ""
    """What limits the memory of a process tree: "cgroup v2", "cgroup v1" or "watchdog"."""
    kept: Annotated[tuple[Text, ...], Meta(max_length=100)] = ()
    """Guarantees that the live try confirmed, by name; SECURITY.md says what each means."""
    not_kept: Annotated[tuple[Text, ...], Meta(max_length=100)] = ()
    gaps: Annotated[tuple[Text, ...], Meta(max_length=100)] = ()  # known gaps of this confinement


class Event(Frozen, frozen=True, kw_only=True):
    """event.json: everything that the table needs besides the records."""

    format: int = FORMAT
    settings: Settings
    entrants: Annotated[tuple[Entrant, ...], Meta(max_length=10_000)]
    commitment: Label
    predictable: bool = False
    """True when the secret came from --seed: the deals can be known. From rule 2 on the
    settings say the same, under the commitment."""
    secret: Label = ""  # hex; empty until the event is over
    beacon: Text = ""
    """A public value that came after the commitment; the deals follow from it and the secret."""
    shard: Label = ""
    """"2/5": this folder holds the second of five parts of the event; empty: all of it."""
    sandbox: Label = ""
    confinement: Confinement = Confinement()
    machine: Machine = Machine()
    machines: tuple[Machine, ...] = ()
    """All of them, when it was played on several: resumed elsewhere, or merged from shards."""
    not_run: Annotated[tuple[NotRun, ...], Meta(max_length=10_000)] = ()
    finished: bool = False
