"""What was written stays true: older rules, later settings, other spellings of the same."""

import contextlib
import json
import re
import shutil

import msgspec
import pytest
from click.testing import CliRunner
from msgspec import UNSET

from arena.cli import commands
from arena.deals import commitment
from arena.event.drift import refuse_drift
from arena.event.results import table_of
from arena.model import (
    DERIVATION,
    Confinement,
    Entrant,
    Event,
    Fault,
    FaultHost,
    HoleRecord,
    Limits,
    Machine,
    MatchRecord,
    NotRun,
    RaceSettings,
    RatingSettings,
    SeatUse,
    Settings,
    TrialSettings,
    UserError,
    canonical,
)
from arena.store import Private, Store, add_checksum, read_event, read_event_file
from arena.store.folder import write_atomically
from arena.verify.whole import verify

from .conftest import SECRET, lines, make, restate, rewrite

NINE = Settings(game="play-nine", deals=2, series=2, turn_cap=6)


@pytest.fixture(scope="module")
def first_rule(tmp_path_factory):
    """A finished event that names no rule."""
    return make(
        tmp_path_factory.mktemp("rules") / "first",
        NINE,
        ("ann", "bob", "cyd"),
        faults={"cyd@1": (7, "crash")},
        rule=1,
    )


@pytest.fixture
def old(first_rule, tmp_path):
    """A copy of it, to be tampered with."""
    return shutil.copytree(first_rule, tmp_path / "old")


def found(folder):
    """The first difference, in a line."""
    verdict = verify(folder, jobs=1)
    assert verdict.difference is not None
    return f"{verdict.difference.where}: {verdict.difference.text}"


def write_text(folder, change):
    """Change the text of event.json, and seal it again."""
    path = folder / "event.json"
    body = re.sub(rb',"check":"[0-9a-f]{8}"}\n$', b"}", path.read_bytes())
    path.write_bytes(add_checksum(change(body)) + b"\n")


def respell(folder, old, new):
    """Other bytes in the settings, committed to as they stand."""
    write_text(folder, lambda body: body.replace(old, new))
    bound = commitment(
        SECRET, read_event_file(folder).announced.settings, read_event(folder).entrants
    )
    known = read_event(folder).commitment
    write_text(folder, lambda body: body.replace(known.encode(), bound.encode()))


class Later(Settings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of a later arena, with one that has a plain default."""

    wind: int = 3


@pytest.mark.parametrize("kind", ["old", "folder"])
def test_a_field_that_settings_get_later_changes_no_event_before_it(kind, request, monkeypatch):
    """The commitment is over the text, whatever a later arena would make of it."""
    folder = request.getfixturevalue(kind)
    later = msgspec.defstruct("Event", [("settings", Later)], bases=(Event,), kw_only=True)
    monkeypatch.setattr("arena.store.folder.Event", later)
    assert 3 == read_event(folder).settings.wind
    verdict = verify(folder, jobs=1)
    assert (None, True) == (verdict.difference, verdict.proven)
    announced = bytes(read_event_file(folder).announced.settings)
    with Store.open(folder) as store:
        store.restate(msgspec.structs.replace(store.event, sandbox="none"))
    assert announced == bytes(read_event_file(folder).announced.settings)
    assert "none" == read_event(folder).sandbox


@pytest.mark.parametrize("kind", ["old", "folder"])
def test_a_number_may_be_spelled_otherwise_and_keeps_its_spelling(kind, request):
    """25 for 25.0: what was committed to is the text."""
    folder = request.getfixturevalue(kind)
    respell(folder, b'"mu":25.0', b'"mu":25')
    for path in folder.glob("table.*"):  # they show the commitment
        path.unlink()
    assert verify(folder, jobs=1).difference is None
    with Store.open(folder) as store:
        store.restate(msgspec.structs.replace(store.event, sandbox="none"))
    assert b'"mu":25,' in (folder / "event.json").read_bytes()
    assert verify(folder, jobs=1).difference is None
    write_text(folder, lambda body: body.replace(b'"mu":25,', b'"mu":25.0,'))
    assert "commitment" in found(folder)


def test_what_is_unset_is_not_there():
    """So no event before it has another commitment."""
    assert b"derivation" not in canonical(NINE)
    assert 1 == NINE.rule
    named = msgspec.structs.replace(NINE, derivation=2)
    assert (2, 2) == (named.rule, json.loads(canonical(named))["derivation"])


@pytest.mark.parametrize(
    ("name", "stated"),
    [
        ("predictable", {"predictable": False}),
        ("forfeits", {"trial": TrialSettings(new="x", forfeits=1.0)}),
    ],
)
def test_no_event_has_settings_of_a_rule_that_it_does_not_name(old, name, stated):
    """An event of today's that has lost its rule is none of an older arena's."""
    restate(old, settings=msgspec.structs.replace(NINE, **stated))
    assert f"its settings have {name}, and name no derivation" in found(old)
    with pytest.raises(UserError, match="name no derivation"):
        read_event(old)


def test_an_event_of_a_later_rule_is_none_of_ours_to_judge(folder):
    """Neither true nor false."""
    later = msgspec.structs.replace(read_event(folder).settings, derivation=DERIVATION + 1)
    restate(folder, settings=later)
    with pytest.raises(UserError, match="newer arena, whose tables follow rule 3"):
        verify(folder, jobs=1)


def test_whether_it_is_predictable_is_bound(folder):
    """In an event of today's rule; of an old one it is told that it isn't."""
    restate(folder, predictable=True)
    assert "whether it is predictable, its settings say otherwise" in found(folder)
    event = read_event_of(folder)
    event["settings"]["predictable"] = True
    write_text(folder, lambda _: canonical(event))
    assert "commitment" in found(folder)


def read_event_of(folder):
    """event.json as plain data."""
    event = json.loads((folder / "event.json").read_bytes())
    del event["check"]
    return event


LINES = {
    "a member more": (rb'"attempt":0', rb'"attempt":0,"note":"x"'),
    "a member within": (rb'"decisions":', rb'"wise":1,"decisions":'),
    "one twice": (rb'"attempt":0', rb'"attempt":0,"attempt":0'),
    "another order": (rb'"deal":(\d+),"rotation":(\d)', rb'"rotation":\2,"deal":\1'),
    "a space": (rb'"attempt":0', rb'"attempt": 0'),
    "a number": (rb'"max_ms":1\.0', rb'"max_ms":1'),
    "an escape": (rb'"ann@1"', rb'"\\u0061nn@1"'),
}


@pytest.mark.parametrize("change", LINES.values(), ids=LINES)
def test_a_line_is_what_encoding_its_record_gives(change, old, folder):
    """Nothing in a log of today's rule that nobody reads; older ones stay readable."""
    pattern, new = change
    for place in (old, folder):
        log = lines(place)
        body = re.sub(rb',"check":"[0-9a-f]{8}"}\n$', b"}", log[1])
        changed = re.sub(pattern, new, body, count=1)
        assert changed != body
        rewrite(place, [log[0], add_checksum(changed) + b"\n", *log[2:]])
    assert verify(old, jobs=1).difference is None
    assert re.match("matches.jsonl, line 2 .*spelling: expected ", found(folder))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"finished":true', b'"finished":false,"finished":true'),
        (b'"finished":true', b'"finished":true,"fun":1'),
        (b'"name":"ann"', b'"name":"ann","nickname":"a"'),
    ],
)
def test_an_event_file_is_what_encoding_its_event_gives(folder, old, new):
    """Text in it that nothing reads is a difference."""
    write_text(folder, lambda body: body.replace(old, new))
    assert found(folder).startswith("event.json: spelling: expected ")


TABLES = {
    "table.txt": r"(  )\d+\.\d\d(  +\d\.\d\d  )",
    "table.md": r"(\| +)\d+\.\d\d( +\| +\d\.\d\d )",
    "table.csv": r"(@1,,)\d+\.\d+(,)",
    "table.json": r'("ms": [0-9.]+,\n +"mu": )\d+\.\d+(,)',
}
"""Where a rating stands in each."""


@pytest.mark.parametrize("name", TABLES)
def test_tables_of_an_older_rule_are_compared_by_that_rule(name, old):
    """Byte for byte, so nobody gains by naming it."""
    assert verify(old, jobs=1).difference is None
    path = old / name
    path.write_text(re.sub(TABLES[name], r"\g<1>99.5\2", path.read_text(), count=1))
    assert f"{name}, line " in found(old)


@pytest.mark.parametrize(("kind", "rule"), [("old", 1), ("folder", DERIVATION)])
def test_the_report_says_what_an_older_rule_derives_otherwise(kind, rule, request):
    """And what that rule doesn't prove; it is no difference."""
    folder = request.getfixturevalue(kind)
    said = told("verify", folder)
    assert (rule == 1) == ("tables were derived by rule 1, and are true to it" in said)
    assert (rule == 1) == ("whether the secret came from a seed" in said)
    assert rule == json.loads(told("verify", folder, "--json"))["rule"]


def told(*words):
    """What a command prints, in one line."""
    done = CliRunner().invoke(commands, list(map(str, words)))
    assert done.exit_code == 0
    return " ".join(done.stdout.split())


def swapped(text):
    """The first two rows, one for the other."""
    parts = text.split("\n")
    at = next(n for n, line in enumerate(parts) if "@1" in line)
    parts[at : at + 2] = parts[at + 1], parts[at]
    return "\n".join(parts)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("table.txt", swapped),
        ("table.md", swapped),
        ("table.csv", swapped),
        ("table.txt", lambda text: text.replace("against the column", "against a column")),
        ("table.md", lambda text: text.replace("| bot", "| robot", 1)),
        ("table.csv", lambda text: text + "1,1,ann@1\n"),
        ("table.csv", lambda text: ""),
        ("table.csv", lambda text: text.replace("author,mu", "author,nu")),
        ("table.json", lambda text: text.replace('"seats": 2', '"seats": 3')),
        ("table.json", lambda text: text.replace('{\n  "duels"', '{\n "duels": [],\n "duels"')),
        ("table.json", lambda text: "[" * 100_000),
        ("table.json", lambda text: text.replace('"rows"', '"lines"')),
        ("table.md", lambda text: ""),
    ],
)
def test_whatever_stands_in_the_place_of_an_old_table_is_found(name, change, old):
    """An order, a matrix, a heading, a row too many, a member twice, or no table at all."""
    path = old / name
    changed = change(path.read_text())
    assert changed != path.read_text()
    path.write_text(changed)
    assert found(old).startswith(f"{name}, line ")


def test_when_a_bot_is_withdrawn_is_the_events_own_to_say(tmp_path):
    """As it states, whatever an arena takes for right later; without it three, and a half."""
    golf = Settings(game="four-card-golf", deals=4, series=4, turn_cap=2)
    found = {}
    for name, stated in (
        ("unset", {}),
        ("same", {"withdraw_after": 3, "annul_below": 0.5}),
        ("two", {"withdraw_after": 2}),
        ("never", {"withdraw_after": 1_000}),
        ("kept", {"annul_below": 0.0}),
    ):
        settings = msgspec.structs.replace(golf, **stated)
        folder = make(
            tmp_path / name, settings, ("ann", "bob"), faults={"bob@1": (2, "crash")}, last=4
        )
        verdict = verify(folder, jobs=1)
        assert verdict.difference is None
        withdrawn = table_of(folder).withdrawn
        found[name] = verdict.matches, [(out.after, out.annulled) for out in withdrawn]
    assert found["same"] == found["unset"]
    assert [True] == [annulled for _, annulled in found["unset"][1]]
    assert [True] == [annulled for _, annulled in found["two"][1]]
    assert found["two"][1] != found["unset"][1]
    assert (8, []) == found["never"]
    assert [(found["unset"][1][0][0], False)] == found["kept"][1]


def test_another_number_of_holes_is_for_another_arena(folder):
    """It is stated and committed to, so none takes nine for what it isn't."""
    settings = read_event(folder).settings
    restate(folder, settings=msgspec.structs.replace(settings, holes=9))
    assert "commitment" in found(folder)
    restate(folder, settings=msgspec.structs.replace(settings, holes=6))
    with pytest.raises(UserError, match="over 6 holes, this arena plays 9"):
        verify(folder, jobs=1)
    event = read_event(folder)
    with pytest.raises(UserError, match="holes: 6, this arena plays 9"):
        refuse_drift(folder, event, read_event_file(folder).announced, SECRET, None)


WRITTEN = (
    Settings,
    *(Limits, RatingSettings, RaceSettings, TrialSettings),
    Event,
    Entrant,
    Machine,
    Confinement,
)
WRITTEN += (NotRun, MatchRecord, HoleRecord, Fault, FaultHost, SeatUse)
FIRST = {
    "Settings": "evaluator format freeze game game_version heroes limits playoff racing rate_on "
    "beacon deals rating same_author seats series tables trial turn_cap",
    "Limits": "line_bytes match_ms memory_mb move_ms scratch_mb start_ms stderr_bytes tasks",
    "RatingSettings": "beta borrowed draw_probability error_rate event_sd forfeit_margin "
    "least_spread mu sigma tau",
    "RaceSettings": "budget close growth looks",
    "TrialSettings": "alpha beta budget effect first looks new step",
    "Event": "beacon commitment confinement entrants finished format machine machines not_run "
    "predictable sandbox secret settings shard",
    "Entrant": "author hash id name version",
    "Machine": "arena cores cpu python system",
    "Confinement": "detail gaps kept memory not_kept",
    "NotRun": "name reason",
    "MatchRecord": "attempt deal deck digest ended faults holes id luck pairing places rotation "
    "seats series totals use",
    "HoleRecord": "moves order scores",
    "Fault": "hole host kind line message seat status stderr turn",
    "FaultHost": "charged_ms cpu_ms load memory_mb wall_ms",
    "SeatUse": "decisions max_ms off_turn_ms think_ms waited_ms",
}


@pytest.mark.parametrize("kind", WRITTEN, ids=lambda kind: kind.__name__)
def test_what_came_to_the_files_later_is_absent_from_earlier_ones(kind):
    """A new field of what is written is UNSET by default, and no old one ever goes."""
    stated = {field.name for field in msgspec.structs.fields(kind) if field.default is not UNSET}
    assert set(FIRST[kind.__name__].split()) == stated


def test_the_machines_waits_have_a_range(old):
    """Like all that is read."""
    log = lines(old)
    body = re.sub(rb',"check":"[0-9a-f]{8}"}\n$', b"}", log[0])
    changed = body.replace(b'"waited_ms":0.0', b'"waited_ms":-1000000000.0', 1)
    rewrite(old, [add_checksum(changed) + b"\n", *log[1:]])
    assert "waited_ms" in found(old)


def begun_again(folder):
    """A finished event, as it was before its end was told."""
    event = read_event(folder)
    private = Private(secret=event.secret, sources={}, cache="")
    write_atomically(folder / "private.json", canonical(private), mode=0o600)
    restated = {b'"finished":true': b'"finished":false', event.secret.encode(): b""}
    for old, new in restated.items():
        write_text(folder, lambda body, old=old, new=new: body.replace(old, new))
    write_text(folder, lambda body: body.replace(b'"sandbox":""', b'"sandbox":"none"'))


def command(*words):
    """Run one, to its end."""
    with contextlib.suppress(SystemExit):
        commands.main([*map(str, words)], standalone_mode=False)


@pytest.mark.parametrize("kind", ["old", "folder"])
def test_resume_and_epochs_keep_to_the_text(kind, request):
    """What this arena would write otherwise is neither drift nor mended."""
    folder = request.getfixturevalue(kind)
    respell(folder, b'"mu":25.0', b'"mu":25')
    text = bytes(read_event_file(folder).announced.settings)
    begun_again(folder)
    command("resume", folder, "--quiet")
    event = read_event(folder)
    assert (True, SECRET.hex()) == (event.finished, event.secret)
    assert text == bytes(read_event_file(folder).announced.settings)
    assert verify(folder, jobs=1).difference is None
    refuse_drift(
        folder, event, read_event_file(folder).announced, SECRET, None
    )  # as --into asks before it adds an epoch


@pytest.mark.parametrize("rule", [1, DERIVATION])
def test_merge_keeps_to_the_text(rule, tmp_path):
    """Of shards that were announced in other words."""
    names = ("ann", "bob", "cyd")
    shards = [make(tmp_path / f"{n}", NINE, names, shard=f"{n}/2", rule=rule) for n in (1, 2)]
    for shard in shards:
        respell(shard, b'"mu":25.0', b'"mu":25')
    command("merge", *shards, "--out", tmp_path / "whole")
    assert b'"mu":25,' in (tmp_path / "whole" / "event.json").read_bytes()
    verdict = verify(tmp_path / "whole", jobs=1)
    assert (None, 12) == (verdict.difference, verdict.matches)
