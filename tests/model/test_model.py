"""Data that others build on: what is written where nothing is stated, ranges, what follows."""

import msgspec
import pytest

from arena.model import (
    FAULTS_IN_A_ROW,
    HALF,
    Bot,
    Entrant,
    Event,
    Fault,
    FaultKind,
    HoleRecord,
    RaceSettings,
    SeatUse,
    Series,
    Settings,
    StartError,
    TrialSettings,
    UserError,
    fields,
    match_id,
    pairing_id,
)
from tests.records import match_record

SETTINGS = (
    b'{"game":"g","game_version":1,"format":"round-robin","seats":2,"deals":10,"tables":null,'
    b'"same_author":true,"series":25,"turn_cap":60,"playoff":false,"freeze":false,"beacon":"",'
    b'"rate_on":"results","evaluator":"","heroes":[],"racing":null,"trial":null,"limits":{'
    b'"move_ms":1000,"match_ms":60000,"start_ms":10000,"memory_mb":512,"tasks":64,"scratch_mb":16,'
    b'"line_bytes":65536,"stderr_bytes":65536},"rating":{"mu":25.0,"sigma":8.333333333333334,'
    b'"beta":4.166666666666667,"tau":0.0,"draw_probability":0.01,"forfeit_margin":123.0,'
    b'"event_sd":23.0,"error_rate":0.05,"borrowed":4,"least_spread":0.01}}'
)


def test_settings_that_state_nothing():
    """The text that an event is committed to: with a field more, old events would have another."""
    assert SETTINGS == msgspec.json.encode(Settings(game="g"))
    assert b'{"close":2.0,"budget":null,"growth":0.2,"looks":10}' == msgspec.json.encode(
        RaceSettings()
    )
    assert (
        b'{"new":"n","effect":2.0,"alpha":0.05,"beta":0.05,"budget":4000,"first":20,"step":20,'
        b'"looks":4}' == msgspec.json.encode(TrialSettings(new="n"))
    )


def test_an_event_that_states_nothing():
    """As event.json has it; a field that was added later is not in it."""
    entrant = Entrant(id="a@1", name="a", version="1", hash="h")
    written = (
        b'{"format":1,"settings":'
        + SETTINGS
        + b',"entrants":[{"id":"a@1","name":"a","version":"1",'
        b'"author":"","hash":"h"}],"commitment":"c","predictable":false,"secret":"","beacon":"",'
        b'"shard":"","sandbox":"","confinement":{"detail":"","memory":"","kept":[],"not_kept":[],'
        b'"gaps":[]},"machine":{"system":"","cpu":"","cores":0,"python":"","arena":""},'
        b'"machines":[],"not_run":[],"finished":false}'
    )
    event = Event(settings=Settings(game="g"), entrants=(entrant,), commitment="c")
    assert written == msgspec.json.encode(event)


def test_a_bot_that_states_nothing():
    """It is shown no folder, has no variables and no scratch space."""
    entrant = Entrant(id="a@1", name="a", version="1", hash="h")
    bot = Bot(entrant=entrant, root="/bot", run=("x",))
    assert ((), (), 0, "") == (bot.expose, bot.env, bot.scratch_mb, bot.source)


def test_a_record_that_states_nothing():
    """As a line of the log has it."""
    fault = Fault(kind=FaultKind.EXIT, seat=1, hole=2, turn=3, message="m")
    record = match_record(
        holes=(HoleRecord(order=(0, 1), moves="x"),), faults=(fault,), use=(SeatUse(),)
    )
    written = (
        b'{"id":"p-000000-0","series":"p-000000-s0","pairing":"p","deal":0,"rotation":0,'
        b'"seats":["a@1","b@1"],"deck":"d","holes":[{"order":[0,1],"moves":"x","scores":[]}],'
        b'"totals":[0,0],"places":[1,1],"faults":[{"kind":"exit","seat":1,"hole":2,"turn":3,'
        b'"message":"m","line":"","stderr":"","status":"","host":{"memory_mb":0.0,"cpu_ms":0.0,'
        b'"wall_ms":0.0,"charged_ms":0.0,"load":0.0}}],"digest":"","attempt":0,"use":[{'
        b'"decisions":0,"think_ms":0.0,"max_ms":0.0,"off_turn_ms":0.0,"waited_ms":0.0}],'
        b'"luck":[],"ended":0.0}'
    )
    assert written == msgspec.json.encode(record)


@pytest.mark.parametrize(
    ("kind", "least", "most", "step"),
    [
        ("Seat", 0, 7, 1),
        ("Score", -1_000_000, 1_000_000, 1),
        ("Count", 0, 1_000_000_000, 1),
        ("Amount", 0.0, 1e12, 0.5),
        ("Milliseconds", 1, 1_000_000_000, 1),
        ("Bytes", 0, 1 << 30, 1),
        ("Rating", -1e6, 1e6, 0.5),
        ("Width", 1e-3, 1e6, 5e-4),
    ],
)
def test_ranges_of_numbers(kind, least, most, step):
    """Both ends are in the range, and nothing beyond them is."""
    kind = getattr(fields, kind)
    for value in (least, most):
        assert value == msgspec.convert(value, kind)
    for value in (least - step, most + step):
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert(value, kind)


def test_lengths_of_texts():
    """A label has 200 characters at most, a text 10,000."""
    for kind, most in ((fields.Label, 200), (fields.Text, 10_000)):
        assert most == len(msgspec.convert("x" * most, kind))
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert("x" * (most + 1), kind)


def test_names_of_matches():
    """A pairing is named by its entrants in whatever order; ids sort as they are played."""
    assert pairing_id(["b@1", "a@1"]) == pairing_id(["a@1", "b@1"]) == "e27c4b238956"
    assert "p-000012-3" == match_id("p", 12, 3)
    record = match_record(seats=("b@1", "a@1"))
    assert ("b@1", "a@1") == Series(id="s", matches=(record,)).entrants


def test_settings_of_events_that_do_not_state_them():
    """As they were when the first events were played."""
    first = Settings(game="g")
    assert (1, FAULTS_IN_A_ROW, HALF) == (first.rule, first.withdrawn_after, first.annulled_below)
    stated = Settings(game="g", derivation=2, withdraw_after=5, annul_below=0.25)
    assert (2, 5, 0.25) == (stated.rule, stated.withdrawn_after, stated.annulled_below)


@pytest.mark.parametrize(
    ("stated", "looks", "mixture"),
    [
        ({}, 1, None),
        ({"options": {"looks": 7}}, 7, None),
        ({"options": {"looks": "many"}}, 1, None),
        ({"options": {"looks": 0}}, 1, None),
        ({"racing": RaceSettings(looks=8)}, 8, None),
        ({"racing": RaceSettings(mixture=2.5)}, 10, 2.5),
        ({"trial": TrialSettings(new="n", mixture=1.5), "options": {"looks": 7}}, 4, 1.5),
    ],
)
def test_looks_at_results(stated, looks, mixture):
    """Those of a trial or a race, else of the format's options, else one at the end."""
    settings = Settings(game="g", **stated)
    assert (looks, mixture) == (settings.looks, settings.mixture)


def test_exit_codes():
    """The user's mistake, and a bot that can't start."""
    assert (2, 3) == (UserError.exit_code, StartError.exit_code)
