"""One submission, as authors and course systems pack it, becomes a folder that bots load from."""

import itertools
import os
import re
import stat
import subprocess

import pytest

from arena.bots import load
from arena.intake import CAPS, SubmissionError, UnfinishedError, UploadCaps, unpack
from arena.intake.caps import Quota
from arena.intake.members import Member
from arena.intake.submission import Content
from arena.model import UserError
from tests.intake.archives import Zipped, tar_bytes, tar_file, zip_bytes

BOT = b"print(1)"


def zipped(**files):
    return zip_bytes(
        *(Zipped(name.replace("__", "/").encode(), data) for name, data in files.items())
    )


@pytest.mark.parametrize("packed", ["zip", "tar", "folder"])
def test_the_digest_is_the_bots_content_hash(inbox, tmp_path, packed):
    """Of each form the same; `load` takes the folder, and finds the same content."""
    files = {"my bot/bot.py": BOT, "my bot/lib/a.py": b"a", "my bot/__pycache__/a.pyc": b"c"}
    if packed == "folder":
        for name, data in files.items():
            source = inbox.put(f"ann/{name}", data).parent
        source = inbox.path / "ann"
    else:
        members = [(name.encode(), data) for name, data in files.items()]
        made = (
            zip_bytes(*(Zipped(*m) for m in members))
            if packed == "zip"
            else tar_bytes(*(tar_file(*m) for m in members))
        )
        source = inbox.put("ann", made)
    found = inbox.unpack(source)
    roster = load([inbox.target], cache=tmp_path / "cache")
    assert [found.digest] == [each.entrant.hash for each in roster.candidates]
    assert (2, len(BOT) + 1) == (found.files, found.bytes)
    assert any("__pycache__" in name for name in found.dropped)
    assert {"bot.py": BOT, "lib/a.py": b"a"} == inbox.content()


LITTER = [
    *("__MACOSX/bot/._bot.py", "bot/.DS_Store", "bot/._bot.py", "Thumbs.db", "bot/desktop.ini"),
    *("bot/.git/config", "bot/.git/hooks/post-checkout", ".gitted/../x"),
]


@pytest.mark.parametrize("as_folder", [True, False])
def test_what_systems_leave_behind_is_dropped(inbox, as_folder):
    """Git's folder too, whose configuration can run programs; the bot is found beneath."""
    names = [*LITTER[:-1], "bot/bot.py", "bot/.gitignore"]
    if as_folder:
        for name in names:
            source = inbox.put(f"ann/{name}", BOT)
        source = inbox.path / "ann"
    else:
        source = inbox.put("ann.zip", zip_bytes(*(Zipped(name.encode(), BOT) for name in names)))
    found = inbox.unpack(source)
    assert {"bot.py", ".gitignore"} == set(inbox.content())
    assert {"Thumbs.db", "bot/.DS_Store"} <= set(found.dropped)


def test_links_that_npm_makes_for_the_shell_are_dropped(inbox):
    link = Zipped(b"bot/node_modules/.bin/tsc", b"../tsc", attributes=0o120777 << 16)
    inbox.unpack(inbox.put("a.zip", zip_bytes(link, Zipped(b"bot/bot.js", BOT))))
    assert {"bot.js": BOT} == inbox.content()


@pytest.mark.parametrize(
    ("files", "content"),
    [
        ({"a__b__c__bot.py": BOT, "a__b__c__x": b""}, {"bot.py", "x"}),
        ({"a__bot.py": BOT, "b__x": b""}, {"a/bot.py", "b/x"}),
        ({"a__bot.py": BOT, "x": b""}, {"a/bot.py", "x"}),
        ({"a__strategy.py": BOT}, {"bot.py"}),
        ({"strategy.rb": BOT}, {"bot.rb"}),
        ({"strategy": b"#!/bin/sh"}, {"bot"}),
        ({"strategy": b"\x7fELF"}, {"bot"}),
        ({"notes": b"text"}, {"notes"}),
        ({"notes.txt": b"text"}, {"notes.txt"}),
    ],
)
def test_a_folder_in_a_folder_is_left_out(inbox, files, content):
    """As long as it is all there is; a single program gets the name that is looked for."""
    inbox.unpack(inbox.put("a.zip", zipped(**files)))
    assert content == set(inbox.content())


def test_a_single_script_is_a_submission(inbox):
    inbox.unpack(inbox.put("ann.py", BOT))
    assert {"bot.py": BOT} == inbox.content()


@pytest.mark.parametrize(
    "name", ["Given Family_12345_assignsubmission_file_/bot.zip", "ann/x/b.tgz"]
)
def test_an_archive_that_is_all_there_is_is_unpacked(inbox, name):
    inbox.put(
        name, zipped(bot__main__py=BOT) if name.endswith("zip") else tar_bytes(tar_file(b"a", BOT))
    )
    inbox.unpack(inbox.path / name.split("/")[0])
    assert [BOT] == list(inbox.content().values())


def test_an_archive_is_unpacked_once(inbox):
    """So a zip that holds itself ends; what is in the second is a file like others."""
    inner = zipped(deep=BOT)
    outer = zip_bytes(Zipped(b"b.zip", zip_bytes(Zipped(b"c.zip", inner))))
    inbox.unpack(inbox.put("a.zip", outer))
    assert {"c.zip": inner} == inbox.content()


def test_what_is_wrong_in_the_inner_archive_names_both(inbox):
    outer = zip_bytes(Zipped(b"b.zip", zip_bytes(Zipped(b"../x", BOT))))
    assert inbox.refused("a.zip", outer).startswith("b.zip: ../x: its path leads up")


def test_several_archives_leave_a_choice(inbox):
    outer = zip_bytes(Zipped(b"b.zip", zipped(x=BOT)), Zipped(b"c.tar.gz", b"x"))
    assert "holds 2 archives; leave only the one that counts" == inbox.refused("a.zip", outer)


def test_a_java_archive_is_a_file(inbox):
    data = zipped(META__INF=b"x")
    inbox.unpack(inbox.put("ann.jar", data))
    assert {"ann.jar": data} == inbox.content()


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("a.zip", b"", "is empty: the upload is not complete; upload it again"),
        ("a.tgz", bytes(900), "is empty: the upload is not complete; upload it again"),
        ("a.zip", b"<html>", "is no archive, though its name says so; hand in a .zip or a .tar.gz"),
        ("a.rar", b"Rar!\x1a\7", "is an archive of the kind RAR; hand in a .zip or a .tar.gz"),
        ("a.7z", b"7z\xbc\xaf\x27\x1c", "is an archive of the kind 7z; hand in"),
        ("a", b"\x28\xb5\x2f\xfd", "is an archive of the kind Zstandard; hand in"),
        ("a.zip", zip_bytes(), "holds no files; hand in the bot's folder"),
        ("a.zip", zip_bytes(Zipped(b"__MACOSX/x")), "holds no files; hand in the bot's folder"),
        ("a.tar", tar_bytes(tar_file(b"./", b"", type_=b"5")), "holds no files; hand in the bot's"),
        (".py", b"x" * (2 << 20), "has 2 MB, 1 are allowed; leave out what the bot doesn't need"),
    ],
)
def test_what_is_no_submission_is_refused(inbox, name, data, words):
    assert words in inbox.refused(name, data, UploadCaps(upload_mb=1))


def test_an_empty_folder_is_refused(inbox):
    source = inbox.path / "ann"
    source.mkdir()
    assert "holds no files" in inbox.refused("ann", source)


def test_what_is_not_there_may_come(inbox):
    with pytest.raises(UnfinishedError, match=r"^ann\.zip: is gone; upload it again$"):
        inbox.unpack(inbox.path / "ann.zip")


@pytest.mark.parametrize("inside", [True, False])
@pytest.mark.parametrize("target", ["/etc/passwd", "/etc", "bot.py", "nowhere", "."])
def test_no_link_is_followed(inbox, inside, target):
    """Neither in the inbox nor in a folder in it."""
    inbox.put("ann/bot.py", BOT)
    link = inbox.path / "ann" / "link" if inside else inbox.path / "bob"
    link.symlink_to(target)
    words = inbox.refused(*(("ann", inbox.path / "ann") if inside else ("bob", link)))
    assert re.search(r"is a link|links to", words)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize(("mode", "taken"), [(0o600, False), (0o644, True)])
def test_a_hard_link_to_what_only_another_may_read_is_refused(inbox, mode, taken):
    """An author could link another's private file into a folder that an organiser reads."""
    inbox.put("ann/bot.py", BOT)
    secret = inbox.root / "secret"
    secret.write_bytes(b"s")
    os.chown(secret, 65534, 65534)
    secret.chmod(mode)
    os.link(secret, inbox.path / "ann" / "mine")
    if taken:
        inbox.unpack(inbox.path / "ann")
        assert b"s" == inbox.content()["mine"]
    else:
        assert "mine: is a hard link; only files" in inbox.refused("ann", inbox.path / "ann")


@pytest.mark.parametrize("inside", [True, False])
def test_no_pipe_is_waited_for(inbox, inside):
    inbox.put("ann/bot.py", BOT)
    place = inbox.path / "ann" / "pipe" if inside else inbox.path / "bob"
    os.mkfifo(place)
    words = inbox.refused(*(("ann", inbox.path / "ann") if inside else ("bob", place)))
    assert "neither a file nor a folder" in words or "pipe: is a device or a pipe" in words


def test_a_name_that_is_no_text_is_refused(inbox):
    inbox.put("ann/bot.py", BOT)
    (inbox.path / "ann" / os.fsdecode(b"\xff")).write_bytes(BOT)
    assert "its name has characters that can't be shown" in inbox.refused("ann", inbox.path / "ann")


def change(path):
    path.write_bytes(b"print(2)!")


def grow(path):
    with path.open("ab") as file:
        file.write(b"more")


def rewrite(path):
    """With as many bytes, and the time that it had."""
    info = path.stat()
    path.write_bytes(b"X" * info.st_size)
    os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns))


def add(path):
    path.with_name("another.py").write_bytes(BOT)


def exchange(path):
    path.rename(path.with_name("old"))
    path.write_bytes(path.with_name("old").read_bytes())


@pytest.mark.parametrize("what", [change, grow, rewrite, add, exchange, os.unlink])
def test_a_folder_that_changes_while_it_is_read_is_refused(inbox, monkeypatch, what):
    """Also if each file by itself is sound."""
    first, last = inbox.put("ann/a.py", BOT), inbox.put("ann/z.py", BOT)
    write = Content._write

    def changed(self, place, member):
        write(self, place, member)
        if place == ("a.py",):
            what(last if what is not add else first)

    monkeypatch.setattr(Content, "_write", changed)
    with pytest.raises(
        UnfinishedError, match="ann: is still changing; hand it in again when it is"
    ):
        unpack(inbox.path / "ann", inbox.target)
    assert not list(inbox.out.iterdir())


@pytest.mark.parametrize(
    "make", [lambda: zipped(a=BOT, z=BOT), lambda: tar_bytes(tar_file(b"a"), tar_file(b"z"))]
)
def test_an_archive_that_changes_while_it_is_read_is_refused(inbox, monkeypatch, make):
    """Whatever error its new content leads to."""
    source = inbox.put("ann", make())
    write = Content._write

    def changed(self, place, member):
        write(self, place, member)
        with source.open("r+b") as file:
            file.truncate(600)
            file.write(b"x" * 40)

    monkeypatch.setattr(Content, "_write", changed)
    with pytest.raises(UnfinishedError, match="ann: is still changing"):
        inbox.unpack(source)


def test_an_archive_that_changes_between_judging_and_writing_is_refused(inbox, monkeypatch):
    """Even if what was a folder is a file by then."""
    source = inbox.put("ann", tar_bytes(tar_file(b"a", b"", type_=b"5"), tar_file(b"a/b")))
    judge = Content.judge

    def changed(self, member):
        if member.name == "a/b":
            source.write_bytes(tar_bytes(tar_file(b"a", b""), tar_file(b"a/b")))
        return judge(self, member)

    monkeypatch.setattr(Content, "judge", changed)
    with pytest.raises(UnfinishedError, match="ann: is still changing"):
        unpack(source, inbox.target)
    assert not list(inbox.out.iterdir())


@pytest.mark.parametrize("chunks", [itertools.repeat(b"more"), iter([b"le"])])
def test_a_file_that_has_another_size_than_it_had_is_refused(tmp_path, chunks):
    """Nor is one written that grows as fast as it is read."""
    content = Content(tmp_path, Quota(CAPS))
    with pytest.raises(UnfinishedError, match="is still changing"):
        content._write(("a",), Member("a", "file", 3, None, lambda: chunks))


def test_what_a_killed_process_left_is_removed(inbox):
    left = inbox.out / ".bot.partial" / "upload"
    left.mkdir(parents=True)
    (left / "x").write_bytes(b"x")
    unpack(inbox.put("a.zip", zipped(a=BOT, b=BOT)), inbox.target)
    assert [inbox.target] == list(inbox.out.iterdir())


def test_a_target_that_is_taken_is_left_alone(inbox):
    inbox.target.mkdir()
    (inbox.target / "mine").write_bytes(b"x")
    with pytest.raises(UserError, match="bot: can't be unpacked to: Directory not empty") as caught:
        unpack(inbox.put("a.zip", zipped(a=BOT)), inbox.target)
    assert not isinstance(caught.value, SubmissionError), "no submission's fault"
    assert {"mine": b"x"} == inbox.content()


def test_modes_are_plain_whatever_the_umask(inbox):
    old = os.umask(0o077)
    try:
        inbox.unpack(inbox.put("a.zip", zipped(a__x=BOT, b__y=BOT)))
    finally:
        os.umask(old)
    modes = {stat.S_IMODE(path.stat().st_mode) for path in inbox.target.rglob("*")}
    assert {0o755, 0o644} == modes
    assert 0o755 == stat.S_IMODE(inbox.target.stat().st_mode)


def test_gits_configuration_runs_nothing(inbox, tmp_path):
    """A checkout that would run a program at `git status` is taken without its .git."""
    ran = tmp_path / "ran"
    inbox.put("ann/bot.py", BOT)
    config = f'[core]\n\tfsmonitor = "touch {ran}"\n'.encode()
    for name, data in (("HEAD", b"ref: refs/heads/main\n"), ("config", config)):
        inbox.put(f"ann/.git/{name}", data)
    for name in ("objects", "refs"):
        (inbox.path / "ann" / ".git" / name).mkdir()
    inbox.unpack(inbox.path / "ann")
    load([inbox.target], cache=tmp_path / "cache")
    assert {"bot.py": BOT} == inbox.content()
    assert not ran.exists()
    subprocess.run(["git", "status"], cwd=inbox.path / "ann", capture_output=True, check=False)
    assert ran.exists(), "git would have run it"
