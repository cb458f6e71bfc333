"""Tables made by hand, and snapshots of what they are rendered to.

`ARENA_UPDATE_SNAPSHOTS=1 pytest tests/reports` writes them anew; read the difference.
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

from arena.model import (
    Confinement,
    Duel,
    Entrant,
    Event,
    Machine,
    NotRun,
    Settings,
    SourceEvent,
    Standing,
    Table,
    Withdrawal,
    sha256_hex,
)

SNAPSHOTS = Path(__file__).parent / "snapshots"


@pytest.fixture
def snapshot():
    """Compare a text with the snapshot of that name."""

    def compare(name: str, text: str) -> None:
        path = SNAPSHOTS / name
        if os.environ.get("ARENA_UPDATE_SNAPSHOTS"):
            SNAPSHOTS.mkdir(exist_ok=True)
            path.write_bytes(text.encode())
        assert text == path.read_bytes().decode(), f"{name} differs; see ARENA_UPDATE_SNAPSHOTS"

    return compare


class Tables:
    """Makes tables."""

    def row(self, number: int, entrant: str, **changes: object) -> Standing:
        """A row with plausible numbers."""
        row = Standing(
            rank=number,
            rank_last=number,
            entrant=entrant,
            mu=31.433 - 3 * number,
            sigma=0.812 + 0.1 * number,
            sigma_field=0.4 + 0.1 * number,
            p_next=0.9254,
            win=0.83 - 0.1 * number,
            win_low=0.7 - 0.1 * number,
            win_high=0.91 - 0.1 * number,
            delta=-80.64 + 60 * number,
            delta_ci=8.184,
            wins=41 - number,
            ties=1,
            losses=8 + number,
            deals=50,
            matches=100,
            strokes=6.923 + number,
            ms=0.214 * number,
            faults=(),
        )
        return msgspec.structs.replace(row, **changes)

    def event(self, names: list[str], **changes: object) -> Event:
        """An event that is over."""
        event = Event(
            settings=Settings(game="play-nine"),
            entrants=tuple(
                Entrant(id=n, name=n, version="1", author="A. Nobody", hash=sha256_hex(b"x"))
                for n in names
            ),
            commitment=sha256_hex(b"commitment"),
            secret=sha256_hex(b"secret"),
            sandbox="bwrap",
            confinement=Confinement(
                detail="bwrap 0.11.0",
                memory="cgroup v2",
                kept=("network", "files", "memory"),
                not_kept=("disk",),
                gaps=("cache timing", "futexes"),
            ),
            machine=Machine(system="Linux 6.1", cpu="x86_64", cores=2, python="3.11.7"),
            finished=True,
        )
        return msgspec.structs.replace(event, **changes)

    def table(self, rows: list[Standing], **changes: object) -> Table:
        """A table in which everybody met everybody."""
        names = [row.entrant for row in rows]
        duels = tuple(
            Duel(row=a, column=b, wins=7 if i < j else 3, ties=0, losses=3 if i < j else 7)
            for i, a in enumerate(names)
            for j, b in enumerate(names)
            if i != j
        )
        table = Table(
            event=self.event(names), rows=tuple(rows), duels=duels, matches=300, planned=300
        )
        return msgspec.structs.replace(table, **changes)

    def plain(self) -> Table:
        """Four bots, no incident."""
        names = ["wishful@1.2.0", "matcher@1.0.0", "greedy@1.0.0", "random@1.0.0"]
        rows = [self.row(n, name) for n, name in enumerate(names, 1)]
        rows[-1] = self.row(4, names[-1], p_next=None)
        return self.table(rows)

    def eventful(self) -> Table:
        """Everything that can happen to an event."""
        rows = [
            self.row(
                1, "wishful-expectimax@2.1.0", rank_last=2, mu=28.0, p_next=0.99991,
                off_turn_ms=1234.567,
            ),
            self.row(2, "日本のボット@3", rank=1, rank_last=2, mu=28.0, note="not reproducible"),
            self.row(
                3,
                "a-bot-with-a-name-that-is-much-too-long@0.0.1-beta",
                faults=(("crash", 1), ("timeout", 3)),
                note="withdrawn",
                p_next=None,
            ),
            Standing(entrant="gone@1", faults=(("start", 3),), note="annulled"),
        ]  # fmt: skip
        names = [row.entrant for row in rows]
        table = self.table(rows, matches=212)
        return msgspec.structs.replace(
            table,
            duels=tuple(d for d in table.duels if "gone@1" not in {d.row, d.column}),
            event=self.event(
                names,
                sandbox="none",
                predictable=True,
                secret="",
                finished=False,
                not_run=(NotRun(name="rusty", reason="no cargo on this machine"),),
            ),
            withdrawn=(
                Withdrawal(entrant=names[2], after="79255c4b3c28-000006-1", annulled=False),
                Withdrawal(entrant="gone@1", after="79255c4b3c28-000002-0", annulled=True),
            ),
        )

    def pooled(self) -> Table:
        """A part of two events, one of which has everything that can happen to one."""
        plain, eventful = self.plain(), self.eventful()
        stranger = plain.rows[0].entrant
        settings = msgspec.structs.replace(plain.event.settings, format="gauntlet+round-robin")
        return msgspec.structs.replace(
            plain,
            event=msgspec.structs.replace(
                plain.event, settings=settings, commitment="", secret="", finished=False
            ),
            sources=(
                SourceEvent(event=plain.event, matches=plain.matches, planned=plain.planned),
                SourceEvent(
                    event=eventful.event,
                    matches=7,
                    planned=eventful.planned,
                    withdrawn=eventful.withdrawn,
                    ended="all are told apart",
                    aliases=(("日本のボット@3", stranger),),
                    damaged=2,
                    gone=("random@1.0.0",),
                ),
            ),
            selected=("without gone@1",),
            withdrawn=eventful.withdrawn,
        )


@pytest.fixture
def tables() -> Tables:
    """The maker of tables."""
    return Tables()


HOSTILE = [
    "\x1b[2J\x1b[31mred",
    "bell\x07\x9b31m\x7f",
    "two\nlines\r\ttab",
    "right\u202eto left\u2066",
    "zero\u200bwidth\u2060\ufeff\u00ad",
    "pipe|pipe\\|x",
    "`code` ``` *bold* _it_ [link](http://evil) ![img](x)",
    "<script>alert(1)</script><!-- --> &amp;",
    "=HYPERLINK(1)",
    "@SUM(1)",
    "+1",
    "-1",
    "007",
    "1e5",
    "\ttab",
    " =1",
    "\uff1d1",
    "\U000e0041tag",
    "z" + "\u0301" * 30,
    "\u2028line\u2029",
    "\ud800",
    "x" * 5000,
    "@everyone www.evil.com :smile:",
    "\u3164",
    "\x00",
]


@pytest.fixture(params=HOSTILE, ids=range(len(HOSTILE)))
def hostile(request) -> str:
    """A name that wants to be more than a name."""
    return request.param
