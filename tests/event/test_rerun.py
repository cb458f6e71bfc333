"""A forger who keeps to the rules is found by playing again with the bots, and in no other way."""

import json
import random
import shutil

import msgspec
import pytest

from arena import registry
from arena.deals import Deals
from arena.event.results import table_of
from arena.luck import sums
from arena.model import FaultKind
from arena.referee import Failure, Referee
from arena.registry import table_files
from arena.replay.moves import replay_moves, spec_of
from arena.store import add_checksum, read_event, read_records

pytestmark = pytest.mark.process


@pytest.fixture(scope="session")
def sandbox():
    """What is shown here doesn't depend on it."""
    return "none"


@pytest.fixture
def event(arena, bot, tmp_path):
    """An event of two bots, one of which crashes at its first match's fifth question."""
    out = tmp_path / "friday"
    bots = [bot("ann"), bot("bob"), bot("cyd", "crash")]
    flags = ["--game", "four-card-golf", "--deals", "3", "--series", "3", "--seed", "1"]
    arena("run", *bots, *flags, "--out", out)
    return out


def test_what_the_bots_play_again_is_as_recorded(arena, event, sandbox):
    """Faults too; drawn by a seed that is told and can be given; from what the cache holds."""
    out = arena("verify", event, "--rerun", "3", "--seed", "x", "--sandbox", sandbox).stdout
    assert "3 matches drawn by the seed x, and " in out
    assert out.count("as recorded") == 1
    assert "that the bots made these moves" not in out
    told = arena("verify", event, "--rerun", "99", "--sandbox", sandbox, "--json").stdout
    rerun = json.loads(told)["rerun"]
    assert rerun["matches"] == rerun["played"] == json.loads(told)["matches"]
    assert [] == rerun["differences"]


def forged(record, settings, deals, *, fault):
    """The match as it would have gone with another third move, or with a crash instead of it."""
    draw = random.Random(7)
    game = registry.game(settings.game)
    referee = Referee(spec_of(record), game=game, deals=deals, settings=settings)
    referee.begin()
    moves = record.holes[0].moves.split(",")
    for move in moves[:2]:
        referee.answer(referee.asked[0], move)
    if fault:
        referee.fail(referee.asked[0], Failure(kind=FaultKind.CRASH, message="it did"))
    while referee.asked:
        (seat,) = referee.asked
        legal = [move for move in referee.legal(seat) if move != moves[2]]
        referee.answer(seat, draw.choice(legal))
    mine = referee.record()
    asked = replay_moves(mine, game=game, deals=deals, settings=settings).use
    use = tuple(
        msgspec.structs.replace(use, decisions=seat.decisions, max_ms=1.0, think_ms=1.0)
        for use, seat in zip(record.use, asked, strict=True)
    )
    luck = sums(mine, game=game, deals=deals, settings=settings)
    return msgspec.structs.replace(
        mine, digest=mine.computed_digest(), use=use, luck=luck, attempt=record.attempt
    )


@pytest.mark.long("matches played again")
def test_a_forgery_that_keeps_to_the_rules_is_found_by_the_bots_alone(arena, event, sandbox):
    """Another legal move, or a crash that was none, and all that follows from it made to fit:
    digest, checksum, tables.
    """
    info, records = read_event(event), list(read_records(event))
    deals = Deals(bytes.fromhex(info.secret))
    fine = [n for n, record in enumerate(records) if "cyd@1" not in record.seats]
    moved, failed = sorted(fine[:2], key=lambda n: (records[n].series, n))
    records[moved] = forged(records[moved], info.settings, deals, fault=False)
    records[failed] = forged(records[failed], info.settings, deals, fault=True)
    log = b"".join(add_checksum(msgspec.json.encode(record)) + b"\n" for record in records)
    (event / "matches.jsonl").write_bytes(log)
    (event / "matches.index").unlink(missing_ok=True)
    for name, report in table_files().items():
        (event / name).write_text(report.file_text(table_of(event)))
    arena("verify", event)
    flags = ["--rerun", "99", "--sandbox", sandbox]
    told = json.loads(arena("verify", event, *flags, "--json", code=5).stdout)
    by_match = {found["match"]: found for found in told["rerun"]["differences"]}
    assert {records[moved].id, records[failed].id} == set(by_match)
    found = by_match[records[moved].id]
    assert (1, 3) == (found["hole"], found["move"])
    assert found["what"] in [f"played again, the move of {who}" for who in records[moved].seats]
    found = by_match[records[failed].id]
    who = records[failed].seats[records[failed].faults[0].seat]
    assert f"{who}: crash on hole 1" == found["expected"]
    assert "none" == found["found"]


@pytest.mark.long("matches played again")
def test_bots_that_are_not_as_entered_are_refused(arena, event, sandbox, tmp_path, environment):
    """By name, with both contents; the right ones are taken from wherever they are named."""
    shutil.rmtree(environment["XDG_CACHE_HOME"])
    shutil.rmtree(event / "bots")
    moved = (tmp_path / "bots").rename(tmp_path / "elsewhere")
    flags = ["--rerun", "99", "--sandbox", sandbox]
    err = arena("verify", event, *flags, code=2).stderr
    assert "arena verify" in err
    ann, bob, _ = read_event(event).entrants
    for entrant in (ann, bob):
        told = f"{entrant.id}: its snapshot ({entrant.hash[:12]}…) is no longer in the cache"
        assert told in err
    arena("verify", event, *sorted(moved.iterdir()), *flags)
    with (moved / "ann" / "bot.py").open("a") as file:
        file.write("# improved\n")
    err = arena("verify", event, moved / "ann", *flags, code=2).stderr
    entered = next(e.hash for e in read_event(event).entrants if e.id == "ann@1")
    assert f"ann@1 was entered as {entered[:12]}…, this is " in err
    assert "go with --rerun" in arena("verify", event, moved / "ann", code=2).stderr
