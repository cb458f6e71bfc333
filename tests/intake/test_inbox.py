"""What lies in an inbox; whether it is complete; a course system's download of all."""

import gzip
import shutil

import msgspec
import pytest

from arena.intake import Author, SubmissionError, inbox_entries, look, split, unpack
from arena.intake.inbox import Look
from arena.model import UserError
from tests.intake.archives import Zipped, tar_bytes, tar_file, zip_bytes

BOT = zip_bytes(Zipped(b"bot.py", b"print(1)"))


def test_entries_have_their_authors(inbox):
    """Hidden files and what systems leave behind are none; a name that says nothing is reported."""
    for name in ("ann/bot.py", "bob.zip", "Cy_1_assignsubmission_file_/b.zip", "dee.zip.part"):
        inbox.put(name, BOT)
    for name in (".hidden", "Thumbs.db", ".rsync.zip.aX3", "...zip"):
        inbox.put(name, BOT)
    inbox.put("a_1_2_3_b.zip", BOT)
    (inbox.path / "eve").symlink_to("ann")
    found = {entry.path.name: entry.author for entry in inbox_entries(inbox.path)}
    assert list(found) == sorted(found)
    assert {
        "Cy_1_assignsubmission_file_": Author("Cy_1", "Cy"),
        "a_1_2_3_b.zip": None,
        "ann": Author("ann", "ann"),
        "bob.zip": Author("bob", "bob"),
        "dee.zip.part": Author("dee", "dee"),
        "eve": Author("eve", "eve"),
    } == found
    problem = next(entry.problem for entry in inbox_entries(inbox.path) if entry.author is None)
    assert "a_1_2_3_b.zip: could be of two authors" in problem


def test_a_missing_inbox_is_the_organisers_error(tmp_path):
    with pytest.raises(UserError, match="inbox: can't be read: No such file or directory"):
        inbox_entries(tmp_path / "inbox")


def test_an_upload_is_complete_when_two_looks_see_the_same(inbox):
    """And not sooner than the looks are some seconds apart."""
    path = inbox.put("ann.zip", BOT)
    first = look(path, None, 100.0)
    assert "ann.zip: is not complete; upload it again" == first.missing
    assert look(path, first, 104.9).missing
    later = look(path, first, 105.0)
    assert not later.missing
    assert later == look(path, later, 200.0)


def test_every_change_begins_the_wait_anew(inbox):
    inbox.put("ann/bot.py", b"x")
    path = inbox.path / "ann"
    seen = look(path, None, 100.0)
    for now, change in ((110.0, "bot.py"), (120.0, "new.py"), (130.0, "deep/er.py")):
        inbox.put(f"ann/{change}", b"y")
        seen = look(path, seen, now)
        assert (now, 100.0) == (seen.since, seen.first)
        assert seen.missing
    assert not look(path, seen, 136.0).missing
    assert look(path, seen, 136.0).checked


@pytest.mark.parametrize("kind", ["zip", "tar", "gzip"])
def test_half_an_archive_waits_and_is_reported_at_last(inbox, kind):
    """However long it lies there unchanged; once the rest has come, it is complete."""
    tar = tar_bytes(tar_file(b"a", b"x" * 5000))
    data = {"zip": BOT, "tar": tar, "gzip": gzip.compress(tar)}[kind]
    path = inbox.put("ann", data[: len(data) // 2])
    seen = look(path, None, 0.0)
    for now in (10.0, 3599.0):
        seen = look(path, seen, now)
        assert "its end is missing" in seen.missing
        assert not seen.problem(now)
    words = "ann: its end is missing: the upload is not complete; upload it again (60 minutes after"
    assert words in seen.problem(3600.0)
    path.write_bytes(data)
    seen = look(path, seen, 3700.0)
    assert not look(path, seen, 3710.0).missing
    assert not look(path, seen, 3710.0).problem(9999.0)


def test_a_name_of_an_unfinished_upload_is_waited_for(inbox):
    path = inbox.put("ann.zip.part", BOT)
    seen = look(path, look(path, None, 0.0), 3600.0)
    assert "ann.zip.part: is not complete; upload it again (60 minutes" in seen.problem(3600.0)


def test_what_is_gone_is_not_complete(inbox):
    assert "ann: is gone; upload it again" == look(inbox.path / "ann", None, 0.0).missing


@pytest.mark.parametrize(
    "data", [zip_bytes(Zipped(b"x", b"x", flags=1)), b"Rar!\x1a\7", zip_bytes(end={"disk": 3})]
)
def test_what_will_be_refused_is_complete(inbox, data):
    """What is wrong with it is for unpacking to say."""
    path = inbox.put("ann.zip", data)
    seen = look(path, look(path, None, 0.0), 10.0)
    assert seen.checked
    assert not seen.missing


def test_a_look_can_be_kept(inbox):
    seen = look(inbox.put("ann.zip", BOT), None, 1.5)
    assert seen == msgspec.json.decode(msgspec.json.encode(seen), type=Look)


EXPORT = {
    "Ann Lee_11_assignsubmission_file_/bot.zip": BOT,
    "Bo_12_assignsubmission_file_/src/bot.py": b"b",
    "Bo_12_assignsubmission_onlinetext_/onlinetext.html": b"<p>",
    "Cy_13_assignsubmission_onlinetext_/onlinetext.html": b"<p>",
    "Dee_14_assignsubmission_file_bot.zip": BOT,
    "Ann Lee_15_assignsubmission_file_/bot.py": b"another Ann",
    "evefoe_LATE_21_77_bot-1.zip": BOT,
    "fay_22_78_bot.py": b"f",
    "fay_22_79_bot.toml": b"",
    "grades.csv": b"1",
    "__MACOSX/._x": b"x",
}


@pytest.mark.parametrize("form", ["zip", "zip with a folder", "folder"])
def test_a_download_of_all_is_split_by_author(inbox, form):
    """Each is unpacked afterwards under the limits of one."""
    if form == "folder":
        for name, data in EXPORT.items():
            inbox.put(f"CS101/{name}", data)
        source = inbox.path / "CS101"
    else:
        top = "CS101/" if form == "zip with a folder" else ""
        members = [Zipped(f"{top}{name}".encode(), data) for name, data in EXPORT.items()]
        source = inbox.put("CS101.zip", zip_bytes(*members))
    target = inbox.root / "split"
    found = split(source, target)
    content = {}
    for number, entry in enumerate(found.entries):
        assert entry.path.parent == target
        unpack(entry.path, inbox.root / f"bot{number}")
        files = (inbox.root / f"bot{number}").rglob("*")
        content[entry.author.key] = {path.name: path.read_bytes() for path in files}
    one = {"bot.py": b"print(1)"}
    assert {
        "Ann Lee_11": one,
        "Ann Lee_15": {"bot.py": b"another Ann"},
        "Bo_12": {"bot.py": b"b"},
        "Dee_14": one,
        "evefoe_21": one,
        "fay_22": {"bot.py": b"f", "bot.toml": b""},
    } == content
    assert any("grades.csv" in name for name in found.others)


def test_a_download_that_names_nobody_is_refused(inbox):
    source = inbox.put("all.zip", zip_bytes(Zipped(b"bot.py", b"x")))
    with pytest.raises(SubmissionError, match="all.zip: holds nothing under a name that Moodle or"):
        split(source, inbox.root / "split")
    assert not (inbox.root / "split").exists()


def test_only_an_export_is_split(inbox):
    """An author who packs a file under another's name has handed in an ordinary bot."""
    data = zip_bytes(Zipped(b"Victim_1_assignsubmission_file_/bot.py", b"x"))
    (entry,) = inbox_entries(inbox.put("eve.zip", data).parent)
    assert "eve" == entry.author.key
    inbox.unpack(entry.path)
    assert {"bot.py": b"x"} == inbox.content()


def test_one_author_of_an_export_is_no_way_into_anothers_folder(inbox):
    """Neither by folders named as the course system names them, nor by dots."""
    inner = b"Eve_2_assignsubmission_file_/Ann_1_assignsubmission_file_/bot.py"
    ann = Zipped(b"Ann_1_assignsubmission_file_/bot.py", b"a")
    found = split(inbox.put("all.zip", zip_bytes(ann, Zipped(inner, b"e"))), inbox.root / "split")
    assert [["bot.py"], ["Ann_1_assignsubmission_file_"]] == [
        [path.name for path in entry.path.iterdir()] for entry in found.entries
    ]


def test_a_refused_member_is_its_authors_problem_alone(inbox):
    """One author can't keep the class out of the ladder."""
    bad = {
        b"eve_3_4_..": "its path leads up (..)",
        b"Eve_2_assignsubmission_file_/../bot.py": "its path leads up (..)",
        b"Eve_2_assignsubmission_file_\\a\0b": "its name has characters that can't be shown",
        b"eve_3_4_5_x.zip": "could be of two authors",
        b"Eve_2_assignsubmission_file_/BOT.py": "is 2/bot.py but for upper and lower case",
        b"Cy_9_assignsubmission_file_/": "",
        b"\xff\x01": "its name has characters that can't be shown",
    }
    for name, words in bad.items():
        members = [
            Zipped(b"Ann_1_assignsubmission_file_/bot.py", b"a"),
            Zipped(b"Eve_2_assignsubmission_file_/bot.py", b"e"),
            Zipped(name, b"" if name.endswith(b"/") else b"e"),
        ]
        target = inbox.root / "split"
        found = split(inbox.put("all.zip", zip_bytes(*members)), target)
        taken = [entry.author.key for entry in found.entries]
        files = {path.read_bytes() for path in target.rglob("*") if path.is_file()}
        shutil.rmtree(target)
        assert {b"a", b"e"} == files
        if not words:
            assert (["Ann_1", "Eve_2"], []) == (taken, found.problems)
            continue
        (problem,) = found.problems
        assert words in problem.problem
        assert (["Ann_1"] if b"Eve" in name else ["Ann_1", "Eve_2"]) == taken
        owner = problem.author.key if problem.author else None
        assert owner == {b"E": "Eve_2", b"e": "eve_3", b"\xff": None}[name[:1]] or b"_5_" in name
