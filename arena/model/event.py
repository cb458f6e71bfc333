"""An event: the content of event.json."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from arena.model.entrants import Entrant, NotRun
from arena.model.fields import Count, Frozen, Label, Text
from arena.model.settings import Settings

FORMAT = 1
"""The version of event.json and matches.jsonl; readers refuse any other."""


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

    detail: Text = ""
    """The means and its version: "bwrap 0.11.0", "Landlock ABI 7"."""
    tool: Text | UnsetType = UNSET
    """Its file, with the SHA-256; absent for that of the system."""
    memory: Text = ""
    """What limits the memory of a process tree: "cgroup v2", "cgroup v1" or "watchdog"."""
    kept: Annotated[tuple[Text, ...], Meta(max_length=100)] = ()
    """Guarantees that the live try confirmed, by name; SECURITY.md says what each means."""
    not_kept: Annotated[tuple[Text, ...], Meta(max_length=100)] = ()
    gaps: Annotated[tuple[Text, ...], Meta(max_length=100)] = ()
    """Known gaps of this confinement."""


class Event(Frozen, frozen=True, kw_only=True):
    """event.json: everything that the table needs besides the records."""

    format: int = FORMAT
    settings: Settings
    entrants: Annotated[tuple[Entrant, ...], Meta(max_length=10_000)]
    commitment: Label
    predictable: bool = False
    """True when the secret came from --seed: the deals can be known. From rule 2 on the
    settings say the same, under the commitment."""
    secret: Label = ""
    """Hex; empty until the event is over."""
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
