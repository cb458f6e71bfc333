"""What is taken for an arena's own when it is read from a folder."""

import msgspec
import pytest
from msgspec import UNSET

from arena.model import (
    DERIVATION,
    STATED,
    Entrant,
    Event,
    Fault,
    FaultKind,
    HoleRecord,
    MatchRecord,
    SeatUse,
    Settings,
    TrialSettings,
)
from arena.validate import event_fault, record_fault
from tests.records import match_record

EVENT = Event(
    settings=Settings(game="play-nine"),
    entrants=tuple(
        Entrant(id=f"{name}@1", name=name, version="1", hash="0" * 64) for name in ("ann", "bob")
    ),
    commitment="0" * 64,
)
RECORD = match_record(
    seats=("ann@1", "bob@1"),
    holes=(HoleRecord(order=(0, 1), moves="draw", scores=(1, 2)), HoleRecord(order=(), moves="")),
    totals=(1, 2),
    faults=(Fault(kind=FaultKind.EXIT, seat=1, hole=2, turn=9, message="left"),),
    use=(SeatUse(), SeatUse()),
)
IDS = frozenset({"ann@1", "bob@1"})


def replaced(struct, **changes):
    """The same with other values."""
    return msgspec.structs.replace(struct, **changes)


def test_what_an_arena_writes_is_taken():
    """Before and after the secret is revealed; a record with and without what is optional."""
    assert event_fault(EVENT) == ""
    assert event_fault(replaced(EVENT, secret="ab" * 32)) == ""
    assert record_fault(RECORD, IDS) == ""
    assert record_fault(replaced(RECORD, use=(), faults=(), holes=()), IDS) == ""


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"id": "../../x"}, "its id is not its name@version"),
        ({"id": "../x@1", "name": "../x"}, "its name: it may have"),
        ({"id": "bob@\x1b", "version": "\x1b"}, "its version: it may have"),
        ({"id": "e\u0301@1", "name": "e\u0301"}, "normal form"),
        ({"hash": "../../../home"}, "its hash"),
        ({"id": "ann@1", "name": "ann"}, "ann@1 is there twice"),
    ],
)
def test_an_entrant_that_could_be_no_file_name_is_refused(changes, words):
    """Ids are labels, hashes are no paths; the entrant is named by its place."""
    other = replaced(EVENT.entrants[1], **changes)
    wrong = event_fault(replaced(EVENT, entrants=(EVENT.entrants[0], other)))
    assert wrong.startswith("entrant 2: ")
    assert words in wrong
    assert wrong.isprintable()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"commitment": "not this"}, "its commitment is no hash"),
        ({"secret": "ab"}, "its secret is not 64 hex digits"),
        ({"secret": "zz" * 32}, "its secret is not 64 hex digits"),
    ],
)
def test_hashes_and_secrets_are_what_they_should_be(changes, words):
    """Nothing else is decoded as one."""
    assert words == event_fault(replaced(EVENT, **changes))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"sigma": 4_000.0}, ""),
        ({"sigma": 4_001.0}, "sigma 4001 is more than 1000 times beta 4"),
        ({"sigma": 400.0, "least_spread": 0.01}, ""),
        (
            {"sigma": 401.0, "least_spread": 0.01},
            "sigma 401 is more than 10000 times beta times least_spread, 0.04",
        ),
        ({"tau": 8.0}, ""),
        ({"tau": 9.0}, "tau 9 is not between 0 and sigma 8"),
        ({"tau": -1.0}, "tau -1 is not between 0 and sigma 8"),
    ],
)
def test_ratings_can_be_computed_with_an_event_s_constants(changes, words):
    """What the fit has digits for, to the very number."""
    rating = replaced(EVENT.settings.rating, sigma=8.0, beta=4.0, least_spread=1.0)
    settings = replaced(EVENT.settings, rating=replaced(rating, **changes))
    expected = f"its rating: {words}" if words else ""
    assert expected == event_fault(replaced(EVENT, settings=settings))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"seats": ("ann@1", "eve@1")}, "different entrants"),
        ({"seats": ("ann@1", "ann@1")}, "different entrants"),
        ({"totals": (1,)}, "a total and a place"),
        ({"places": (1, 2, 3)}, "a total and a place"),
        ({"use": (SeatUse(),)}, "its use"),
        ({"holes": (HoleRecord(order=(0, 1), moves="", scores=(1,)),)}, "a score"),
        ({"faults": (replaced(RECORD.faults[0], seat=2),)}, "seat 2, which is not there"),
    ],
)
def test_a_record_that_has_not_one_value_a_seat_is_refused(changes, words):
    """A reader of the record may index it by seat."""
    assert words in record_fault(replaced(RECORD, **changes), IDS)


@pytest.mark.parametrize(
    "changes",
    [
        {"deal": 10**30},
        {"deal": -1},
        {"rotation": 8},
        {"places": (0, 1)},
        {"totals": (10**9, 0)},
        {"seats": ["a"] * 9},
        {"holes": [msgspec.to_builtins(RECORD.holes[0])] * 19},
        {"attempt": -1},
        {"ended": 1e300},
        {"id": "x" * 201},
    ],
)
def test_a_record_out_of_range_is_not_decoded(changes):
    """The ranges of the model hold for whatever is read."""
    value = {**msgspec.to_builtins(RECORD), **changes}
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(msgspec.json.encode(value), type=MatchRecord)


def test_an_event_is_of_the_rule_that_it_names():
    """It has no setting of a later one, and says of `predictable` what its settings say."""
    new = replaced(EVENT.settings, **STATED, predictable=False)
    assert (1, DERIVATION) == (EVENT.settings.rule, new.rule)
    assert "" == event_fault(replaced(EVENT, settings=new))
    assert "predictable, its settings" in event_fault(
        replaced(EVENT, settings=new, predictable=True)
    )
    unsaid = replaced(new, predictable=UNSET)
    assert "predictable, its settings" in event_fault(replaced(EVENT, settings=unsaid))
    for name in {*STATED, "predictable"} - {"derivation"}:
        one = replaced(EVENT.settings, **{name: getattr(new, name)})
        assert f"its settings have {name}," in event_fault(replaced(EVENT, settings=one))


def test_a_trial_of_the_first_rule_is_decided_as_it_was():
    """What a later rule has added can't be claimed by an event that names none."""
    for extra, words in ((({}, "")), ({"skew": 3.0}, "its settings have skew")):
        settings = replaced(EVENT.settings, trial=TrialSettings(new="bob@1", **extra))
        assert words in event_fault(replaced(EVENT, settings=settings))
        assert bool(words) == bool(event_fault(replaced(EVENT, settings=settings)))


def test_a_record_names_the_bots_that_forfeited():
    """Each once, by its seat."""
    assert {"bob@1"} == RECORD.fallen
