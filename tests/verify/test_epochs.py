"""Bots that came to an event when it was over: what they played is rated and verified with it."""

import json
import shutil

import msgspec
import pytest
from click.testing import CliRunner
from msgspec import UNSET

from arena.api.proof import verify_results
from arena.cli import commands
from arena.deals import secret_from_seed
from arena.event.epochs import (
    epoch_fault,
    epochs_of,
    event_of_epoch,
    field_before,
    next_epoch,
    settings_of_epoch,
)
from arena.event.rerate import rate_events
from arena.event.results import table_of, withdrawn_in
from arena.model import RaceSettings, Settings, UserError
from arena.store import read_event
from arena.terminal.verify_report import show_verification
from arena.verify.whole import verify

from .conftest import field, forge, make, restate

GOLF = Settings(game="four-card-golf", deals=2, series=2, turn_cap=2)


def verify_folder(folder, *, as_json):
    """The exit code of `arena verify`."""
    return show_verification(verify_results(folder, jobs=1), as_json=as_json)


def epoch(folder, old, new, settings=GOLF, **options):
    """The next epoch of an event, played by bots of these names."""
    heroes = [f"{name}@1" for name in new]
    path = next_epoch(folder)
    secret = secret_from_seed(path.name)
    return make(path, settings_of_epoch(settings, heroes), (*old, *new), secret=secret, **options)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """An event to which bots came twice."""
    folder = make(tmp_path_factory.mktemp("epochs") / "event", GOLF, ("ann", "bob"))
    epoch(folder, ("ann", "bob"), ("cyd", "dan"))
    epoch(folder, ("ann", "bob", "cyd", "dan"), ("eve",), faults={"eve@1": (3, "crash")})
    return folder


@pytest.fixture
def folder(made, tmp_path):
    """A copy of it, to be changed."""
    return shutil.copytree(made, tmp_path / "event")


def arena(*words):
    """Run a command of the arena's in this process."""
    return CliRunner().invoke(commands, [str(word) for word in words])


# ------------------------------------------------------------------------------ where they are


def test_epochs_come_in_their_order(tmp_path):
    """By number, not by letter; what is no results folder is none, nor is a link to one."""
    for name in ("epoch-10", "epoch-2", "epoch-02", "epoch-x", "epoch-3"):
        (tmp_path / name).mkdir()
        if name != "epoch-3":
            (tmp_path / name / "event.json").touch()
    (tmp_path / "epoch-4").symlink_to(tmp_path / "epoch-2")
    assert ["epoch-2", "epoch-10"] == [path.name for path in epochs_of(tmp_path)]
    assert "epoch-11" == next_epoch(tmp_path).name
    assert "epoch-1" == next_epoch(tmp_path / "epoch-3").name
    assert [] == epochs_of(tmp_path / "nowhere")


def test_an_epoch_knows_its_event(tmp_path):
    """By its name and where it lies."""
    (tmp_path / "epoch-1").mkdir()
    assert event_of_epoch(tmp_path / "epoch-1") is None
    (tmp_path / "event.json").touch()
    assert tmp_path == event_of_epoch(tmp_path / "epoch-1")
    assert event_of_epoch(tmp_path / "friday") is None


def test_an_epoch_has_the_settings_of_its_event():
    """But for what belongs to its format."""
    settings = msgspec.structs.replace(GOLF, format="racing", racing=RaceSettings(), tables=None)
    made = settings_of_epoch(settings, ["b", "a"])
    assert ("gauntlet", ("a", "b"), None) == (made.format, made.heroes, made.racing)
    assert (2, False) == (made.derivation, made.predictable)
    of_the_event = {"format": "racing", "heroes": (), "racing": RaceSettings()}
    of_the_event |= dict.fromkeys(("derivation", "deal_order", "predictable", "withdrawn"), UNSET)
    assert settings == msgspec.structs.replace(made, **of_the_event)


def test_only_new_pairings_are_played(made):
    """New bots against all others and each other, each deal in both rotations."""
    assert [4, 20, 16] == [
        table_of(path).matches for path in (made, made / "epoch-1", made / "epoch-2")
    ]


# ---------------------------------------------------------------------------- what they make


def test_the_table_has_all_pairings(made):
    """As of one event of all bots: every pair has met on as many deals."""
    found = rate_events([made])
    assert {row.entrant: (row.deals, row.matches) for row in found.rows} == {
        f"{name}@1": (8, 16) for name in ("ann", "bob", "cyd", "dan", "eve")
    }
    assert 3 == len(found.sources)
    assert 20 == len(found.duels)
    told = arena("table", made, "--format", "md").output
    assert told == arena("rate", made, "--format", "md").output
    assert told == arena("rate", made / "epoch-2", made, "--format", "md").output
    assert table_of(made / "epoch-1") == rate_events([made / "epoch-1"])


def test_all_of_it_is_verified(made, capsys):
    """Each epoch by its own commitment."""
    assert 0 == verify_folder(made, as_json=False)
    out = capsys.readouterr().out
    for path in (made, made / "epoch-1", made / "epoch-2"):
        assert read_event(path).commitment in out
    assert 3 == out.count("verified: ")
    assert 0 == verify_folder(made, as_json=True)
    content = json.loads(capsys.readouterr().out)
    assert content["verified"]
    assert [20, 16] == [each["matches"] for each in content["epochs"]]


def test_a_forgery_in_an_epoch_is_found(folder, capsys):
    """Told as in the event itself, with the same exit code."""
    forge(folder / "epoch-2", 3, lambda old: msgspec.structs.replace(old, totals=(0, 1)))
    assert 5 == verify_folder(folder, as_json=False)
    assert "epoch-2 is not as it should be" in capsys.readouterr().err
    assert 5 == verify_folder(folder, as_json=True)
    assert not json.loads(capsys.readouterr().out)["verified"]


def test_what_follows_a_false_event_is_not_judged(folder, capsys):
    """An event.json that can't be believed says nothing of later ones."""
    restate(folder / "epoch-1", commitment="0" * 64)
    assert 5 == verify_folder(folder, as_json=False)
    assert "epoch-2" not in "".join(capsys.readouterr())
    restate(folder, commitment="0" * 64)
    assert 5 == verify_folder(folder, as_json=False)
    assert "epoch-1" not in "".join(capsys.readouterr())


def test_an_epoch_that_is_gone_is_missed(folder, capsys):
    """By those after it, in which its bots are; in the table and by the verifier."""
    shutil.rmtree(folder / "epoch-1")
    with pytest.raises(UserError, match="no epoch of the event .*cyd@1 was not in the event"):
        rate_events([folder])
    assert verify(folder, jobs=1).difference is None
    assert 5 == verify_folder(folder, as_json=False)
    assert "expected an epoch of the event" in " ".join(capsys.readouterr().err.split())


def test_an_unfinished_epoch_is_told_as_such(made, tmp_path, capsys):
    """Its matches count as far as they go."""
    folder = make(tmp_path / "event", GOLF, ("ann", "bob"))
    epoch(folder, ("ann", "bob"), ("cyd",), stop_after=3)
    found = rate_events([folder])
    assert not found.event.finished
    assert 4 < found.matches < 12
    (folder / "epoch-1" / "private.json").unlink()
    with pytest.raises(UserError, match="epoch-1: the secret has not been revealed yet"):
        verify_folder(folder, as_json=False)
    assert 0 == capsys.readouterr().err.count("not as it should be")


# --------------------------------------------------------------------------------- what is one


def test_whatever_is_no_epoch_is_told(made):
    """Other settings, other bots, other contents, nobody new."""
    base, first = read_event(made), read_event(made / "epoch-1")
    assert ["ann@1", "bob@1"] == [entrant.id for entrant in field_before([base])]
    assert "" == epoch_fault([base], first)

    def fault(entrants=first.entrants, heroes=("cyd@1", "dan@1"), **settings):
        changed = msgspec.structs.replace(first.settings, heroes=heroes, **settings)
        event = msgspec.structs.replace(first, settings=changed, entrants=entrants)
        return epoch_fault([base], event)

    assert "its deals is not that of the event" == fault(deals=3)
    assert "its format is not that of the event" == fault(format="round-robin")
    assert "ann@1 was in the event before it" == fault(heroes=("ann@1", "cyd@1", "dan@1"))
    assert "bob@1 was in the event before it, and is not in it" == fault(field("ann", "cyd", "dan"))
    assert "dan@1 was not in the event before it" == fault(heroes=("cyd@1",))
    ann, *rest = first.entrants
    other = msgspec.structs.replace(ann, hash="f" * 64)
    assert "ann@1 has another content in it" == fault((other, *rest))


# ------------------------------------------------------------------------------- the withdrawn

LONGER = Settings(game="play-nine", deals=6, series=3, turn_cap=6)


def withdrawing(folder, **options):
    """An event in which one bot fails in all its matches, and has its results annulled."""
    faults = {"cyd@1": (7, "crash")}
    return make(folder, LONGER, ("ann", "bob", "cyd"), faults=faults, last=6, **options)


def test_who_was_withdrawn_takes_no_part_in_what_is_added(tmp_path, capsys):
    """Its settings say so, under the commitment; the table keeps what was found before."""
    folder = withdrawing(tmp_path / "event")
    assert {"cyd@1"} == withdrawn_in(folder)
    settings = settings_of_epoch(LONGER, ["dan@1"], withdrawn=["cyd@1"])
    make(folder / "epoch-1", settings, ("ann", "bob", "dan"), secret=secret_from_seed("1"))
    assert 0 == verify_folder(folder, as_json=False)
    capsys.readouterr()
    rows = {row.entrant: row for row in rate_events([folder]).rows}
    assert (None, 0, "annulled") == (
        rows["cyd@1"].rank,
        rows["cyd@1"].matches,
        rows["cyd@1"].note,
    )
    assert (12, 24) == (rows["dan@1"].deals, rows["dan@1"].matches)
    # The next one leaves it out, too: it is known from the event itself.
    settings = settings_of_epoch(LONGER, ["eve@1"], withdrawn=["cyd@1"])
    make(folder / "epoch-2", settings, ("ann", "bob", "dan", "eve"), secret=secret_from_seed("2"))
    assert 0 == verify_folder(folder, as_json=False)


@pytest.mark.parametrize(
    ("names", "withdrawn", "told"),
    [
        (("ann", "bob", "cyd", "dan"), (), "cyd@1 was withdrawn before it, and is not left out"),
        (("ann", "dan"), ("cyd@1", "bob@1"), "bob@1 was not withdrawn before it, and is left out"),
    ],
)
def test_nobody_is_left_out_or_kept_against_the_log(tmp_path, capsys, names, withdrawn, told):
    """What an epoch says of who was withdrawn is held against the logs before it."""
    folder = withdrawing(tmp_path / "event")
    settings = settings_of_epoch(LONGER, ["dan@1"], withdrawn=withdrawn)
    make(folder / "epoch-1", settings, names, secret=secret_from_seed("1"))
    assert 5 == verify_folder(folder, as_json=False)
    assert told in " ".join(capsys.readouterr().err.split())


def test_an_epoch_that_contradicts_itself_is_none(tmp_path):
    """A bot that is left out is one of those before it, and isn't there."""
    base = read_event(withdrawing(tmp_path / "event"))

    def fault(names, withdrawn):
        settings = settings_of_epoch(LONGER, ["dan@1"], withdrawn=withdrawn)
        event = msgspec.structs.replace(base, settings=settings, entrants=field(*names))
        return epoch_fault([base], event)

    assert "" == fault(("ann", "bob", "dan"), ["cyd@1"])
    assert "cyd@1 was in the event before it, and is not in it" == fault(("ann", "bob", "dan"), [])
    assert fault(("ann", "bob", "cyd", "dan"), ["cyd@1"]).startswith("cyd@1 was withdrawn before")
    assert fault(("ann", "bob", "dan"), ["cyd@1", "fay@1"]).startswith("fay@1 is left out of it")


def test_only_former_versions_of_newcomers_are_retired(tmp_path):
    """Of one author and name; once retired they stay so, unless they were withdrawn."""
    (ann, bob, cyd) = field("ann", "bob", "cyd")
    base = read_event(make(tmp_path / "event", GOLF, (ann, bob, cyd)))
    ann_2, ann_3, dan = (
        msgspec.structs.replace(ann, id=f"{name}@{version}", name=name, version=version, hash=hash_)
        for name, version, hash_ in (
            ("ann", "2", "2" * 64),
            ("ann", "3", "3" * 64),
            ("dan", "1", "d" * 64),
        )
    )
    theirs = msgspec.structs.replace(ann_2, author="another")

    def fault(heroes, entrants, retired, before=(), withdrawn=()):
        settings = settings_of_epoch(GOLF, [hero.id for hero in heroes], withdrawn, retired)
        epoch = msgspec.structs.replace(base, settings=settings, entrants=tuple(entrants))
        return epoch, epoch_fault([base, *before], epoch)

    first, why = fault([ann_2], [ann_2, bob, cyd], ["ann@1"])
    assert "" == why
    assert "" == fault([dan], [ann_2, bob, cyd, dan], ["ann@1"], [first])[1]
    assert "" == fault([ann_3], [ann_3, bob, cyd], ["ann@1", "ann@2"], [first])[1]
    assert "" == fault([dan], [ann_2, bob, cyd, dan], [], [first], ["ann@1"])[1]
    for words, told in (
        (
            ([dan], [ann, ann_2, bob, cyd, dan], [], [first]),
            "ann@1 was retired before it, and is not left out",
        ),
        (
            ([ann_2], [ann_2, bob], ["ann@1", "cyd@1"]),
            "cyd@1 is retired in it, and no newcomer is a",
        ),
        (([theirs], [theirs, bob, cyd], ["ann@1"]), "ann@1 is retired in it, and no newcomer"),
        (
            ([ann_2], [ann, ann_2, bob, cyd], ["ann@1"]),
            "ann@1 is retired in it, as its settings say",
        ),
        (
            ([ann_2], [ann_2, bob, cyd], ["ann@1", "ann@0"]),
            "ann@0 is retired in it, and no newcomer",
        ),
    ):
        assert fault(*words)[1].startswith(told)


def test_what_the_withdrawn_played_in_an_old_epoch_counts_for_nobody(tmp_path):
    """An earlier arena brought it back: newcomers won by its forfeits what nobody else had won."""
    folder = withdrawing(tmp_path / "event", rule=1)
    path = folder / "epoch-1"
    settings = msgspec.structs.replace(LONGER, format="gauntlet", heroes=("dan@1",))
    make(path, settings, ("ann", "bob", "cyd", "dan"), secret=secret_from_seed("1"), rule=1)
    assert 0 == verify_folder(folder, as_json=False)
    for folders in ([folder], [path, folder], [folder, path]):
        found = rate_events(folders)
        rows = {row.entrant: row for row in found.rows}
        assert (None, "annulled") == (rows["cyd@1"].rank, rows["cyd@1"].note)
        assert (12, 24) == (rows["dan@1"].deals, rows["dan@1"].matches)
        assert not [duel for duel in found.duels if "cyd@1" in (duel.row, duel.column)]
        assert sorted(s.event.commitment for s in found.sources) == [
            source.event.commitment for source in found.sources
        ]
        assert found.withdrawn == table_of(folder).withdrawn
    alone = {row.entrant: row for row in rate_events([path]).rows}
    assert alone["cyd@1"].rank is not None
