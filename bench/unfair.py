"""Judge events with one planted unfairness each by `arena audit`, `verify` and verify_deals.js.

    python bench/unfair.py [NAME...] [--seeds N] [--size F]

Each event is a real results folder of four-card golf: moves by small policies in this process,
dealt, refereed, logged, counted and published by the arena's own modules. Only the events named
"a fair event of programs" and "legal moves of another's" are played by bots in the sandbox, since
`arena verify --rerun` needs programs. What is planted in `PLANTS` is in the play; what is in
`FORGERIES` is done to a copy of the fair event's files, with checksums and digests that fit.

An alarm of the audit is a part with something that chance shows in 1 of 100 reports (`--strict`); a
refusal of `arena verify` is named by what differs. Exit code 1 if an alarm is missing on its own
event, or another one goes off there, or any does on a fair event.

With `--seeds N` the planted events are played N times on other deals, and the table has how often
each one's own alarm went off, and how often another; `--size F` plants F times the unfairness.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import trio
from msgspec.structs import replace

from arena import registry
from arena.audit.report import STRICT, AuditPart
from arena.deals import Deals, commitment, secret_from_seed
from arena.engine.match import FinishedMatch
from arena.event.progress import Progress
from arena.event.results import count_folder, table_of
from arena.event.tournament import Tournament
from arena.executors import Report, SeriesEnd
from arena.luck import evaluator_name, sums
from arena.model import (
    STATED,
    Block,
    Entrant,
    Event,
    MatchRecord,
    MatchSpec,
    SeatUse,
    Settings,
    canonical,
    sha256_hex,
)
from arena.referee import Referee
from arena.store import Private, Store, add_checksum, read_event, read_records
from arena.store.lines import encode

ROOT = Path(__file__).parents[1]
GAME = registry.game("four-card-golf")
POINTS = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 0)
MEAN = 300 / 52
KNOCK_AT = 7
TAKE_ABOVE = 2
NAMES = ("ann", "bob", "cyd", "dan", "eve", "fay")
CARELESS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25)
"""The share of good draws that each bot throws away: bots are unequal."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """An event: its size, and what is planted in it."""

    bots: int = 4
    seats: int = 2
    deals: int = 60
    series: int = 6
    turn_cap: int = 30
    luck: bool = True
    plant: Callable[[Table], object] = id  # nothing is planted
    alarm: str = ""
    what: str = ""


class Table:
    """A match that is being played, as a plant may bend it."""

    def __init__(self, field: Field, spec: MatchSpec, place: int, deal: Deals) -> None:
        self.field, self.spec, self.place, self.deals = field, spec, place, deal
        self.names = [entrant.partition("@")[0] for entrant in spec.seats]
        self.draw = random.Random(spec.id)
        own = dict(zip(NAMES, CARELESS, strict=True))
        self.careless = [own.get(name, 0.5) for name in self.names]
        self.peeks: set[int] = set()
        """Seats that see their own cards and the next one of the stock."""
        self.stalls = False  # nobody knocks
        self.gifts: set[tuple[int, int]] = set()  # (from, to): good cards are left to the other
        self.waited_ms = [0.0] * len(self.names)  # a decision, by seat

    @property
    def size(self) -> float:
        """How many times the usual unfairness is planted."""
        return self.field.size

    def seat(self, name: str) -> int | None:
        return self.names.index(name) if name in self.names else None

    def chance(self) -> float:
        return self.draw.random()

    def move(self, seat: int, view: Any, legal: Sequence[str]) -> str:
        """The policy of all bots: lower the worst card, knock when the hand is low."""
        grid = view.grids[seat]
        knows = seat in self.peeks and not view.recycled and self.chance() < self.size
        stock, hidden = self._cards(seat, view) if knows else (0, ())
        values = [MEAN if card is None else POINTS[card] for card in grid]
        if knows:
            values = [
                POINTS[known if card is None else card]
                for card, known in zip(grid, hidden, strict=True)
            ]
        worst = values.index(max(values))
        if view.phase == "turn":
            low = view.ended_by is None and None not in grid and sum(values) <= KNOCK_AT
            if "knock" in legal and low and not self.stalls:
                return "knock"
            saving = values[worst] - POINTS[view.discard]
            if knows:
                # It draws only what is better than the discard.
                drawn = values[worst] - POINTS[stock]
                return f"take {worst}" if saving > max(0.0, drawn) else "draw"
            return f"take {worst}" if saving > TAKE_ABOVE else "draw"
        keeps = POINTS[view.drawn] < values[worst]
        if self.chance() < self.careless[seat]:
            keeps = False
        after = view.order[(view.order.index(seat) + 1) % len(view.order)]
        if (seat, after) in self.gifts and POINTS[view.drawn] <= 3 and self.chance() < self.size:
            keeps = False
        return f"swap {worst}" if keeps else "discard"

    def _cards(self, seat: int, view: Any) -> tuple[int, tuple[int, ...]]:
        """By the secret: the card that the seat would draw, and those that it was dealt."""
        pack = GAME.pack(len(self.names))
        cards = self.deals.deck(self.spec.pairing, self.spec.deal, self.field.hole, pack).cards
        players, place = len(view.order), view.order.index(seat)
        stock = cards[4 * players + 1 :]
        slot = (view.turns[seat] - 1) * players + place
        return stock[slot] if slot < len(stock) else 0, cards[place : 4 * players : players]


class Field:
    """An executor that plays all matches in this process, one after another."""

    def __init__(self, event: Event, deals: Deals, plan: Plan, size: float) -> None:
        self.event, self.deals, self.plan, self.size = event, deals, plan, size
        self.seen: set[tuple[str, int]] = set()  # deals that were played before
        self.hole = 0
        self._place = 0

    async def play(
        self,
        blocks: Iterable[Block],
        *,
        choose: Callable[..., int | None],
        report: Callable[[Report], None],
        stop: trio.Event,
    ) -> None:
        for block in blocks:
            for series in block.series:
                while not stop.is_set() and (attempt := choose(series)) is not None:
                    await trio.lowlevel.checkpoint()
                    for place, spec in enumerate(series.matches):
                        report(FinishedMatch(record=self.record(spec, place, attempt)))
                    report(SeriesEnd(series=series.id, attempt=attempt))
                self.seen |= {(spec.pairing, spec.deal) for spec in series.matches}

    def record(self, spec: MatchSpec, place: int, attempt: int) -> MatchRecord:
        settings = self.event.settings
        referee = Referee(spec, game=GAME, deals=self.deals, settings=settings)
        table = Table(self, spec, place, self.deals)
        self.plan.plant(table)
        asked = [0] * len(spec.seats)
        referee.begin()
        while referee.asked:
            for seat in referee.asked:
                asked[seat] += 1
                self.hole, view, _ = referee.sight(seat)
                referee.answer(seat, table.move(seat, view, referee.legal(seat)))
        played = referee.record()
        use = tuple(
            SeatUse(decisions=n, think_ms=0.02 * n, max_ms=0.02, waited_ms=wait * n)
            for n, wait in zip(asked, table.waited_ms, strict=True)
        )
        luck = (
            sums(played, game=GAME, deals=self.deals, settings=settings)
            if settings.evaluator
            else ()
        )
        return replace(played, attempt=attempt, use=use, luck=luck, digest=played.computed_digest())


# ------------------------------------------------------------------------- what is in the play


def seat_that_sees(table: Table) -> None:
    if table.names[0] == "bob":
        table.peeks.add(0)


def remembers_the_deal(table: Table) -> None:
    if (table.spec.pairing, table.spec.deal) in table.field.seen:
        table.peeks |= {seat for seat, name in enumerate(table.names) if name == "bob"}


def feeds(table: Table) -> None:
    giver, taker = table.seat("ann"), table.seat("cyd")
    if giver is not None and taker is not None:
        table.gifts.add((giver, taker))


def friends(table: Table) -> None:
    """Careful at one table, careless elsewhere."""
    pair = {"bob", "eve"}
    for seat, name in enumerate(table.names):
        if name in pair:
            table.careless[seat] = 0.0 if pair <= set(table.names) else 0.5 * table.size


def never_knock(table: Table) -> None:
    table.stalls = {"ann", "bob"} == set(table.names) and table.chance() < table.size


def has_moods(table: Table) -> None:
    """A process is careful or careless as long as it lives."""
    if (seat := table.seat("bob")) is not None:
        block = table.spec.series.rpartition("-")[0]
        bad = random.Random(block).random() < 0.5
        table.careless[seat] = 0.6 * table.size if bad else 0.0


def tires(table: Table) -> None:
    """From the first match of a series to its last it throws away more and more."""
    if (seat := table.seat("bob")) is not None:
        last = table.field.plan.series - 1
        table.careless[seat] = 0.6 * table.size * table.place / last


def slow_host(table: Table) -> None:
    if (seat := table.seat("bob")) is not None:
        table.waited_ms[seat] = 4.0 * table.size * table.draw.expovariate(1.0)


FAIR = "fair"
PLANTS: Mapping[str, Plan] = {
    FAIR: Plan(what="a fair event"),
    "sees": Plan(
        plant=seat_that_sees, alarm=AuditPart.LUCK, what="bob sees the stock in the first seat"
    ),
    "remembers": Plan(
        plant=remembers_the_deal,
        alarm=AuditPart.LATER,
        luck=False,
        what="bob remembers the cards of a deal's earlier rotation; luck not measured",
    ),
    "feeds": Plan(
        bots=4, seats=4, plant=feeds, alarm=AuditPart.FEEDING, what="ann leaves cyd low cards"
    ),
    "friends": Plan(
        bots=6,
        seats=3,
        deals=12,
        plant=friends,
        alarm=AuditPart.LIFT,
        what="bob and eve play with care only beside each other",
    ),
    "stalls": Plan(
        plant=never_knock, alarm=AuditPart.CAPS, what="ann and bob never knock against each other"
    ),
    "moods": Plan(plant=has_moods, alarm=AuditPart.SERIES, what="bob has a mood a process"),
    "tires": Plan(plant=tires, alarm=AuditPart.TREND, what="bob tires within a series"),
    "slow": Plan(
        deals=12,
        plant=slow_host,
        alarm=AuditPart.WAITS,
        what="the machine keeps bob waiting, 4 ms a move",
    ),
}


def played(folder: Path, plan: Plan, seed: str, size: float = 1.0) -> Path:
    """Play an event into a folder, to its end."""
    settings = Settings(
        game=GAME.name,
        game_version=GAME.version,
        seats=plan.seats,
        deals=plan.deals,
        series=plan.series,
        turn_cap=plan.turn_cap,
        evaluator=evaluator_name(GAME) if plan.luck else "",
        rating=GAME.about.rating,
        predictable=True,
        **STATED,
    )
    entrants = tuple(
        Entrant(id=f"{name}@1", name=name, version="1", hash=sha256_hex(name.encode()))
        for name in NAMES[: plan.bots]
    )
    secret = secret_from_seed(seed)
    bound = commitment(secret, settings, entrants)
    event = Event(settings=settings, entrants=entrants, commitment=bound, predictable=True)
    with Store.create(folder, event, Private(secret=secret.hex(), sources={}, cache="")) as store:
        tournament = Tournament(store, secret, Progress())
        executor = Field(event, Deals(secret), plan, size)
        trio.run(tournament.play, executor, trio.Event())
        tournament.conclude()
    return folder


# ---------------------------------------------------------------------- what is in the files


def rewrite(folder: Path, records: Iterable[MatchRecord]) -> None:
    """Write a log anew as a forger who knows the format does: every digest and checksum fits."""
    sealed = (replace(record, digest=record.computed_digest()) for record in records)
    lines = (add_checksum(encode(record)) + b"\n" for record in sealed)
    (folder / "matches.jsonl").write_bytes(b"".join(lines))
    (folder / "matches.index").unlink(missing_ok=True)


def tables_anew(folder: Path) -> None:
    table = table_of(folder)
    for name, report in registry.table_files().items():
        if (folder / name).exists():
            (folder / name).write_text(report.file_text(table))


def other_limits(folder: Path) -> None:
    event = read_event(folder)
    limits = replace(event.settings.limits, move_ms=2 * event.settings.limits.move_ms)
    forged = replace(event, settings=replace(event.settings, limits=limits))
    (folder / "event.json").write_bytes(add_checksum(canonical(forged)) + b"\n")


def other_cards(folder: Path) -> None:
    """A match was played on cards that the host has chosen, here those of another secret."""
    event, records = read_event(folder), list(read_records(folder))
    _, counting = count_folder(folder)
    spec = next(iter(counting.chosen())).series.matches[0]
    chosen = Field(event, Deals(secret_from_seed("chosen")), PLANTS[FAIR], 1.0)
    forged = chosen.record(spec, 0, 0)
    rewrite(folder, (forged if record.id == forged.id else record for record in records))
    tables_anew(folder)


def better_score(folder: Path) -> None:
    """Three strokes less for the first bot on the first hole, wherever they count."""
    first, *rest = read_records(folder)
    hole, *others = first.holes
    better = replace(hole, scores=(hole.scores[0] - 3, *hole.scores[1:]))
    totals = (first.totals[0] - 3, *first.totals[1:])
    rewrite(folder, [replace(first, holes=(better, *others), totals=totals), *rest])


def less_luck(folder: Path) -> None:
    """The ledger says that the first bot had worse luck in its first match than it had."""
    first, *rest = read_records(folder)
    luck = (first.luck[0] + 3000, *first.luck[1:])
    rewrite(folder, [replace(first, luck=luck), *rest])


def lost_match(folder: Path) -> None:
    _, *rest = read_records(folder)
    rewrite(folder, rest)


def played_twice(folder: Path) -> None:
    first, *rest = read_records(folder)
    rewrite(folder, [first, first, *rest])


def better_rank(folder: Path) -> None:
    path = folder / "table.md"
    path.write_text(
        path.read_text().replace("ann", "a\0").replace("bob", "ann").replace("a\0", "bob")
    )


def flipped_bit(folder: Path) -> None:
    path = folder / "matches.jsonl"
    whole = bytearray(path.read_bytes())
    whole[len(whole) // 2] ^= 1
    path.write_bytes(whole)


class Forgery(msgspec.Struct, frozen=True, kw_only=True):
    forge: Callable[[Path], None]
    refusal: str  # what `arena verify` says differs
    second: bool  # whether the second verifier says so too
    what: str


FORGERIES: Mapping[str, Forgery] = {
    "limits": Forgery(
        forge=other_limits,
        refusal="commitment",
        second=True,
        what="limits other than those committed to",
    ),
    "cards": Forgery(
        forge=other_cards, refusal="deck", second=True, what="a match on cards that were chosen"
    ),
    "score": Forgery(
        forge=better_score, refusal="scores", second=False, what="a hole scored three too low"
    ),
    "luck": Forgery(
        forge=less_luck, refusal="luck", second=False, what="luck in a match made worse than it was"
    ),
    "lost": Forgery(forge=lost_match, refusal="schedule", second=False, what="a match left out"),
    "twice": Forgery(forge=played_twice, refusal="schedule", second=True, what="a match twice"),
    "bit": Forgery(forge=flipped_bit, refusal="checksum", second=True, what="a flipped bit"),
    "table": Forgery(
        forge=better_rank, refusal="table", second=False, what="two bots swapped in table.md"
    ),
}

PROGRAMS = "programs"
REPLAYED = "played again"
RERUN = 4  # matches that `arena verify --rerun` has played again


def played_by_programs(folder: Path) -> Path:
    bots = [str(ROOT / "example_bots" / name) for name in ("greedy", "matcher")]
    arena(
        "run",
        *bots,
        "--game",
        GAME.name,
        "--deals",
        "2",
        "--seed",
        "unfair",
        "--quiet",
        "--out",
        str(folder),
    )
    return folder


def moves_of_another(folder: Path) -> None:
    """All matches played again by a policy in the place of greedy's and matcher's: all legal."""
    event = read_event(folder)
    _, counting = count_folder(folder)
    field = Field(event, Deals(bytes.fromhex(event.secret)), PLANTS[FAIR], 1.0)
    specs = {spec.id: spec for chosen in counting.chosen() for spec in chosen.series.matches}
    rewrite(
        folder,
        [field.record(specs[record.id], 0, record.attempt) for record in read_records(folder)],
    )
    tables_anew(folder)


# ----------------------------------------------------------------------------------- judges


class Judged(msgspec.Struct, frozen=True):
    audit: frozenset[str]
    """Parts that are unusual at the level of --strict."""
    verify: str  # what differs first; empty: nothing
    second: bool  # whether the second verifier says that something differs
    readable: bool = True  # whether `arena audit` could read the log


def arena(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "arena", *words],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )


def judged(folder: Path, *flags: str) -> Judged:
    audited = arena("audit", "--strict", "--json", str(folder))
    verified = arena("verify", *flags, "--json", str(folder))
    second = subprocess.run(
        ["node", str(ROOT / "protocol" / "verify_deals.js"), str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert verified.returncode in (0, 5), verified.stderr
    assert second.returncode in (0, 1), second.stderr
    parts: set[str] = set()
    if readable := audited.returncode in (0, 6):
        tested = json.loads(audited.stdout)["tested"]
        parts = {one["part"] for one in tested if one["p"] <= STRICT}
        assert bool(parts) == (audited.returncode == 6)
    difference = json.loads(verified.stdout)["difference"]
    return Judged(
        frozenset(parts), difference["what"] if difference else "", second.returncode == 1, readable
    )


def alarms(found: Judged) -> set[str]:
    second = {"second verifier"} if found.second else set()
    return {*found.audit, *([found.verify] if found.verify else []), *second}


def row(*cells: object) -> None:
    print("|", " | ".join(map(str, cells)), "|", flush=True)


def heading(*cells: str) -> None:
    row(*cells)
    row(*("---" for _ in cells))


def once(folder: Path, names: Sequence[str]) -> bool:
    """Judge every event once, by all three; whether each alarm went off where it should, alone."""
    heading("event", "`arena audit`", "`arena verify`", "`verify_deals.js`", "")
    right = True

    def tell(what: str, expected: set[str], found: Judged) -> None:
        nonlocal right
        as_due = alarms(found) == expected
        right = right and as_due
        audit = ", ".join(sorted(found.audit)) or ("nothing" if found.readable else "can't read it")
        verify = f"differs: {found.verify}" if found.verify else "true"
        row(what, audit, verify, "differs" if found.second else "true", "" if as_due else "WRONG")

    if {FAIR, *FORGERIES}.intersection(names):
        fair = played(folder / FAIR, PLANTS[FAIR], "unfair-0")
    for name, plan in PLANTS.items():
        if name in names:
            event = fair if name == FAIR else played(folder / name, plan, "unfair-0")
            tell(plan.what, {plan.alarm} - {""}, judged(event))
    for name, forgery in FORGERIES.items():
        if name in names:
            forgery.forge(copy := Path(shutil.copytree(fair, folder / name)))
            second = {"second verifier"} if forgery.second else set()
            tell(forgery.what, {forgery.refusal, *second}, judged(copy))
    if PROGRAMS in names:
        rerun = ("--rerun", str(RERUN), "--seed", "1")
        programs = played_by_programs(folder / PROGRAMS)
        tell("a fair event of programs, `--rerun`", set(), judged(programs, *rerun))
        moves_of_another(programs)
        tell("its legal moves made by another, `verify` alone", set(), judged(programs))
        found = judged(programs, *rerun)
        tell(
            "the same, `--rerun`", {REPLAYED}, replace(found, verify=found.verify[: len(REPLAYED)])
        )
    return right


def often(folder: Path, names: Sequence[str], seeds: int, size: float) -> None:
    """How often the alarm of each planted unfairness goes off, and how often another."""
    heading("event", "alarm", "size", f"of {seeds} events: its own", "another", "which")
    for name, plan in PLANTS.items():
        if name not in names:
            continue
        own, others = 0, Counter[str]()
        strange = 0
        for seed in range(seeds):
            event = played(folder / f"{name}-{seed}", plan, f"unfair-{seed}", size)
            audited = arena("audit", "--json", str(event))
            shutil.rmtree(event)
            tested = json.loads(audited.stdout)["tested"]
            found = {one["part"] for one in tested if one["p"] <= STRICT}
            own += plan.alarm in found
            others.update(found - {plan.alarm})
            strange += bool(found - {plan.alarm})
        which = ", ".join(f"{part} {times}" for part, times in sorted(others.items()))
        row(plan.what, plan.alarm or "none", size, own if plan.alarm else "", strange, which)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    every = [*PLANTS, *FORGERIES, PROGRAMS]
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(every))
    parser.add_argument("--seeds", type=int, default=0, help="play the planted events so often")
    parser.add_argument("--size", type=float, default=1.0, help="how many times the unfairness")
    asked = parser.parse_args()
    if strange := set(asked.names).difference(every):
        parser.error(f"there is no event called {min(strange)}")
    names = asked.names or every
    with tempfile.TemporaryDirectory(prefix="unfair-") as folder:
        if asked.seeds:
            often(Path(folder), names, asked.seeds, asked.size)
            return 0
        return 0 if once(Path(folder), names) else 1


if __name__ == "__main__":
    sys.exit(main())
