"""The second verifier of the deals, in another language: both agree, or neither does."""

import json
import re
import shutil
import subprocess
import zlib
from pathlib import Path

import msgspec
import pytest

from arena.deals import Deals, commitment, fingerprint, with_beacon
from arena.model import STATED, Entrant, Event, MatchRecord, Settings, TrialSettings, UserError
from arena.registry import game
from arena.store import read_event, read_records
from arena.verify.whole import verify

ROOT = Path(__file__).parents[2]
NODE = shutil.which("node")

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(NODE is None, reason="node is not installed"),
]

# Names whose order differs between languages: by UTF-16 the last two are the other way round.
STRANGE = ("a@1", "a-b@1", "é@1", "नमस्ते@1", "\uffdc@1", "\U00020000@1")


def node(*words):
    """Run a script: (exit code, standard output, standard error)."""
    done = subprocess.run(
        [NODE, *map(str, words)], capture_output=True, text=True, timeout=60, check=False
    )
    return done.returncode, done.stdout, done.stderr


VERIFIER = ROOT / "protocol" / "verify_deals.js"

# Node's start takes longer than what the verifier does: this runs the script for each line.
SERVER = """
const fs = require('fs'), vm = require('vm');
const script = process.argv[1];
const text = fs.readFileSync(script, 'utf8').replace(/^#!/, '//');
const begin = vm.runInThisContext(require('module').wrap(text));
const needs = require('module').createRequire(script), said = console.log;
require('readline').createInterface({ input: process.stdin }).on('line', (folder) => {
  const out = [], err = [], module = { exports: {} };
  console.log = (text) => out.push(text + '\\n');
  console.error = (text) => err.push(text + '\\n');
  process.argv = [process.argv[0], script, folder];
  process.exitCode = 0;
  begin(module.exports, Object.assign((name) => needs(name), { main: module }), module, script);
  said(JSON.stringify([process.exitCode, out.join(''), err.join('')]));
  process.exitCode = 0;
});
"""


@pytest.fixture(scope="module")
def verdict():
    """`verdict(folder)`: what the second verifier says of it."""
    with subprocess.Popen(
        [NODE, "-e", SERVER, str(VERIFIER)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:

        def ask(folder):
            process.stdin.write(f"{folder}\n")
            process.stdin.flush()
            return tuple(json.loads(process.stdout.readline()))

        yield ask
        process.stdin.close()


def first_verdict(folder):
    """The same question to the arena's own code."""
    event = read_event(folder)
    secret = bytes.fromhex(event.secret)
    deals = Deals(with_beacon(secret, event.beacon))
    seats = event.settings.seats
    pack = game(event.settings.game).pack(seats)
    if commitment(secret, event.settings, event.entrants) != event.commitment:
        return 1
    for record in read_records(folder):
        circle = deals.circle(record.pairing, record.deal, record.seats)
        decks = [
            deals.deck(record.pairing, record.deal, hole, pack).cards
            for hole in range(1, len(record.holes) + 1)
        ]
        seated = tuple(circle[(seat + record.rotation) % seats] for seat in range(seats))
        right = (record.seats, record.deck, record.digest)
        if right != (seated, fingerprint(decks), record.computed_digest()):
            return 1
    return 0


def sealed(value):
    """A line with a right checksum, as whoever forges one would write it."""
    body = json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()[:-1]
    return body + b',"check":"%08x"}\n' % zlib.crc32(body)


def forge_line(folder, number, **changes):
    """Change a line of the log, its checksum put right."""
    path = folder / "matches.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    value = json.loads(lines[number - 1])
    del value["check"]
    lines[number - 1] = sealed({**value, **changes})
    path.write_bytes(b"".join(lines))


@pytest.fixture
def folder(play_event, tmp_path):
    """A small event of two bots."""
    return play_event(tmp_path / "event", deals=3)


def test_the_vectors_are_what_it_computes():
    """Streams, shuffles, seatings, ids, the commitment."""
    assert (0, "agrees with every vector\n", "") == node(ROOT / "protocol/check_vectors.js")


@pytest.mark.parametrize("name", ["play-nine", "four-card-golf"])
def test_both_agree_on_a_published_event_played_by_processes(name):
    """On every record of the reference results."""
    folder = ROOT / "results" / name
    code, out, err = node(VERIFIER, folder)
    records = (folder / "matches.jsonl").read_bytes().count(b"\n")
    assert (0, "") == (code, err)
    assert out.startswith(f"agrees: {records} records, ")
    assert 0 == first_verdict(folder)


@pytest.mark.parametrize(
    "settings",
    [
        {"names": [f"b{n}@1" for n in range(8)], "game": "four-card-golf", "seats": 8},
        {"names": STRANGE, "seats": 3},
        {"names": ("a@1", "b@1", "c@1"), "seats": 3, "playoff": True, "deals": 6},
        {"names": ("a@1", "b@1"), "beacon": "drand 4182001: é…", "game": "four-card-golf"},
        {"names": ("a@1", "b@1"), "format": "trial", "deals": 5, "trial": TrialSettings(new="b@1")},
    ],
    ids=["eight", "strange", "playoff", "beacon", "trial"],
)
def test_both_agree_on(play_event, tmp_path, settings, verdict):
    """Two packs, strange names, a playoff, a beacon; more deals than an event begins with."""
    names = settings.pop("names")
    folder = play_event(tmp_path / "event", names, **settings)
    assert 0 == first_verdict(folder)
    assert (0, "") == verdict(folder)[::2]


@pytest.mark.parametrize("heroes", [("c@1", "a@1", "b@1"), ("b@1",), ()])
def test_of_a_single_match_the_seats_are_those_that_were_chosen(
    play_event, tmp_path, heroes, verdict
):
    """As `arena play` keeps it; in any other order it isn't that match."""
    names = ("a@1", "b@1", "c@1")
    folder = play_event(tmp_path / "event", names, seats=3, format="single", heroes=heroes)
    (record,) = read_records(folder)
    assert [*heroes, *(name for name in names if name not in heroes)] == list(record.seats)
    assert (0, "") == verdict(folder)[::2]
    forge_line(folder, 1, seats=[*record.seats[1:], record.seats[0]])
    assert "the seating is" in verdict(folder)[1]
    forge_line(folder, 1, seats=record.seats, rotation=1, id=record.id[:-1] + "1")
    assert "a second match of an event of one" in verdict(folder)[1]


def test_both_agree_on_matches_cut_short(play_event, a_fault, tmp_path, verdict):
    """The packs that were dealt until a forfeit are in the fingerprint."""
    folder = play_event(tmp_path / "event", faults={0: a_fault}, deals=2)
    assert [1, 9, 9, 9] == [len(record.holes) for record in read_records(folder)]
    assert 0 == first_verdict(folder)
    assert (0, "") == verdict(folder)[::2]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"deck": "0" * 16}, 'the fingerprint of the packs is "0000000000000000", but'),
        ({"deal": 2}, "the id is"),
        ({"rotation": 7}, "there is no rotation 7"),
        ({"deal": 10**30}, "deal is missing or something else"),
        ({"seats": ["bob@1", "bob@1"]}, "somebody sits in two seats"),
        (
            {"seats": ["ann@1", "\x1b[31m\u202eeve@1"]},
            '"\\u001b[31m\\u202eeve@1" is not an entrant',
        ),
        ({"totals": [0, 0]}, "the digest is"),
        ({"holes": None}, "holes is missing or something else"),
    ],
)
def test_a_forged_line_is_found(folder, changes, words, verdict):
    """The first difference by its line, though the checksum is right."""
    forge_line(folder, 4, **changes)
    code, out, err = verdict(folder)
    assert (1, "") == (code, err)
    assert out.startswith("differs: ")
    assert f"matches.jsonl:4: {words}" in out or f"matches.jsonl:4: no record: {words}" in out
    assert 1 == out.count("\n")
    assert out.isascii()


def test_a_match_that_is_there_twice_is_found(folder, verdict):
    """The second line of it; that of another attempt is another playing."""
    path = folder / "matches.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines, lines[1]]))
    match, number = json.loads(lines[1])["id"], len(lines) + 1
    code, out, _ = verdict(folder)
    assert 1 == code
    assert f'matches.jsonl:{number}: attempt 0 of "{match}" is there a second time' in out
    forge_line(folder, number, attempt=1)
    assert 0 == verdict(folder)[0]


def test_a_log_without_a_record_is_found_and_one_that_lacks_some_is_not(folder, verdict):
    """Which matches there should be is not for this verifier, and it says so."""
    path = folder / "matches.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[1:]))
    code, out, _ = verdict(folder)
    assert (0, len(lines) - 1) == (code, int(out.split()[1]))
    assert out.endswith("; whether a match is missing is for `arena verify`\n")
    for rest in (b"", lines[0].rstrip(b"\n")):
        path.write_bytes(rest)
        code, out, _ = verdict(folder)
        assert 1 == code
        assert "matches.jsonl:0: it has no record, though the event is over" in out


def test_a_changed_card_is_found_though_everything_is_made_to_fit(folder):
    """A forger of the cards can put right all but what follows from the secret."""
    record = next(read_records(folder))
    forged = msgspec.structs.replace(record, deck="f" * 16)
    forge_line(folder, 1, deck=forged.deck, digest=forged.computed_digest())
    assert 1 == node(VERIFIER, folder)[0]
    assert 1 == first_verdict(folder)


def test_another_secret_setting_or_bot_breaks_the_commitment(folder, verdict):
    """The deals were fixed together with who plays and what."""
    event = json.loads((folder / "event.json").read_bytes())
    del event["check"]
    other = Entrant(id="bob@1", name="bob", version="1", hash="1" * 64)
    for changes in (
        {"secret": "00" * 32},
        {"settings": {**event["settings"], "deals": 4}},
        {"entrants": [event["entrants"][0], msgspec.to_builtins(other)]},
    ):
        (folder / "event.json").write_bytes(sealed({**event, **changes}))
        code, out, _ = verdict(folder)
        assert 1 == code
        assert "event.json:1: the commitment is" in out
        assert 1 == first_verdict(folder)


def test_a_flipped_byte_is_found_wherever_it_is(folder, verdict):
    """In any line; a torn last one is no record."""
    path = folder / "matches.jsonl"
    whole = path.read_bytes()
    for at in range(0, len(whole), len(whole) // 6):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        code, out, _ = verdict(folder)
        number = 1 + whole[:at].count(b"\n")
        assert 1 == code
        assert f"matches.jsonl:{number}: " in out
    path.write_bytes(whole[:-1])
    assert "agrees: 5 records" in verdict(folder)[1]


def test_what_cannot_be_told_is_not_called_a_difference(folder, tmp_path, verdict):
    """No folder, no secret yet, a game of the future, a pipe instead of a file: exit code 2."""
    event = json.loads((folder / "event.json").read_bytes())
    del event["check"]
    assert 2 == node(VERIFIER, tmp_path / "nothing")[0]
    for changes, words in (
        ({"secret": ""}, "not been revealed"),
        ({"format": 2}, "format 2"),
        ({"settings": {**event["settings"], "game": "constructor"}}, "not known here"),
    ):
        (folder / "event.json").write_bytes(sealed({**event, **changes}))
        code, out, err = verdict(folder)
        assert (2, "") == (code, out)
        assert words in err
    (folder / "event.json").unlink()
    (folder / "event.json").symlink_to("/dev/zero")
    code, _, err = verdict(folder)
    assert 2 == code
    assert "not a regular file" in err


# -------------------------------------------------------------------------- events of rule 2

NEW = {**STATED, "predictable": True}


@pytest.fixture
def new(play_event, a_fault, tmp_path):
    """A small event of today's rule, with a fault in it."""
    return play_event(tmp_path / "new", deals=3, faults={1: a_fault}, **NEW)


def test_both_agree_on_an_event_of_todays_rule(new, verdict):
    """Its deals in another order in each series, its lines spelled as they must be."""
    assert (0, "") == verdict(new)[::2]
    found = verify(new, jobs=1)
    assert (None, 2) == (found.difference, found.event.settings.rule)


PLAIN = {
    msgspec.inspect.DictType: "texts by name",
    msgspec.inspect.IntType: "whole number",
    msgspec.inspect.FloatType: "decimal",
    msgspec.inspect.BoolType: "true or false",
    msgspec.inspect.StrType: "text",
    msgspec.inspect.EnumType: "text",
}


def shape_of(info, *, sort):
    """The members of a type, as the second verifier lists them."""
    if isinstance(info, msgspec.inspect.UnionType):  # with what is unset
        info = next(some for some in info.types if type(some) in PLAIN)
    if isinstance(info, msgspec.inspect.VarTupleType):
        return [shape_of(info.item_type, sort=sort)]
    if not isinstance(info, msgspec.inspect.StructType):
        return PLAIN[type(info)]
    if info.cls is Settings:
        return "as it is"
    unset = {f.name for f in msgspec.structs.fields(info.cls) if f.default is msgspec.UNSET}
    named = [(f.name + "?" * (f.name in unset), shape_of(f.type, sort=sort)) for f in info.fields]
    return dict(sorted(named) if sort else named)


def test_it_knows_the_members_of_all_lines_in_their_order():
    """As the arena has them; a new one that isn't listed there would be called a difference."""
    script = "console.log(JSON.stringify([v.SHAPES.RECORD, v.SHAPES.EVENT, v.RULED]))"
    out = node("-e", f"const v = require('{ROOT}/protocol/verify_deals.js'); {script}")[1]
    record, event, ruled = json.loads(out)
    for kind, sort, listed in ((MatchRecord, False, record), (Event, True, event)):
        known = shape_of(msgspec.inspect.type_info(kind), sort=sort)
        assert json.dumps(known) == json.dumps(listed)
    later = {
        f.name
        for kind in (Settings, TrialSettings)
        for f in msgspec.structs.fields(kind)
        if f.default is msgspec.UNSET
    }
    assert later - {"derivation"} == set(ruled)


SPELLINGS = {
    "a member more": (rb'"attempt":0', rb'"attempt":0,"note":"x"'),
    "a member within": (rb'"decisions":', rb'"wise":1,"decisions":'),
    "one twice": (rb'"attempt":0', rb'"attempt":0,"attempt":0'),
    "another order": (rb'"deal":(\d+),"rotation":(\d)', rb'"rotation":\2,"deal":\1'),
    "a space": (rb'"attempt":0', rb'"attempt": 0'),
    "a number": (rb'"max_ms":0\.0', rb'"max_ms":0'),
    "digits": (rb'"ended":1\.0', rb'"ended":1.00'),
    "an exponent": (rb'"ended":1\.0', rb'"ended":1e0'),
    "an escape": (rb'"ann@1"', rb'"\\u0061nn@1"'),
    "a null": (rb'"luck":\[\]', rb'"luck":null'),
}


@pytest.mark.parametrize("change", SPELLINGS.values(), ids=SPELLINGS)
def test_neither_passes_over_what_stands_in_a_line(change, new, verdict):
    """Text that encoding the record would not give is a difference to both."""
    path = new / "matches.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    body = re.sub(rb',"check":"[0-9a-f]{8}"}\n$', b"}", lines[0])
    changed = re.sub(*change, body, count=1)
    assert changed != body
    path.write_bytes(b"".join([again(changed), *lines[1:]]))
    code, out, _ = verdict(new)
    assert 1 == code
    assert "matches.jsonl:1: " in out
    assert 1 == verify(new, jobs=1).difference.line


def again(body):
    """A line with a right checksum."""
    return body[:-1] + b',"check":"%08x"}\n' % zlib.crc32(body[:-1])


@pytest.mark.parametrize(
    ("old", "other"),
    [
        (rb'"finished":true', rb'"finished":true,"fun":1'),
        (rb'"finished":true', rb'"finished":false,"finished":true'),
        (rb'"name":"ann"', rb'"name":"ann","nick":"a"'),
        (rb'"predictable":true,"sandbox"', rb'"predictable":false,"sandbox"'),
        (rb'"predictable":true', rb'"predictable":false'),
        (rb'"mu":25\.0', rb'"mu":25'),
        (rb'"deals":3', rb'"deals":4,"deals":3'),
        (rb'"derivation":2,', rb""),
        (rb'"deals":3', rb'"deals": 3'),
    ],
)
def test_neither_passes_over_what_stands_in_the_event_file(old, other, new, verdict):
    """Nor a change of `predictable`, in the settings or beside them, nor a rule that is gone."""
    path = new / "event.json"
    body = re.sub(rb',"check":"[0-9a-f]{8}"}\n$', b"}", path.read_bytes())
    changed = re.sub(old, other, body)
    assert changed != body
    path.write_bytes(again(changed))
    assert 1 == verdict(new)[0]
    assert "event.json" == verify(new, jobs=1).difference.file


@pytest.mark.parametrize("rule", [1, 2])
def test_both_take_the_settings_as_they_are_spelled(rule, play_event, tmp_path, verdict):
    """25 for 25.0, committed to as such: they agree with it, and with each other."""
    folder = play_event(tmp_path / "event", deals=1, **(NEW if rule == 2 else {}))
    announced(folder, b'"mu":25.0', b'"mu":25')
    assert (0, "") == verdict(folder)[::2]
    assert verify(folder, jobs=1).difference is None


def test_an_event_file_has_one_line(new, folder, verdict):
    """To whoever reads it: of an old rule, too."""
    for place in (new, folder):
        path = place / "event.json"
        whole = path.read_bytes()
        for more in (b"\n", whole, b"x"):
            path.write_bytes(whole + more)
            assert "it is not exactly one line" in verdict(place)[1]
            assert "event.json" == verify(place, jobs=1).difference.file
        body = re.sub(rb',"check":"[0-9a-f]{8}"}\n$', b"}", whole)
        path.write_bytes(again(body.replace(b',"shard"', b',\n"shard"')))
        assert "it is not exactly one line" in verdict(place)[1]
        assert "more than one line" in verify(place, jobs=1).difference.text


def announced(folder, old, other):
    """Change the settings, and commit to them."""
    path = folder / "event.json"
    body = re.sub(rb',"check":"[0-9a-f]{8}"}\n$', b"}", path.read_bytes())
    changed = body.replace(old, other)
    assert changed != body
    event = read_event(folder)
    settings = msgspec.Raw(re.search(rb'"settings":(\{.*\}\}?),"shard"', changed)[1])
    bound = commitment(bytes.fromhex(event.secret), settings, event.entrants)
    path.write_bytes(again(changed.replace(event.commitment.encode(), bound.encode())))


@pytest.mark.parametrize(
    ("old", "other"),
    [
        (b'"deals":3,', b'"deals":3.0,'),
        (b'"derivation":2,', b'"derivation":2.0,'),
        (b'"derivation":2,', b'"derivation":"2",'),
        (b'"derivation":2,', b'"derivation":[2],'),
    ],
)
def test_both_know_settings_that_no_arena_states(old, other, new, verdict):
    """Although they are committed to: a number with a point, or none."""
    announced(new, old, other)
    assert 1 == verdict(new)[0]
    assert "event.json" == verify(new, jobs=1).difference.file


def test_neither_judges_another_number_of_holes(new, verdict):
    """Nor calls it a difference."""
    announced(new, b'"holes":9', b'"holes":6')
    assert (2, "") == verdict(new)[:2]
    with pytest.raises(UserError, match="over 6 holes"):
        verify(new, jobs=1)


def test_both_spell_small_numbers_alike(new, verdict):
    """With an exponent where an arena writes one."""
    path = new / "matches.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    body = re.sub(rb',"check":"[0-9a-f]{8}"}\n$', b"}", lines[0])
    for text in (b"1e-6", b"1.5e-6", b"0.00001", b"-0.0"):
        changed = re.sub(rb'"waited_ms":[0-9.]+', b'"waited_ms":' + text, body, count=1)
        path.write_bytes(b"".join([again(changed), *lines[1:]]))
        assert 0 == verdict(new)[0]
        assert verify(new, jobs=1).difference is None


def test_a_series_that_a_match_is_not_of_is_found(new, verdict):
    """Its number follows from the rotation, its deals begin at or before the match's."""
    series = next(read_records(new)).series
    for other in (series[:-1] + "7", series[:-4] + "9-s" + series[-1], "x" + series[1:], "nine"):
        forge_line(new, 1, series=other)
        assert 1 == verdict(new)[0]
        assert verify(new, jobs=1).difference.line == 1
