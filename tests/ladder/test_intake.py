"""Submissions: from the inbox to the chain, each once, and with a report that helps."""

import json
import os
import shutil
import zipfile

import pytest

import arena as library
from arena.ladder.chain import CHAIN
from arena.ladder.folder import held_ladder

pytestmark = pytest.mark.process
OLD = 1_700_000_000


def packed(folder, place):
    """A folder as a zip that has long been complete."""
    with zipfile.ZipFile(place, "w") as out:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                out.write(path, path.relative_to(folder.parent))
    os.utime(place, (OLD, OLD))
    return place


def take_in(ladder, **how):
    return {
        each.author or each.name: each
        for each in library.ladder_intake(ladder, sandbox="none", **how)
    }


def kinds(ladder):
    return [json.loads(line)["what"] for line in (ladder / CHAIN).read_text().splitlines()]


@pytest.fixture(scope="module")
def taken(bot, tmp_path_factory):
    """A ladder with a bot that is accepted, and some that can't be."""
    from .conftest import begin

    root = tmp_path_factory.mktemp("taken")
    ladder = begin(root / "ladder")
    inbox = ladder / "inbox"
    packed(bot(root / "bot"), inbox / "Ada Lovelace_17_assignsubmission_file_.zip")
    broken = bot(root / "broken")
    (broken / "bot.py").write_text("print(")
    packed(broken, inbox / "bob.zip")
    (inbox / "cyd.zip").write_bytes(b"no archive")
    empty = root / "empty"
    empty.mkdir()
    (empty / "notes.txt").write_text("I have no bot")
    packed(empty, inbox / "dee.zip")
    for path in inbox.iterdir():
        os.utime(path, (OLD, OLD))
    return ladder, take_in(ladder)


def test_what_runs_is_accepted_and_what_does_not_is_told(taken):
    """The author is who it lay under; each refusal is a line, and the report has the rule."""
    ladder, found = taken
    assert found["ada-lovelace"].entrant.id == "ada-lovelace@1"
    assert found["bob"].why == "it died of an exception"
    assert "is no archive, though its name says so" in found["cyd"].why
    assert found["dee"].entrant is None
    assert str(ladder) not in found["dee"].why
    assert kinds(ladder) == ["founded", "accepted", "rejected", "rejected", "rejected"]
    report = json.loads((ladder / "feedback" / "bob" / "submission.json").read_text())
    assert "SyntaxError" in report["findings"][0]["stderr"]
    assert report["received"] > "2026"  # the time of the machine, not the one that was set
    assert json.loads((ladder / "feedback/ada-lovelace/submission.json").read_text())["accepted"]


def test_each_is_handled_once(taken):
    """What lies there is not new, whether it was accepted or refused; who was refused may hand the
    same in again, since a busy machine may have been the reason.
    """
    ladder = taken[0]
    before = (ladder / CHAIN).read_bytes()
    assert take_in(ladder) == {}
    assert (ladder / CHAIN).read_bytes() == before
    (ladder / "inbox" / "bob.zip").touch()
    os.utime(ladder / "inbox" / "bob.zip", (OLD, OLD))
    assert take_in(ladder)["bob"].why == "it died of an exception"
    os.utime(next((ladder / "inbox").glob("Ada*")), (OLD, OLD))
    assert take_in(ladder) == {}


def test_a_copy_of_another_s_is_noted(taken, tmp_path):
    """It is accepted; the organiser is told."""
    ladder = shutil.copytree(taken[0], tmp_path / "ladder")
    first = next((ladder / "inbox").glob("Ada*"))
    shutil.copy2(first, ladder / "inbox" / "eve.zip")
    assert take_in(ladder)["eve"].same_as == ("ada-lovelace@1",)


def test_a_submission_by_command(ladder, bot, tmp_path, accept):
    """In the place of the author's last one; a name that would be a path is refused."""
    library.ladder_submit(ladder, "Grace Hopper", bot(tmp_path / "one"))
    assert take_in(ladder)["grace-hopper"].entrant.id == "grace-hopper@1"
    library.ladder_submit(ladder, "Grace Hopper", bot(tmp_path / "one"))
    assert take_in(ladder) == {}
    library.ladder_submit(ladder, "Grace Hopper", bot(tmp_path / "two", skill=0.5))
    assert take_in(ladder)["grace-hopper"].entrant.id == "grace-hopper@2"
    assert library.ladder_status(ladder).active == ("grace-hopper@2",)
    with pytest.raises(library.UserError):
        library.ladder_submit(ladder, "../x", bot(tmp_path / "one"))


@pytest.mark.parametrize(
    ("rules", "why", "kind"),
    [
        ("freeze = 2020-01-01T00:00:00Z", "the ladder is frozen", "rejected"),
        ("intake.listed = true", "is not in authors.csv", "rejected"),
        ("intake.per-day = 1", "1 submissions in 24 hours are the most", "founded"),
    ],
)
def test_who_comes_too_late_or_too_often_or_is_unknown(ladder, bot, tmp_path, rules, why, kind):
    text = (ladder / "ladder.toml").read_text()
    (ladder / "ladder.toml").write_text(rules + "\n" + text)
    (ladder / "authors.csv").write_text("id;name;group\nann;Ann;1\n")
    if kind == "founded":
        (ladder / "inbox" / "ann.zip").write_bytes(b"no archive")
        take_in(ladder)
        (ladder / "inbox" / "ann.zip").unlink()
    library.ladder_submit(ladder, "ann" if kind == "founded" else "bob", bot(tmp_path / "bot"))
    (found,) = take_in(ladder).values()
    assert why in found.why
    assert found.waits is (kind == "founded")
    assert kinds(ladder)[-1] == "rejected"


def test_pseudonyms_tell_nothing(tmp_path, bot):
    """In the chain, in versions and in what is played; the organiser's file leads back."""
    ladder = tmp_path / "ladder"
    ladder.mkdir()
    (ladder / "ladder.toml").write_text(
        'name = "secret"\nanonymous = true\n[games.four-card-golf]\n'
    )
    library.ladder_init(ladder)
    library.ladder_submit(ladder, "Grace Hopper", bot(tmp_path / "bot"))
    (handle,) = take_in(ladder)
    assert handle.startswith("bot-")
    assert "race" not in (ladder / CHAIN).read_text().replace("trace", "")
    sheet = library.ladder_grades(ladder).splitlines()
    assert sheet[1].startswith(f"Grace Hopper,,,{handle},1,1,{handle}@1,")


def test_an_export_of_a_course_system(ladder, bot, tmp_path):
    """One archive with all authors; the next one replaces what changed."""
    export = tmp_path / "all.zip"
    with zipfile.ZipFile(export, "w") as out:
        for number, name in enumerate(("Ann Lee", "Bob Ray")):
            source = bot(tmp_path / name, skill=0.1 * number) / "bot.py"
            out.write(source, f"{name}_{number}_assignsubmission_file_/bot.py")
    found = take_in(ladder, export=export)
    assert {each.entrant.id for each in found.values()} == {"ann-lee@1", "bob-ray@1"}
    assert take_in(ladder, export=export) == {}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('name = "x"\n', "missing required field `games`"),
        ('name = "x"\nmatchs = 3\n[games.play-nine]\n', ":2: there is no setting 'matchs'"),
        ('name = "x"\nmatches = "3"\n[games.play-nine]\n', ":2: matches: expected `int`"),
        ('name = "x"\n[games.chess]\n', "there is no game called 'chess'"),
        ('name = "x"\nfreeze = 2026-01-01T00:00:00\n[games.play-nine]\n', "say the zone"),
        ("name = \n[games.play-nine]\n", "line 1"),
        ('name = "x"\n[games.play-nine]\nmove-ms = 0\n', ":3: move-ms"),
    ],
)
def test_a_mistake_in_ladder_toml_is_one_line(ladder, text, words):
    """What was wrong and where."""
    (ladder / "ladder.toml").write_text(text)
    with pytest.raises(library.UserError, match=words.replace("(", r"\(")) as error:
        library.ladder_status(ladder)
    assert "\n" not in str(error.value)
    assert "ladder.toml" in str(error.value)


def test_changed_rules_are_in_the_chain(ladder):
    """Once, when somebody writes next; pseudonyms can't be switched on later."""
    text = (ladder / "ladder.toml").read_text()
    (ladder / "ladder.toml").write_text(text.replace("matches = 40", "matches = 60"))
    for _ in range(2):
        library.ladder_freeze(ladder)
    assert kinds(ladder) == ["founded", "rules", "frozen"]
    with held_ladder(ladder) as opened:
        assert opened.state.rules.matches == 60


def test_no_ladder(tmp_path):
    for act in (library.ladder_status, library.ladder_freeze, library.ladder_intake):
        with pytest.raises(library.UserError, match="not a ladder: it has no ladder.toml"):
            act(tmp_path)
    (tmp_path / "x").write_text("")
    with pytest.raises(library.UserError, match="is not empty"):
        library.ladder_init(tmp_path)
