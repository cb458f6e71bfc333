"""A true folder is verified; whatever somebody changes in one is found, and where it is."""

import json
import re

import msgspec
import pytest

from arena import registry, verify_results
from arena.deals import fingerprint
from arena.model import Fault, FaultKind, SeatUse, Settings, UserError
from arena.store import read_event, read_records
from arena.terminal.verify_report import show_verification
from arena.verify.findings import Difference, first_unlike, shown
from arena.verify.log import parts
from arena.verify.whole import verify

from .conftest import SECRET, forge, line_of, lines, make, restate, rewrite


def found(folder):
    """The first difference, in a line."""
    verdict = verify(folder, jobs=1)
    assert verdict.difference is not None
    return f"{verdict.difference.where}: {verdict.difference.text}"


def replace(record, **fields):
    """The record with other fields."""
    return msgspec.structs.replace(record, **fields)


def with_hole(record, number, **fields):
    """A record with something else in one hole."""
    holes = list(record.holes)
    holes[number - 1] = replace(holes[number - 1], **fields)
    return replace(record, holes=tuple(holes))


def place_of(folder, wanted):
    """The number of the first line with such a record."""
    for number, record in enumerate(read_records(folder), 1):
        if wanted(record):
            return number
    raise AssertionError("no such record")


# ----------------------------------------------------------------------------- what is true


def test_a_true_folder_is_verified(folder):
    """With faults, a withdrawal's shadow, a series that was cut short: everything derived."""
    records = list(read_records(folder))
    assert {"crash", "illegal"} <= {f.kind.value for r in records for f in r.faults}
    verdict = verify(folder, jobs=1)
    assert verdict.difference is None
    assert verdict.proven
    assert (12, 12) == (verdict.matches, verdict.planned)
    assert len(records) == verdict.records > 12
    assert verdict.moves == sum(len(h.moves.split(",")) for r in records for h in r.holes)
    assert 4 == len(verdict.tables)
    assert () == verdict.absent == verdict.not_reproducible


def test_the_order_of_the_lines_is_nobodys_business(folder):
    """Matches finish in any order; the table is the same."""
    rewrite(folder, reversed(lines(folder)))
    assert verify(folder, jobs=1).difference is None


@pytest.mark.parametrize(
    ("game", "seats", "names"),
    [("four-card-golf", 3, ("ann", "bob", "cyd", "dan")), ("play-nine", 4, ("a", "b", "c", "d"))],
)
def test_larger_tables_and_playoffs_are_verified(tmp_path, game, seats, names):
    """Forfeiters are played for; those who tie play on."""
    settings = Settings(game=game, seats=seats, deals=2, turn_cap=3, playoff=True)
    faults = {f"{names[0]}@1": (3, "timeout"), f"{names[1]}@1": (9, "exit")}
    folder = make(tmp_path / "event", settings, names, faults=faults)
    assert verify(folder, jobs=1).difference is None


def test_an_event_with_a_withdrawal_ended_where_it_should(tmp_path):
    """Matches that became void are not missed, any other is."""
    settings = Settings(game="four-card-golf", deals=4, series=4, turn_cap=2)
    faults = {"bob@1": (2, "crash")}
    folder = make(tmp_path / "event", settings, ("ann", "bob", "cyd"), faults=faults, last=4)
    verdict = verify(folder, jobs=1)
    assert verdict.difference is None
    assert verdict.matches < verdict.planned
    last = place_of(folder, lambda record: "bob@1" not in record.seats)
    rewrite(folder, lines(folder)[: last - 1] + lines(folder)[last:])
    assert "this match, as the event is over" in found(folder)


def test_a_schedule_is_made_once(folder, monkeypatch):
    """For the check of event.json, the records, the count and the missing matches."""
    made, schedule = [], registry.schedule
    monkeypatch.setattr(registry, "schedule", lambda *words: made.append(words) or schedule(*words))
    assert verify(folder, jobs=1).difference is None
    assert 1 == len(made)


def test_several_processes_find_the_same(folder, monkeypatch):
    """Parts of any size, read by others: the same verdict, and the same first difference."""
    monkeypatch.setattr("arena.verify.log.PART_BYTES", 3000)
    monkeypatch.setattr("arena.verify.log.ALONE_BYTES", 1)
    alone, together = verify(folder, jobs=1), verify(folder, jobs=2)
    assert 2 == together.processes
    assert replace(alone, processes=2) == together
    for number in (9, 3):
        forge(folder, number, lambda record: replace(record, totals=(0, 1)))
    alone, together = verify(folder, jobs=1), verify(folder, jobs=2)
    assert replace(alone, processes=2) == together
    assert (2, 3) == (alone.differing, alone.difference.line)


def test_parts_cover_the_log_and_begin_where_lines_do(folder, monkeypatch):
    """Parts may have any size: a byte, or more bytes than there are."""
    whole = (folder / "matches.jsonl").read_bytes()
    for size in (1, 100, 5000, len(whole), 10 * len(whole)):
        monkeypatch.setattr("arena.verify.log.PART_BYTES", size)
        ranges = list(parts(folder / "matches.jsonl"))
        assert b"".join(whole[start:stop] for start, stop in ranges) == whole
        assert all(whole[stop - 1 : stop] == b"\n" for _, stop in ranges)
    assert [] == list(parts(folder / "nothing"))


# ------------------------------------------------------------------------ what was tampered with


@pytest.mark.parametrize("part", range(5))
@pytest.mark.long("a flipped bit in every byte", quick=("0",))
def test_a_flipped_bit_in_any_byte_is_found(tmp_path, part):
    """Of event.json and of the log, newlines included; the line is named."""
    settings = Settings(game="four-card-golf", deals=1, turn_cap=1)
    folder = make(tmp_path / "event", settings, ("ann", "bob"))
    for name in ("event.json", "matches.jsonl"):
        path = folder / name
        whole = path.read_bytes()
        ends = [at for at, byte in enumerate(whole) if byte == ord("\n")]
        for at in sorted({*range(part, len(whole), 5), *ends}):
            broken = bytearray(whole)
            broken[at] ^= 1 << at % 8
            path.write_bytes(broken)
            difference = verify(folder, jobs=1).difference
            assert difference is not None, (name, at)
            assert name == difference.file
            if name == "matches.jsonl":
                assert whole[:at].count(b"\n") + 1 == difference.line
        path.write_bytes(whole)
    assert verify(folder, jobs=1).difference is None


def other_move(record):
    """Another move that the rules would not have allowed there."""
    moves = record.holes[2].moves.split(",")
    moves[4] = "take 9"
    return with_hole(record, 3, moves=",".join(moves))


def cut_hole(record):
    return with_hole(record, 9, moves=record.holes[8].moves.rpartition(",")[0])


def longer_hole(record):
    return with_hole(record, 1, moves=record.holes[0].moves + ",draw")


RECORD = {
    "move": (other_move, "hole 3, move 5: move: expected a legal move, found 'take 9' is not"),
    "cut": (cut_hole, "hole 9, move .*: expected a move of seat ., found none"),
    "longer": (longer_hole, "hole 1, move .*: expected the end of the hole, found draw"),
    "no hole": (lambda r: replace(r, holes=r.holes[:8]), "deck: expected"),
    "one hole more": (
        lambda r: replace(r, holes=(*r.holes, r.holes[0]), deck="0" * 16),
        "deck: expected ",
    ),
    "scores": (
        lambda r: with_hole(r, 2, scores=(1, 2)),
        r"hole 2: scores: expected .*, found \[1,2\]",
    ),
    "order": (lambda r: with_hole(r, 1, order=(1, 0)), r"hole 1: order: expected .0,1., found"),
    "deck": (lambda r: replace(r, deck="0" * 16), "deck: expected [0-9a-f]{16}, found 0{16}"),
    "totals": (lambda r: replace(r, totals=(1, 2)), "totals: expected"),
    "places": (lambda r: replace(r, places=(1, 1)), r"places: expected .* found \[1,1\]"),
    "a fault": (
        lambda r: replace(
            r, faults=(Fault(kind=FaultKind.CRASH, seat=0, hole=9, turn=9999, message=""),)
        ),
        r'faults: expected \[\], found \[\["crash",0,9,9999\]\]',
    ),
    "a fault of nobody": (
        lambda r: replace(
            r, faults=(Fault(kind=FaultKind.START, seat=7, hole=0, turn=0, message=""),)
        ),
        "line: expected a record of this event, found a fault of seat 7",
    ),
    "seats": (lambda r: replace(r, seats=r.seats[::-1]), "seats: expected"),
    "series": (lambda r: replace(r, series=r.series[:-1] + "7"), "series: expected .*-s., found"),
    "id": (lambda r: replace(r, id=r.id[:-1] + "7"), "id: expected .*, found .*-7"),
    "deal": (lambda r: replace(r, deal=77), "schedule: expected a match of this event, found"),
    "pairing": (lambda r: replace(r, pairing="x"), "a match of this event, found pairing x"),
    "attempt": (
        lambda r: replace(r, attempt=-1),
        r"line: expected a record of this event, found Expected `int` >= 0",
    ),
    "use": (
        lambda r: replace(r, use=(SeatUse(think_ms=1e300), SeatUse())),
        "line: expected a record of this event, found Expected",
    ),
    "decisions": (
        lambda r: replace(r, use=(replace(r.use[0], decisions=9999), r.use[1])),
        r"decisions: expected \[\d+,\d+\], found \[9999,\d+\]",
    ),
    "no use": (lambda r: replace(r, use=()), r"decisions: expected \[\d+,\d+\], found \[\]"),
    "too slow": (
        lambda r: replace(r, use=(r.use[0], replace(r.use[1], max_ms=1500.0, think_ms=3000.0))),
        "max_ms: expected at most 1000 ms, as seat 1 has not failed, found 1500",
    ),
    "more than the bank": (
        lambda r: replace(r, use=(replace(r.use[0], max_ms=1000.0, think_ms=60_001.0), r.use[1])),
        "think_ms: expected at most .* ms, as seat 0 has not failed, found 60001",
    ),
    "one longer than all": (
        lambda r: replace(r, use=(replace(r.use[0], max_ms=9.0, think_ms=1.0), r.use[1])),
        "max_ms: expected at most 1 ms",
    ),
    "too little use": (
        lambda r: replace(r, use=(SeatUse(),)),
        "line: expected a record of this event, found not every seat has its use",
    ),
}


@pytest.mark.parametrize("what", RECORD)
def test_a_changed_record_is_found_though_digest_and_checksum_fit(folder, what):
    """Hole, move, what should be there and what is; the line and its byte."""
    change, told = RECORD[what]
    number = place_of(folder, lambda record: not record.faults and record.attempt == 0)
    before = forge(folder, number, change)
    start = sum(map(len, lines(folder)[: number - 1]))
    text = found(folder)
    assert text.startswith(f"matches.jsonl, line {number} (byte {start})")
    assert re.search(told, text)
    if what not in ("id", "attempt", "use"):  # else it has none, or another
        assert f", match {before.id}" in text


def test_a_digest_that_does_not_fit_is_found(folder):
    """The rest of the record is true."""
    forge(folder, 2, lambda record: replace(record, digest="0" * 64), digest=False)
    assert re.search(r"line 2 .*: digest: expected [0-9a-f]{64}, found 0{64}", found(folder))


@pytest.mark.parametrize(("turn", "kind"), [(0, "timeout"), (7, "start")])
def test_a_fault_that_there_can_not_be_then_is_found(tmp_path, turn, kind):
    """Nobody is too slow before it is asked, and nobody starts in the middle of a match."""
    settings = Settings(game="four-card-golf", deals=1, turn_cap=9)
    folder = make(tmp_path / "event", settings, ("ann", "bob"), faults={"ann@1": (7, "crash")})

    def change(record):
        fault = replace(record.faults[0], kind=FaultKind(kind))
        if turn:
            return replace(record, faults=(fault,))
        begun = replace(fault, hole=0, turn=0)
        use = (replace(record.use[0], decisions=0), replace(record.use[1], decisions=0))
        return replace(
            record, faults=(begun,), holes=(), totals=(0, 0), use=use, deck=fingerprint([])
        )

    forge(folder, 1, change)
    assert f"fault: expected one that there can be {'at turn' if turn else 'while'}" in found(
        folder
    )


@pytest.mark.parametrize("kind", ["crash", "illegal"])
@pytest.mark.parametrize("field_", ["turn", "hole", "seat", "none", "legal"])
def test_a_changed_fault_is_found(folder, kind, field_):
    """A match ends where its fault says; a fault for a legal move is none."""
    number = place_of(folder, lambda r: [f.kind.value for f in r.faults] == [kind])

    def change(record):
        (fault,) = record.faults
        if field_ == "none":
            return replace(record, faults=())
        if field_ == "legal":
            return replace(record, faults=(replace(fault, kind=FaultKind.ILLEGAL, line="draw"),))
        value = 1 - fault.seat if field_ == "seat" else getattr(fault, field_) + 1
        return replace(record, faults=(replace(fault, **{field_: value}),))

    forge(folder, number, change)
    assert f"line {number} " in found(folder)
    if field_ == "legal":
        assert "that is not legal" in found(folder)


def test_a_missing_match_is_found(folder):
    """Any of those that count: the first of the schedule that is missing is named."""
    before = lines(folder)
    records = list(read_records(folder))
    for number, record in enumerate(records):
        rewrite(folder, before[:number] + before[number + 1 :])
        verdict = verify(folder, jobs=1)
        again = [r for r in records if r.id == record.id]
        if len(again) > 1 and record.attempt == 0:
            assert verdict.difference is None  # it was cut short, and counts for nothing
        elif len(again) > 1:
            assert f"series {record.series}" == verdict.difference.what
        else:
            assert record.id == verdict.difference.match
            series = len({r.id for r in records if r.series == record.series})
            assert series > 1
            assert f"so {series} of the event's matches don't count" in verdict.difference.found
    rewrite(folder, before[:-2])
    assert "no record of it; a series counts whole, so 2 of the event's" in found(folder)


def test_a_log_without_matches_misses_all_of_them(folder):
    """Empty, or not there."""
    rewrite(folder, [])
    assert "so 12 of the event's matches don't count" in found(folder)
    (folder / "matches.jsonl").unlink()
    assert "so 12 of the event's matches don't count" in found(folder)


def test_a_line_that_is_there_twice_is_found(folder):
    """The second one is named."""
    all_of_them = lines(folder)
    rewrite(folder, [*all_of_them, all_of_them[4]])
    assert re.search(
        rf"line {len(all_of_them) + 1} .*each match once an attempt, found attempt", found(folder)
    )


def test_a_line_of_another_event_is_found(folder, tmp_path):
    """Though everything fits in it, it is no match of this one's."""
    before = lines(folder)
    settings = Settings(game="play-nine", deals=3, series=3, turn_cap=6)
    for names, told in (
        (("ann", "bob", "cyd"), "expected a match of this event"),
        (("ann", "eve"), "expected a record of this event, found its seats are not taken by"),
    ):
        other = make(tmp_path / names[1], settings, names)
        rewrite(folder, [*before, lines(other)[-1]])
        assert told in found(folder)


def test_a_line_that_is_no_record_is_found(folder):
    """Its checksum is right."""
    from arena.store import add_checksum

    for body, told in ((b'{"id":3}', "a record"), (b'{"id":"\\ud800"}', "a record")):
        rewrite(folder, [add_checksum(body) + b"\n", *lines(folder)])
        assert f"line 1 (byte 0): line: expected {told}" in found(folder)
        rewrite(folder, lines(folder)[1:])


def test_a_torn_last_line_is_found(folder):
    """In an event that is over nobody was killed while writing."""
    whole = (folder / "matches.jsonl").read_bytes()
    (folder / "matches.jsonl").write_bytes(whole + whole[:100])
    number = len(whole.splitlines()) + 1
    assert f"line {number} (byte {len(whole)}): line: expected a newline" in found(folder)


def test_a_true_forgery_of_the_settings_does_not_fit_the_commitment(folder):
    """Whatever was committed to: settings, a rating constant, an entrant's content, the secret."""
    event = read_event(folder)
    rating = replace(event.settings.rating, forfeit_margin=1.0)
    swapped = (replace(event.entrants[0], hash="0" * 64), *event.entrants[1:])
    for fields in (
        {"settings": replace(event.settings, rating=rating)},
        {"settings": replace(event.settings, deals=1)},
        {"entrants": swapped},
        {"entrants": event.entrants[1:]},
        {"secret": "0" * 64},
        {"commitment": "0" * 64},
    ):
        restate(folder, **fields)
        assert "event.json: commitment: expected" in found(folder)
        restate(
            folder,
            settings=event.settings,
            entrants=event.entrants,
            secret=event.secret,
            commitment=event.commitment,
        )
    assert verify(folder, jobs=1).difference is None


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"secret": ""}, "secret: expected that of an event that is over, found none"),
        ({"secret": "x"}, "content: expected an event, found no event of an arena's: its secret"),
        ({"finished": False}, "finished: expected true, as the secret is revealed"),
        ({"beacon": "chosen"}, "beacon: expected none, as none was announced, found chosen"),
    ],
)
def test_an_event_that_cannot_be_is_found(folder, fields, told):
    """What no arena writes."""
    restate(folder, **fields)
    assert f"event.json: {told}" in found(folder)


@pytest.mark.parametrize(
    ("name", "value"), [("seats", 9), ("deals", 0), ("tables", -1), ("series", 0), ("turn_cap", 0)]
)
def test_settings_that_nobody_can_play_by_are_found(folder, name, value):
    """Before anything is derived from them."""
    event = read_event(folder)
    restate(folder, settings=replace(event.settings, **{name: value}))
    assert "event.json: content: expected an event" in found(folder)


def test_more_seats_than_the_game_has_are_found(folder):
    """Though there is a game with as many."""
    event = read_event(folder)
    restate(folder, settings=replace(event.settings, seats=8))
    assert "event.json: seats: expected 2 to 6, found 8" in found(folder)


def test_entrants_of_the_same_name_are_found(folder):
    """They could not be told apart."""
    event = read_event(folder)
    restate(folder, entrants=(*event.entrants, event.entrants[0]))
    assert "event.json: content: expected an event" in found(folder)
    assert "ann@1 is there twice" in found(folder)


def test_an_event_of_wrong_types_is_found(folder):
    """Its checksum is right."""
    from arena.store import add_checksum

    (folder / "event.json").write_bytes(add_checksum(b'{"format":1,"settings":3}') + b"\n")
    assert "event.json: content: expected an event" in found(folder)
    (folder / "event.json").write_bytes(add_checksum(b'[{"format":1}]') + b"\n")
    assert "event.json: content: expected an event" in found(folder)
    (folder / "event.json").write_bytes(add_checksum(b'{"format":2}') + b"\n")
    with pytest.raises(UserError, match="written in format 2"):
        verify(folder, jobs=1)


def test_rules_of_another_version_are_not_judged(folder):
    """An arena of that version can."""
    event = read_event(folder)
    restate(folder, settings=replace(event.settings, game_version=7))
    with pytest.raises(UserError, match="played by version 7 of play-nine, this arena has"):
        verify(folder, jobs=1)


def test_a_beacon_that_was_announced_is_part_of_the_deals(tmp_path):
    """With the value all is true; with another, or none, it is not."""
    settings = Settings(game="four-card-golf", deals=1, turn_cap=1, beacon="the lottery")
    folder = make(tmp_path / "event", settings, ("ann", "bob"), beacon="4 8 15")
    assert verify(folder, jobs=1).difference is None
    restate(folder, beacon="16 23 42")
    assert "expected" in found(folder)
    restate(folder, beacon="")
    assert "beacon: expected the value of the lottery, found none" in found(folder)


@pytest.mark.parametrize("name", ["table.txt", "table.md", "table.csv", "table.json"])
def test_a_changed_table_is_found(folder, name):
    """The line, what follows from the log and what is there; more or less of it too."""
    path = folder / name
    text = path.read_text()
    path.write_text(text.replace("cyd", "dan"))
    assert re.match(
        rf"{name}, line \d+ \(byte \d+\): table: expected .*cyd.*, found", found(folder)
    )
    path.write_text(text + "\n")
    assert "expected the end of the file" in found(folder)
    path.write_text(text.rstrip("\n").rpartition("\n")[0])
    assert re.search("found (the end of the file|.*)$", found(folder))
    path.unlink()
    assert (name,) == verify(folder, jobs=1).absent


def test_a_table_of_another_version_is_told_as_such(folder):
    """It may be that version's way to write it."""
    restate(folder, machine=replace(read_event(folder).machine, arena="0.0.9"))
    (folder / "table.csv").write_text("rank\n")
    verdict = verify(folder, jobs=1)
    assert "by arena 0.0.9" in verdict.difference.what


# -------------------------------------------------------------------------------- not over yet


def test_an_unfinished_event_is_verified_by_its_owner(tmp_path):
    """As far as it has been played; a torn last line is nobody's fault."""
    settings = Settings(game="four-card-golf", deals=4, series=2, turn_cap=2)
    folder = make(tmp_path / "event", settings, ("ann", "bob"), stop_after=3)
    with (folder / "matches.jsonl").open("ab") as file:
        file.write(b'{"torn')
    verdict = verify(folder, jobs=1)
    assert verdict.difference is None
    assert verdict.proven
    assert verdict.torn
    assert 0 < verdict.matches < 8
    forge_first(folder)
    assert "totals" in found(folder)


def forge_first(folder):
    """Change the totals of the first record."""
    record = next(read_records(folder))
    rewrite(folder, [line_of(replace(record, totals=(0, 0))), *lines(folder)[1:-1]])


def test_a_shard_is_verified_as_far_as_it_goes(tmp_path, capsys):
    """What others play is not missed; a match of theirs has no place here."""
    settings = Settings(game="four-card-golf", deals=4, series=1, turn_cap=2)
    names = ("ann", "bob", "cyd")
    one, two = (
        make(tmp_path / str(n), settings, names, shard=f"{n}/2", cut=["-s1"]) for n in (1, 2)
    )
    for folder in (one, two):
        verdict = verify(folder, jobs=1)
        assert verdict.difference is None
        assert 12 == verdict.matches == verdict.planned
    assert 0 == run(one, capsys)[0]
    assert "12 that count, of 12 planned for shard 1/2" in run(one, capsys)[1]
    rewrite(one, [*lines(one), lines(two)[0]])
    assert "schedule: expected a match of shard 1/2, found another's" in found(one)
    restate(two, shard="3/2")
    assert "event.json: shard: expected one of how many, like 2/5, found 3/2" in found(two)
    restate(two, shard="1/2", finished=True, secret=SECRET.hex())
    assert "finished: expected false, as this is shard 1/2, found true" in found(two)


def test_without_the_secret_only_checksums_and_digests_can_be(tmp_path, capsys):
    """Said in one line, with another exit code than of a verified one."""
    settings = Settings(game="four-card-golf", deals=4, series=2, turn_cap=2)
    folder = make(tmp_path / "event", settings, ("ann", "bob"), stop_after=3)
    (folder / "private.json").unlink()
    with pytest.raises(UserError, match="the secret has not been revealed yet"):
        show_verification(verify_results(folder, jobs=1), as_json=False)
    assert "checksums and digests are right" in capsys.readouterr().out
    record = next(read_records(folder))
    rewrite(folder, [line_of(replace(record, totals=(0, 0)), digest=False), *lines(folder)[1:]])
    assert "line 1 (byte 0)" in found(folder)
    assert "digest: expected" in found(folder)


# -------------------------------------------------------------------------------- what is said


def run(folder, capsys, **options):
    """The exit code and what is printed."""
    as_json = options.pop("as_json", False)
    code = show_verification(verify_results(folder, **options), as_json=as_json)
    return code, *capsys.readouterr()


def test_what_is_said_of_a_true_folder(folder, capsys):
    """In a handful of lines that fit 80 columns, what can't be proven among them."""
    code, out, err = run(folder, capsys)
    assert (0, "") == (code, err)
    assert out.startswith("verified: ") or len(out.splitlines()[0]) > 80
    told = out.splitlines()[1:]
    assert all(len(line) <= 80 for line in told)
    assert len(told) < 13
    assert "12 that count, of 12 planned; " in out
    assert "table.txt, table.md, table.csv, table.json" in out
    assert "that the bots made these moves" in out
    event = read_event(folder)
    assert event.commitment in out
    assert 0 == run(folder, capsys, commitment=event.commitment.upper())[0]


def test_what_is_said_of_a_difference(folder, capsys):
    """Where, what, and how many lines more; exit code 5, as with --json."""
    forge(folder, 2, lambda record: replace(record, totals=(0, 0)))
    forge(folder, 5, lambda record: replace(record, totals=(0, 0)))
    code, out, err = run(folder, capsys)
    assert (5, "") == (code, out)
    first, where, what, more = err.splitlines()
    assert first.endswith("is not as it should be:")
    assert where.startswith("  matches.jsonl, line 2 (byte ")
    assert what.startswith("    totals: expected [")
    assert "  lines of the log that differ: 2" == more
    code, out, err = run(folder, capsys, as_json=True)
    told = json.loads(out)
    assert (5, "", False) == (code, err, told["verified"])
    assert ("matches.jsonl", 2, "totals") == tuple(
        told["difference"][name] for name in ("file", "line", "what")
    )
    code, out, err = run(folder, capsys, commitment="0" * 64)
    assert 5 == code
    assert "commitment: expected the published one" in err


def test_a_strangers_text_does_nothing_to_the_terminal(folder, capsys):
    """Escapes in an id, a move, a name are shown, not obeyed."""
    forge(folder, 1, lambda record: replace(record, id="\x1b[2Jx"))
    code, _, err = run(folder, capsys)
    assert 5 == code
    assert "\x1b" not in err
    assert r"\x1b[2Jx" in err


def test_long_values_are_cut_in_the_middle():
    """Both ends are at stake."""
    assert "a" * 48 + " … " + "b" * 48 == shown("a" * 500 + "b" * 500)
    assert "[1,2]" == shown((1, 2))
    assert 2 == first_unlike([1, 2], [1, 2, 3])
    difference = Difference(file="f", what="w", expected="e", found="f")
    assert ("f", "w: expected e, found f") == (difference.where, difference.text)


def test_a_folder_that_is_none_is_the_users_error(tmp_path):
    """Not a difference."""
    with pytest.raises(UserError, match="no such folder"):
        verify(tmp_path / "nothing", jobs=1)
    with pytest.raises(UserError, match="not a results folder"):
        verify(tmp_path, jobs=1)
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="file: a file, not a results folder"):
        verify(tmp_path / "file", jobs=1)
