"""Commands that have to be refused: on damaged and foreign folders, with wrong options, too early.

Theory of operation. Each row of `CASES` says when it can be met, what happens to a copy of the
event's folder before, which command is given to that copy, and what its error says. The command has
to end in a `UserError` with these words, in a line that says where; nothing on the disk may change,
in the copy or beside it, and nothing may stay open. The event itself goes on afterwards, by the
commands of its scenario.
"""

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from arena.event.add_bots import Newcomers, run_into
from arena.event.compare import compare_bots
from arena.event.merge import merge_shards
from arena.event.options import (
    ClusterOptions,
    EventOptions,
    RunOptions,
    TrialOptions,
    TuneOptions,
)
from arena.event.prepare import Entry, forecast_event, open_event, prepare_event
from arena.event.rerate import RateOptions, rate_events
from arena.event.results import count_folder, table_of
from arena.event.resume import resume_event, run_prepared
from arena.event.tune import TuneEntry, resume_tuning, tune_bot
from arena.executors.cluster import connected
from arena.model import Limits, UserError
from arena.store import read_private
from arena.store.index import INDEX
from arena.store.lines import LOG, add_checksum, strip_checksum
from arena.store.lock import lock
from tests.simulator.loop import within
from tests.simulator.programs import Process

FIELD = [Path("ann"), Path("cid")]


class Case(NamedTuple):
    when: str
    """fresh: always; else what the folder is: begun, prepared, over, epoch, shards, tuning."""
    damage: Callable[[Path], object] | None
    command: Callable
    """Called with the scenario on its way, and the folder."""
    says: str


# ---- damage


def _body(folder: Path):
    return msgspec.json.decode(strip_checksum((folder / "event.json").read_bytes().rstrip()))


def _write(folder: Path, body) -> None:
    (folder / "event.json").write_bytes(add_checksum(msgspec.json.encode(body)) + b"\n")


def event_with(**fields):
    """Fields of event.json, with a checksum that fits; of settings by `settings`."""

    def damage(folder: Path) -> None:
        body = _body(folder)
        settings = {**body["settings"], **fields.get("settings", {})}
        _write(folder, {**body, **fields, "settings": settings})

    return damage


def _bot_twice(folder: Path) -> None:
    body = _body(folder)
    _write(folder, {**body, "entrants": [body["entrants"][0], *body["entrants"]]})


def _other_bot(folder: Path) -> None:
    """An entrant of another content, and one of another author."""
    body = _body(folder)
    body["entrants"][0]["hash"] = "0" * 64
    body["entrants"][1]["author"] = "somebody else"
    _write(folder, body)


def _one_bot_less(folder: Path) -> None:
    body = _body(folder)
    _write(folder, {**body, "entrants": body["entrants"][1:]})


def replaced(name: str, make):
    """A file becomes something else: bytes, a folder, a link; or it is gone."""

    def damage(folder: Path) -> None:
        path = folder / name
        before = path.read_bytes() if path.is_file() else b""
        path.unlink(missing_ok=True)
        if make == "folder":
            path.mkdir()
        elif make == "link":
            path.symlink_to("/dev/zero")
        elif make is not None:
            path.write_bytes(make(before) if callable(make) else make)

    return damage


def private_with(**fields):
    def damage(folder: Path) -> None:
        path = folder / "private.json"
        known = msgspec.json.decode(path.read_bytes())
        path.write_bytes(msgspec.json.encode({**known, **fields}))
        path.chmod(0o644)

    return damage


def _entered_twice(folder: Path) -> None:
    known = msgspec.json.decode((folder / "private.json").read_bytes())
    bots = known["entered"]["entrants"]
    private_with(entered={**known["entered"], "entrants": [*bots, *bots]})(folder)


def _as_file(folder: Path) -> None:
    for path in sorted(folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    folder.rmdir()
    folder.write_bytes(b"")


def _without(folder: Path) -> None:
    _as_file(folder)
    folder.unlink()


def line_with(**fields):
    """The log's first record is another's, with a checksum that fits."""

    def change(log: bytes) -> bytes:
        first, _, rest = log.partition(b"\n")
        record = msgspec.json.decode(strip_checksum(first))
        return add_checksum(msgspec.json.encode({**record, **fields})) + b"\n" + rest

    return replaced(LOG, change)


def _rotten_line(log: bytes) -> bytes:
    return b"?" + log[1:]


def _stderr_link(folder: Path) -> None:
    (folder / "stderr").mkdir(exist_ok=True)
    (folder / "stderr" / "x.log").symlink_to("/dev/null")


def _epoch_with(**fields):
    def damage(folder: Path) -> None:
        event_with(**fields)(folder / "epoch-1")

    return damage


def _epoch_bots(change):
    def damage(folder: Path) -> None:
        body = _body(folder / "epoch-1")
        heroes = set(body["settings"]["heroes"])
        _write(folder / "epoch-1", change(body, heroes))

    return damage


def _less(body, heroes):
    left = [each for each in body["entrants"] if each["id"] in heroes]
    return {**body, "entrants": left + body["entrants"][2:][:1]}


def _stranger(body, _):
    return {**body, "entrants": [*body["entrants"], _entrant("zoe")]}


def _changed(body, heroes):
    for each in body["entrants"]:
        if each["id"] not in heroes:
            each["hash"] = "1" * 64
    return body


def _old_hero(body, heroes):
    old = next(each["id"] for each in body["entrants"] if each["id"] not in heroes)
    body["settings"]["heroes"] = sorted({*heroes, old})
    return body


def _withdrawn(*names):
    def change(body, heroes):
        known = [each["id"] for each in body["entrants"] if each["id"] not in heroes]
        gone = [known[0] if name == "here" else name for name in names]
        body["settings"]["withdrawn"] = gone
        return body

    return change


def _entrant(name: str) -> dict:
    return {"id": f"{name}@1", "name": name, "version": "1", "hash": "2" * 64}


# ---- commands


def resume(played, folder: Path, **options):
    return resume_event(folder, played.session(), **options)


def run(played, folder: Path, **options):
    return run_prepared(folder, played.session(), **options)


def begin(played, folder: Path):
    with open_event(played.entry(folder), played.session()):
        pass


def table(_, folder: Path):
    return table_of(folder)


def rate(_, folder: Path):
    return rate_events([folder])


def add(*names: str, epoch: str = ""):
    def command(played, folder: Path):
        bots = [Path(name) for name in names]
        return run_into(folder / epoch if epoch else folder, Newcomers(bots, "x"), played.session())

    return command


def without_ann(played, folder: Path):
    """Add a bot to an event one of whose bots is lost from the cache."""
    played.lose_bots("ann")
    return add("newer")(played, folder)


def locked(command):
    """The command, given while another process holds the folder's lock."""

    def meanwhile(played, folder: Path):
        other = Process(played.world, "another writer")
        other.bystander = True
        held = within(other).run(lock, folder)
        try:
            return command(played, folder)
        finally:
            held.close()

    return meanwhile


def new(options=None, bots=FIELD, *, skip=False, **run_options):
    """Begin a new event with these options."""

    def command(played, folder: Path):
        del folder
        given = EventOptions(**{"luck": False, "seed": "x", **(options or {})})
        with played.fresh() as place:
            session = played.session()._replace(options=RunOptions(**run_options))
            with open_event(Entry(bots, given, place, skip), session):
                pass

    return command


def prepare(played, folder: Path):
    return prepare_event(played.entry(folder), folder, None, played.session())


def _prepare_with(played, beacon: str):
    with played.fresh() as place:
        return prepare_event(played.entry(place), place, beacon, played.session())


def _while_staged(played, folder: Path):
    """While another arena prepares an event at the same place."""
    del folder
    disk = played.world.disk
    place = disk.root / "fresh"
    staged = place.with_name(f".{place.name}.new")
    staged.mkdir()
    disk.adopt(staged)
    try:
        locked(lambda *_: _prepare_with(played, "x"))(played, staged)
    finally:
        disk.forget(staged)


def forecast(played, folder: Path):
    return forecast_event(played.entry(folder), played.session())


def compare(*names: str, **trial):
    def command(played, folder: Path):
        del folder
        bots = [Path(name) for name in names]
        with played.fresh() as place:
            given = EventOptions(luck=False, seed="x")
            return compare_bots(bots, given, TrialOptions(**trial), place, played.session())

    return command


def tune(*names: str, **options):
    """Tune the first of these bots against the others."""

    def command(played, folder: Path):
        del folder
        bot, *panel = map(Path, names)
        asked = TuneOptions(**options)
        entry = TuneEntry(bot, panel, EventOptions(luck=False, seed="x"), asked, TrialOptions())
        with played.fresh() as place:
            return tune_bot(entry, place, played.session())

    return command


def tune_there(played, folder: Path):
    return tune_bot(played.tuned.entry(), folder, played.session())


def tune_on(played, folder: Path):
    return resume_tuning(folder, played.session())


def merge(choose, *, name="merged-again") -> Callable:
    """Shards that are chosen among the parts; the first is the damaged copy."""

    def command(played, folder: Path):
        parts = choose([folder, *played.parts[1:]], played)
        out = played.world.disk.root / name if isinstance(name, str) else name(folder)
        return merge_shards(parts, out)

    return command


def on_cluster(place: str, content: bytes | None = None, **files) -> Callable:
    def command(played, folder: Path):
        where = str(played.world.disk.root / place) if content is not None else place
        if content is not None:
            Path(where).write_bytes(content)
        given = {name: folder / value for name, value in files.items()}
        try:
            with connected(ClusterOptions(place=where, **given)):
                pass
        finally:
            if content is not None:
                Path(where).unlink()

    return command


def _here(parts, _):
    return parts


_EVENT = "event.json"
_PRIVATE = "private.json"
_TUNING = "tuning.json"
_NO_FIT = "don't fit the commitment"
CASES = {
    # what isn't an event's folder
    "resume nothing": Case("over", _without, resume, "there is no such folder"),
    "resume a file": Case("over", _as_file, resume, "a file, not a results folder"),
    "no event": Case("over", replaced(_EVENT, None), resume, "not a results folder"),
    "event a folder": Case("over", replaced(_EVENT, "folder"), table, "can't be read"),
    "event endless": Case("over", replaced(_EVENT, "link"), table, "not a regular file"),
    "event large": Case("over", replaced(_EVENT, bytes(17 << 20)), table, "larger than"),
    "event rotten": Case("over", replaced(_EVENT, _rotten_line), resume, "damaged: its checksum"),
    "event of two lines": Case(
        "over", replaced(_EVENT, add_checksum(b'{"a":\n1}')), table, "more than one line"
    ),
    "event of another format": Case("over", event_with(format=99), add("new"), "in format 99"),
    "event of a newer rule": Case(
        "over", event_with(settings={"derivation": 99}), rate, "follow rule 99"
    ),
    "event of nothing": Case(
        "over", replaced(_EVENT, add_checksum(b'{"format":1}')), table, "no event of an arena's"
    ),
    "event of a bot twice": Case("over", _bot_twice, table, "is there twice"),
    "event of odd ratings": Case(
        "over", event_with(settings={"rating": {"sigma": 900.0, "beta": 0.01}}), table, "sigma"
    ),
    "event of no secret": Case("over", event_with(secret="x"), table, "not 64 hex digits"),
    # a finished event
    "resume what is over": Case("over", None, resume, "the event is finished; its table"),
    "run what is over": Case("over", None, run, "the event is finished; its table"),
    "begin where one is over": Case("over", None, begin, "holds a finished event"),
    "prepare where one is over": Case("over", None, prepare, "holds a finished event"),
    "forecast where one is over": Case("over", None, forecast, "holds a finished event"),
    "begin among files": Case("over", replaced(_EVENT, None), begin, "is not empty"),
    "begin beneath a file": Case(
        "over", None, lambda p, f: begin(p, f / LOG / "event"), "a file is in its place"
    ),
    "no log": Case("over", replaced(LOG, None), table, "matches are missing"),
    "rate no log": Case("over", replaced(LOG, None), rate, "--skip-damaged"),
    "log a folder": Case("over", replaced(LOG, "folder"), table, "can't be read"),
    "log rotten": Case("over", replaced(LOG, _rotten_line), table, r"line 1 \(byte 0\) is damaged"),
    "rate a rotten log": Case("over", replaced(LOG, _rotten_line), rate, "--skip-damaged"),
    "log of strangers": Case(
        "over",
        line_with(seats=["x@1", "y@1"]),
        table,
        "line 1.* no record of this event: its seats",
    ),
    "log of nothing": Case("over", line_with(totals="none"), rate, "line 1.* no record of this"),
    "log of too few": Case("over", line_with(totals=[1]), table, "has a total and a place"),
    "secret lost": Case("over", event_with(secret="", finished=False), table, "not been revealed"),
    # not as it was
    "other settings": Case("over", event_with(settings={"deals": 3}), add("new"), _NO_FIT),
    "other rules": Case("over", event_with(settings={"game_version": 9}), add("new"), "rules 9"),
    "other holes": Case("over", event_with(settings={"holes": 3}), add("new"), "holes"),
    "other luck": Case(
        "over", event_with(settings={"evaluator": "tea leaves"}), add("new"), "luck: measured by"
    ),
    "other bots": Case("begun", _other_bot, resume, "bots: .* was "),
    "bots missing": Case("begun", _one_bot_less, resume, "is not there"),
    "other deals": Case("begun", event_with(settings={"deals": 3}), resume, "deals: .* → 3"),
    "other commitment": Case("begun", event_with(commitment="0" * 64), resume, "commitment: "),
    # adding bots
    "add nothing": Case("over", None, add(), "name the bots to add"),
    "add what is there": Case("over", None, add("ann"), "in the event already, with this content"),
    "add what is there again": Case("over", None, add("ann-again"), r"as ann@1"),
    "add another of a name": Case(
        "over", None, add("other/ann"), "give it another version|in the event"
    ),
    "add what is gone": Case("over", None, add("gone"), "there is no such path"),
    "add what can't be built": Case("over", None, add("new", "unbuilt"), "the build has failed"),
    "add what can't start": Case("over", None, add("unstarted"), "can't start: it ended"),
    "add without the others": Case("over", None, without_ann, "no longer in the cache.*: ann@1"),
    "add what is left out": Case(
        "over", None, add("optional"), "no bot to add: those that are new"
    ),
    "add to one match": Case(
        "over", event_with(settings={"format": "single"}), add("new"), "to which no bot can come"
    ),
    "add to a shard": Case("over", event_with(shard="1/3"), add("new"), "merge it first"),
    "add to what isn't over": Case(
        "begun", None, add("new"), "is not finished; first: arena resume"
    ),
    "add to what is prepared": Case("prepared", None, add("new"), "not finished; first: arena run"),
    "add to an epoch": Case(
        "epoch", None, add("newer", epoch="epoch-1"), "is an epoch of the event"
    ),
    "epoch of others": Case("epoch", _epoch_with(settings={"deals": 1}), rate, "its deals is not"),
    "epoch of fewer": Case("epoch", _epoch_bots(_less), rate, "and is not in it"),
    "epoch of strangers": Case(
        "epoch", _epoch_bots(_stranger), rate, "was not in the event before"
    ),
    "epoch of other content": Case("epoch", _epoch_bots(_changed), add("newer"), "another content"),
    "epoch of old heroes": Case(
        "epoch", _epoch_bots(_old_hero), rate, "was in the event before it"
    ),
    "epoch without strangers": Case(
        "epoch", _epoch_bots(_withdrawn("zoe@1")), rate, "zoe@1 is left out of it"
    ),
    "epoch with the withdrawn": Case(
        "epoch", _epoch_bots(_withdrawn("here")), rate, "was withdrawn before it, as its settings"
    ),
    "epoch unfinished": Case(
        "epoch", _epoch_with(finished=False, secret=""), resume, "its epoch isn't; go on"
    ),
    "rate twice": Case("over", None, lambda p, f: rate_events([f, p.now]), "are the same event"),
    "rate two alone": Case(
        "over",
        None,
        lambda p, f: rate_events([f], RateOptions(only=(p.one_bot(f),))),
        "a rating needs two",
    ),
    "rate luck": Case(
        "over",
        None,
        lambda p, f: rate_events([f], RateOptions(rate_on="adjusted")),
        "luck was not measured",
    ),
    "rate a shard": Case("over", event_with(shard="1/3"), rate, "shard 1/3 of an event"),
    # an unfinished event
    "run what has begun": Case("begun", None, run, "is unfinished; go on with it"),
    "begin where one has begun": Case("begun", None, begin, "holds an unfinished event"),
    "private lost": Case("begun", replaced(_PRIVATE, None), resume, "only its owner can resume"),
    "private rotten": Case("begun", replaced(_PRIVATE, b"{"), resume, "private.json: damaged"),
    "private a folder": Case("begun", replaced(_PRIVATE, "folder"), resume, "can't be read"),
    "private of others": Case("begun", private_with(secret="0" * 64), resume, _NO_FIT),
    "private of odd bots": Case(
        "begun", private_with(entered={"settings": {"game": "play-nine"}}), resume, "damaged"
    ),
    "no sandbox": Case("begun", event_with(sandbox="none"), resume, "--sandbox none"),
    "unknown sandbox": Case(
        "begun", event_with(sandbox="castle"), resume, "a sandbox that there is not"
    ),
    "begun elsewhere": Case("begun", None, locked(resume), "is writing there"),
    "run while it is played": Case(
        "begun", None, locked(run), "being played right now, by process"
    ),
    "resume through a link": Case("begun", _stderr_link, resume, "not a regular file"),
    "lock a folder": Case("begun", replaced("lock", "folder"), resume, "not a regular file"),
    "beacon where none is": Case(
        "begun", None, lambda p, f: resume(p, f, beacon="x"), "--beacon: none was announced"
    ),
    "resume with a foreign log": Case(
        "begun", line_with(seats=["x@1", "y@1"]), resume, "is no record of this event"
    ),
    "private of a bot twice": Case("begun", _entered_twice, resume, "damaged: .* is there twice"),
    # a prepared event
    "resume what is prepared": Case("prepared", None, resume, "prepared, but not begun"),
    "begin where one is prepared": Case("prepared", None, begin, "holds a prepared event"),
    "prepare it again": Case("prepared", None, prepare, "holds a prepared event"),
    "odd shard": Case("prepared", None, lambda p, f: run(p, f, shard="4/3"), "is no shard"),
    "odder shard": Case("prepared", None, lambda p, f: run(p, f, shard="one"), "is no shard"),
    "prepared without sandbox": Case(
        "prepared", private_with(options={"sandbox": "none"}), run, "--sandbox none"
    ),
    "no beacon": Case(
        "beacon", None, run, "the deals wait for a public value, .*: give it with --beacon"
    ),
    "long beacon": Case("beacon", None, lambda p, f: run(p, f, beacon="x" * 300), "1 to 200"),
    "another beacon": Case(
        "lit", None, lambda p, f: resume(p, f, beacon="other"), "was begun with the beacon"
    ),
    "merge what is prepared": Case("prepared", None, merge(_here), "a prepared event; play its"),
    # shards
    "merge too few": Case("shards", None, merge(lambda p, _: p[:2]), "missing: shard 3/3"),
    "merge one twice": Case("shards", None, merge(lambda p, _: [*p, p[0]]), "is named twice"),
    "merge a copy": Case("shards", None, merge(lambda p, w: [*p, w.parts[0]]), "are both shard 1"),
    "merge the whole": Case("shards", None, merge(lambda p, w: [*p, w.now]), "a whole event"),
    "merge into a shard": Case(
        "shards", None, merge(_here, name=lambda f: f / "inside"), "lies in .* only read"
    ),
    "merge over it": Case("shards", None, merge(_here, name="event"), "holds a finished event"),
    "merge half": Case("shards", replaced(LOG, b""), merge(_here), "is not finished, .* left"),
    "merge less": Case(
        "shards",
        replaced(LOG, lambda b: b[: b.rindex(b"\n", 0, -1) + 1]),
        merge(_here),
        "is not finished, .* left",
    ),
    "merge no private": Case("shards", replaced(_PRIVATE, None), merge(_here), "can't be merged"),
    "merge other cuts": Case("shards", event_with(shard="1/4"), merge(_here), "shard: 1/4 and"),
    "merge other events": Case(
        "shards", event_with(settings={"deals": 3}), merge(_here), "not of one event"
    ),
    "merge other secrets": Case(
        "shards", private_with(secret="0" * 64), merge(_here), "the secrets differ"
    ),
    "merge what is played": Case("shards", None, locked(merge(_here)), "being played right now"),
    "merge a rotten log": Case(
        "shards", replaced(LOG, _rotten_line), merge(_here), "shard 1/3, .*damaged"
    ),
    "merge another's log": Case(
        "shards",
        lambda f: replaced(LOG, (f.parent / "part-2" / LOG).read_bytes())(f),
        merge(_here),
        "shard 1/3",
    ),
    "merge one of many": Case(
        "shards", event_with(shard="1/9"), merge(lambda p, _: p[:1]), "and 2 more"
    ),
    "add to a part": Case("shards", None, add("new"), "a shard of an event; merge it first"),
    "run a part again": Case("shards", None, run, "is played; when all are: arena merge"),
    "begin at a part": Case("shards", None, begin, "holds an unfinished event"),
    # new events
    "no bots": Case("fresh", None, new(bots=[]), "name the bots that play"),
    "bots that are gone": Case("fresh", None, new(bots=[*FIELD, Path("gone")]), "--skip-broken"),
    "bots that don't build": Case("fresh", None, new(bots=[*FIELD, Path("unbuilt")]), "build has"),
    "bots that don't start": Case(
        "fresh", None, new(bots=[*FIELD, Path("unstarted")]), "can't start: it ended .exit 3"
    ),
    "a bot that is shown": Case("fresh", None, new(bots=[Path("shown")]), "which every bot sees"),
    "one bot": Case("fresh", None, new(bots=[Path("ann")]), "bot"),
    "no game": Case("fresh", None, new({"game": "chess"}), "chess"),
    "too many seats": Case("fresh", None, new({"seats": 99}), "--seats 99"),
    "too many deals": Case("fresh", None, new({"deals": 0}), "--deals: "),
    "too little time": Case(
        "fresh", None, new({"limits": Limits(move_ms=9_000, match_ms=1_000)}), "--move-time 9000"
    ),
    "two ways": Case(
        "fresh",
        None,
        new({"gauntlet": ("ann",), "until_resolved": True}),
        "are two ways to run an event",
    ),
    "no such way": Case("fresh", None, new({"schedule": "knockout"}), "there is no format called"),
    "a command's way": Case(
        "fresh", None, new({"schedule": "trial"}), "that is what arena compare"
    ),
    "budget of no race": Case("fresh", None, new({"budget": 9}), "--budget is a race's"),
    "close of no race": Case("fresh", None, new({"close": 1.0}), "--close is a race's"),
    "budget too small": Case(
        "fresh", None, new({"until_resolved": True, "budget": 3}), "--budget 3: the warm-up alone"
    ),
    "luck without its measure": Case(
        "fresh", None, new({"rate_on": "adjusted"}), "--no-luck doesn't measure it"
    ),
    "no hero": Case("fresh", None, new({"gauntlet": ("eve",)}), "none of the bots is called so"),
    "two heroes of a name": Case(
        "fresh",
        None,
        new({"gauntlet": ("ann",)}, [Path("ann"), Path("other/ann"), Path("cid")]),
        "several of the bots|twice|there",
    ),
    "no jobs": Case("fresh", None, lambda p, f: RunOptions(jobs=0), "--jobs 0"),
    "no such sandbox": Case("fresh", None, new(sandbox="castle"), "castle"),
    "prepared by two": Case("fresh", None, _while_staged, "another arena is making it right now"),
    "odd beacon": Case(
        "fresh", None, lambda p, f: _prepare_with(p, "\n"), "expected one printable"
    ),
    # comparisons
    "compare a crowd": Case("fresh", None, compare("ann", "crowd"), "holds several bots"),
    "compare what is gone": Case("fresh", None, compare("ann", "gone"), "a comparison needs both"),
    "compare for nothing": Case("fresh", None, compare("ann", "cid", effect=0.0), "effect"),
    "compare within too little": Case(
        "fresh", None, compare("ann", "cid", budget=3), "3 matches are too few"
    ),
    # tunings
    "tune a crowd": Case("fresh", None, tune("crowd"), "is not one bot"),
    "tune what is gone": Case("fresh", None, tune("knob", "gone"), "there is no such path"),
    "tune what has no parameters": Case("fresh", None, tune("ann"), "names no parameters"),
    "tune from odd parameters": Case("fresh", None, tune("knob:risk=99"), "is not between 0 and 9"),
    "tune against itself": Case(
        "fresh", None, tune("knob", "knob:risk=1"), "its settings meet the bot anyway"
    ),
    "tune within too little": Case("fresh", None, tune("knob", budget=3), "fewer --stages"),
    "tune in no stages": Case("fresh", None, tune("knob", stages=0), "--stages 0: choose"),
    "tune what is tuned": Case("tuning", None, tune_there, "holds a tuning; go on"),
    "table of a tuning": Case("tuning", None, table, "a tuning; name one of its events"),
    "begin where one is tuned": Case("tuning", None, begin, "holds a tuning; go on"),
    "tuning lost": Case("tuning", replaced(_TUNING, None), tune_on, "can't be read"),
    "tuning rotten": Case("tuning", replaced(_TUNING, _rotten_line), tune_on, "damaged, or of a"),
    "tuning of another start": Case(
        "tuning",
        replaced(_TUNING, lambda asked: re.sub(rb'"start":{.*?}', b'"start":{"risk":"8"}', asked)),
        tune_on,
        "its bots are not those that follow|json: risk=8: it has no such parameter",
    ),
    "tuning within no range": Case(
        "tuning",
        replaced(_TUNING, lambda asked: re.sub(rb'"low":[0-9.]+', b'"low":99.0', asked)),
        tune_on,
        "damaged, or of a newer arena: .* needs low < high",
    ),
    "tuning with a log lost": Case(
        "tuning",
        lambda f: replaced(LOG, None)(f / "stage-01"),
        tune_on,
        "matches are missing from .* --repair .*stage-01",
    ),
    "tuning with a rotten log": Case(
        "tuning",
        lambda f: replaced(LOG, _rotten_line)(f / "stage-01"),
        tune_on,
        r"stage-01/.*line 1 .byte 0. is damaged",
    ),
    # clusters
    "cluster beyond": Case("fresh", None, on_cluster("tcp://10.0.0.1:8786"), "plain TCP beyond"),
    "cluster nowhere": Case("fresh", None, on_cluster("nowhere"), "nor a scheduler's file"),
    "cluster of no file": Case("fresh", None, on_cluster("file", b"?"), "not what `dask scheduler"),
    "cluster of no address": Case("fresh", None, on_cluster("file", b"{}"), "not what `dask sch"),
    "cluster of an odd file": Case(
        "fresh", None, on_cluster("file", b'{"address": "inproc://x"}'), "no address of a scheduler"
    ),
    "cluster of none": Case("fresh", None, on_cluster("local:0"), "1 to 256 workers"),
    "cluster of many": Case("fresh", None, on_cluster("local:999"), "1 to 256 workers"),
    "cluster of words": Case("fresh", None, on_cluster("local:two"), "local:N is N worker"),
    "cluster without certificates": Case(
        "fresh", None, on_cluster("tls://10.0.0.1:8786"), "needs certificates"
    ),
    "cluster with half of them": Case(
        "fresh", None, on_cluster("tls://10.0.0.1:8786", tls_ca="ca"), "go together"
    ),
    "certificates missing": Case(
        "over",
        None,
        on_cluster("tls://10.0.0.1:8786", tls_ca="ca", tls_cert="cert"),
        "--tls-ca .*ca: ",
    ),
    "certificates bad": Case(
        "over",
        replaced("bad.pem", b"?"),
        on_cluster("tls://10.0.0.1:8786", tls_ca="bad.pem", tls_cert="bad.pem"),
        "the certificates can't be used",
    ),
}


WRONG = tuple(CASES)


def _met(played, folder: Path) -> Iterator[str]:
    """What a folder is: the words by which cases say when they can be met, the closest last."""
    yield "fresh"
    event = played.event_of(folder)
    if played.merged:
        yield "shards"
    elif played.tuned and played.answer:
        yield "tuning"
    elif event is None:
        return
    elif not event.sandbox:
        yield "beacon" if event.settings.beacon else "prepared"
    elif event.finished and read_private(folder) is None:
        yield "over"
        if (folder / "epoch-1" / "event.json").exists():
            yield "epoch"
    elif event.beacon and not event.finished:
        yield "lit"
    elif not (event.finished or event.shard) and read_private(folder) and _midway(folder):
        yield "begun"


def _midway(folder: Path) -> bool:
    """Whether some of it is played, and something is left."""
    try:
        _, counting = count_folder(folder)
    except UserError:
        return False
    return 0 < counting.left < counting.plan.matches


def refuse(played, how: str, folder: Path) -> str:
    """Give the command to a copy of the folder; what is wrong with how it was refused."""
    disk, met = played.world.disk, list(_met(played, folder))
    if CASES[how].when not in met:
        fits = [name for name, case in CASES.items() if case.when == met[-1]]
        how = fits[WRONG.index(how) % len(fits)]
    case = CASES[how]
    source = {"shards": played.parts[:1], "tuning": [played.whole]}.get(case.when, [folder])[0]
    copy = disk.root / "copy"
    if case.when != "fresh":
        disk.copy(source, copy)
        if case.damage is not None:
            case.damage(copy)
            disk.renew(copy)
    before = _content(disk.root)
    try:
        case.command(played, copy)
    except UserError as error:
        text = str(error)
        if not re.search(case.says, text, re.DOTALL):
            return f"{how}: it says {text!r}, not {case.says!r}"
        if not text.strip() or text != text.rstrip():
            return f"{how}: its line is {text!r}"
        if (after := _content(disk.root)) != before:
            names = {path for path in before.keys() | after if before.get(path) != after.get(path)}
            return f"{how}: refused, but changed: {sorted(names)}"
        return ""
    finally:
        played.found_bots()
        if copy.exists() or copy.is_symlink():
            disk.forget(copy)
    return f"{how}: not refused"


def _content(root: Path | str) -> dict:
    """All files but locks, which even a command that is refused may take, and derived indexes."""
    found = {}
    with os.scandir(root) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                found |= {entry.path: b"", **_content(entry.path)}
            elif entry.name not in {"lock", INDEX}:
                plain = entry.is_file(follow_symlinks=False)
                found[entry.path] = Path(entry.path).read_bytes() if plain else b""
    return found
