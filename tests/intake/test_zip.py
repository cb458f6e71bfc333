"""Zip archives: those of real programs are taken, those that lie are refused in one line."""

import io
import os
import re
import stat
import struct
import subprocess
import zipfile
import zlib
from shutil import which

import pytest

from arena.intake import UnfinishedError, UploadCaps
from tests.intake.archives import UNIX, Zipped, zip_bytes


def wide(*numbers):
    return struct.pack(f"<2H{len(numbers)}Q", 1, 8 * len(numbers), *numbers)


BOT = Zipped(b"bot.py", b"print(1)")
FULL = 0xFFFFFFFF
DEFLATED = zlib.compress(b"y")[2:-4]

REFUSED = {
    "up": (Zipped(b"../bot.py", b"x"), r"\.\./bot\.py: its path leads up \(\.\.\); pack the bot's"),
    "up inside": (Zipped(b"a/../../b", b"x"), "its path leads up"),
    "up by backslashes": (Zipped(b"a\\..\\..\\b", b"x", made=0), "its path leads up"),
    "absolute": (
        Zipped(b"/etc/passwd", b"x"),
        "/etc/passwd: its path begins at the root of a disk",
    ),
    "share": (Zipped(b"\\\\host\\x", b"x"), "its path begins at the root of a disk"),
    "drive": (Zipped(b"C:\\x.py", b"x", made=0), r"C:\\x\.py: its path begins at the root"),
    "drive without a root": (Zipped(b"c:x.py", b"x"), "its path begins at the root of a disk"),
    "zero byte": (Zipped(b"a\0b", b"x"), r"a\?b: its name has characters that can't be shown"),
    "escape": (Zipped(b"\x1b[31mred", b"x"), "red: its name has characters that can't be shown"),
    "direction": (
        Zipped("a\u202eyp.b".encode(), b"x", flags=0x800),
        r"a\?yp\.b: its name has characters",
    ),
    "no UTF-8": (Zipped(b"\xff.py", b"x", flags=0x800), r"\?\.py: its name has characters that"),
    "no name": (Zipped(b"", b"x"), ": it has no name"),
    "dot": (Zipped(b"./.", b"x"), r"\./\.: it has no name"),
    "long name": (Zipped(b"a" * 256, b"x"), "its name has more than 255 bytes; use a shorter one"),
    "long path": (Zipped(b"a/" * 600 + b"b", b"x"), "has 1201 bytes, 1024 are allowed"),
    "depth": (Zipped(b"a/" * 33 + b"b", b"x"), "it lies more than 32 folders deep; use fewer"),
    "link": (
        Zipped(b"x", b"/etc/passwd", attributes=0o120777 << 16),
        "x: is a link; only files and folders are taken: leave it out, or put a copy",
    ),
    "pipe": (Zipped(b"x", attributes=(stat.S_IFIFO | 0o644) << 16), "x: is a device or a pipe"),
    "device": (Zipped(b"x", attributes=(stat.S_IFCHR | 0o644) << 16), "x: is a device or a pipe"),
    "encrypted": (Zipped(b"x", b"x", flags=1), "x: is encrypted; pack it without a password"),
    "strongly": (Zipped(b"x", b"x", flags=0x41), "x: is encrypted; pack it without a password"),
    "masked": (Zipped(b"x", b"x", flags=0x2000), "x: is encrypted; pack it without a password"),
    "encrypted, says its own header": (
        Zipped(b"x", b"x", local_lie={"flags": 1}),
        "x: its header disagrees with the archive's directory",
    ),
    "bzip2": (Zipped(b"x", b"x", method=12), "x: is compressed by bzip2; pack it again as an ordi"),
    "method": (Zipped(b"x", b"x", method=77), "x: is compressed by method 77; pack it again as an"),
    "folder with data": (Zipped(b"x/", b"x"), "x/: is a folder that has data; pack it again"),
    "more than stated": (
        Zipped(b"x", b"y" * 9, lie={"size": 3}, local_lie={"size": 3}),
        "x: it has more data than its header says; pack it again",
    ),
    "less than stated": (
        Zipped(b"x", b"y" * 9, lie={"size": 99}, local_lie={"size": 99}),
        "x: its data is damaged; pack it again",
    ),
    "stored, less than packed": (
        Zipped(b"x", b"y" * 9, method=0, lie={"size": 3}, local_lie={"size": 3}),
        "x: it has more data than its header says",
    ),
    "checksum": (
        Zipped(b"x", b"y", lie={"crc": 1}, local_lie={"crc": 1}),
        "x: its data is damaged",
    ),
    "more behind the stream": (
        Zipped(
            b"x",
            DEFLATED + b"hidden",
            method=0,
            lie={"method": 8, "size": 1, "crc": zlib.crc32(b"y")},
            local_lie={"method": 8, "size": 1, "crc": zlib.crc32(b"y")},
        ),
        "x: its data is damaged; pack it again",
    ),
    "size in its own header": (
        Zipped(b"x", b"y", local_lie={"size": 2}),
        "x: its header disagrees with the archive's directory; pack it again",
    ),
    "checksum in its own header": (
        Zipped(b"x", b"y", local_lie={"crc": 1}),
        "x: its header disagrees with the archive's directory; pack it again",
    ),
    "name in its own header": (
        Zipped(b"x", b"y", local_lie={"name": b"y"}),
        "its header disagrees",
    ),
    "method in its own header": (Zipped(b"x", b"y", local_lie={"method": 0}), "header disagrees"),
    "far away": (
        Zipped(b"x", b"y", lie={"offset": 1 << 30}),
        "x: it isn't where the archive's dir",
    ),
    "farther": (
        Zipped(b"x", b"y", extra=wide(1 << 63), lie={"offset": FULL}),
        "x: it isn't where the archive's directory says",
    ),
    "huge": (
        Zipped(b"x", b"y", extra=wide(1 << 63), lie={"size": FULL}, local_lie={"size": FULL}),
        "x: has more than 256 MB; leave it out",
    ),
    "disk": (Zipped(b"x", b"y", lie={"disk": 1}), "is one of several parts of an archive"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_hostile_member_is_refused(inbox, case):
    """In one line that names it, with what to do, whatever stands before it."""
    member, words = REFUSED[case]
    assert re.search(words, inbox.refused("a.zip", zip_bytes(BOT, member)))


PAIRS = {
    "twice": ((b"a.py", b"a.py"), "a.py: is there twice; leave out one"),
    "case": ((b"a/B.py", b"A/b.py"), "A/b.py: is a/B.py but for upper and lower case; rename one"),
    "folder's case": ((b"a/x", b"A/y"), "A/y: is a but for upper and lower case; rename one"),
    "composed": (("é".encode(), "e\u0301".encode()), "é: is there twice; leave out one"),
    "file, then folder": ((b"a", b"a/b"), "a/b: is there twice; leave out one"),
    "folder, then file": ((b"a/b", b"a"), "a: is there twice; leave out one"),
    "dots": ((b"a/b", b"./a//b"), "./a//b: is there twice; leave out one"),
}


@pytest.mark.parametrize("case", PAIRS)
def test_two_members_with_one_place_are_refused(inbox, case):
    names, words = PAIRS[case]
    data = zip_bytes(*(Zipped(name, b"x", flags=0x800) for name in names))
    assert words == inbox.refused("a.zip", data).replace("e\u0301", "é")


def test_data_that_two_members_share_is_refused(inbox):
    """So a bomb of overlapping members (42 kB for gigabytes) never unpacks the same data twice."""
    first = Zipped(b"a", b"0" * 5000)
    same = Zipped(b"a", b"0" * 5000, lie={"offset": 0})
    assert "a: its data overlaps with other" in inbox.refused("a.zip", zip_bytes(first, same))
    inner = Zipped(b"b", b"0" * 5000, method=0)
    quoted = Zipped(b"a", inner.local(), method=0)
    inside = Zipped(b"b", b"0" * 5000, method=0, lie={"offset": 31})
    assert "a: its data overlaps with other" in inbox.refused("a.zip", zip_bytes(quoted, inside))
    long = Zipped(
        b"a", b"x", method=0, lie={"packed": 60, "size": 60}, local_lie={"packed": 60, "size": 60}
    )
    assert "a: its data overlaps with other" in inbox.refused("a.zip", zip_bytes(long))


@pytest.mark.parametrize(
    ("end", "words"),
    [
        ({"count": 2, "here": 2}, "its directory has fewer members than its end states"),
        ({"count": 0, "here": 0}, "its directory has another length than its end states"),
        ({"count": 1, "here": 2}, "is one of several parts of an archive"),
        ({"disk": 1}, "is one of several parts of an archive"),
        ({"start": 1 << 20}, "is no sound zip archive"),
        ({"start": FULL}, "is no sound zip archive"),
        ({"count": 60_000, "here": 60_000}, "holds more than 20000 files and folders; leave out"),
    ],
)
def test_an_end_that_lies_is_refused(inbox, end, words):
    assert words in inbox.refused("a.zip", zip_bytes(BOT, end=end))


@pytest.mark.parametrize("offset", [0, 1 << 63])
def test_a_wide_end_that_is_not_there_is_refused(inbox, offset):
    locator = struct.pack("<4sLQL", b"PK\6\7", 0, offset, 1)
    data = zip_bytes(BOT, end={"start": FULL})
    data = data[:-22] + locator + data[-22:]
    assert "is no sound zip archive" in inbox.refused("a.zip", data)


def test_an_archive_without_its_end_is_unfinished(inbox):
    """However much of it is missing."""
    data = zip_bytes(BOT, Zipped(b"table.bin", os.urandom(2000)))
    for size in range(4, len(data), 97):
        with pytest.raises(UnfinishedError, match=r"a\.zip: its end is missing: the upload is not"):
            inbox.unpack(inbox.put("a.zip", data[:size]))


def test_a_comment_is_no_second_end(inbox):
    """The end is the last one that reaches to the end of the file."""
    inbox.unpack(inbox.put("a.zip", zip_bytes(BOT, comment=b"PK\5\6" + bytes(30))))
    assert {"bot.py": b"print(1)"} == inbox.content()


def test_too_many_files_are_refused_before_one_is_written(inbox):
    data = zip_bytes(*(Zipped(b"%d" % number) for number in range(30)))
    assert "holds more than 20 files" in inbox.refused("a.zip", data, UploadCaps(files=20))


def test_folders_that_only_paths_name_count(inbox):
    data = zip_bytes(*(Zipped(b"%d/a/b/c" % number, b"x") for number in range(10)))
    assert "holds more than 39 files" in inbox.refused("a.zip", data, UploadCaps(files=39))
    assert 10 == inbox.unpack(inbox.put("a.zip", data), UploadCaps(files=40)).files


def test_a_bomb_is_refused_by_its_ratio_and_by_its_size(inbox):
    bomb = zip_bytes(Zipped(b"zeros", bytes(17 << 20)))
    assert "unpacks to more than 200 times its size" in inbox.refused("a.zip", bomb)
    caps = UploadCaps(total_mb=3, ratio=100_000)
    assert "holds more than 3 MB unpacked" in inbox.refused("a.zip", bomb, caps)
    caps = UploadCaps(file_mb=3, ratio=100_000)
    assert "zeros: has more than 3 MB; leave it out" in inbox.refused("a.zip", bomb, caps)


def test_a_bomb_in_an_archive_in_the_archive_counts_towards_the_same_limits(inbox):
    outer = zip_bytes(Zipped(b"bot.zip", zip_bytes(Zipped(b"zeros", bytes(17 << 20)))))
    assert "bot.zip: unpacks to more than 200 times" in inbox.refused("a.zip", outer)


def test_names_get_the_encoding_that_makes_letters_of_them(inbox):
    """UTF-8 if it is, stated or not; else that of DOS, else that of Windows."""
    names = ["grün-1".encode(), "grün-2".encode("cp437"), "grün-3".encode("cp1252")]
    inbox.unpack(inbox.put("a.zip", zip_bytes(*(Zipped(name, b"x", made=0) for name in names))))
    assert {"grün-1", "grün-2", "grün-3"} == set(inbox.content())


def test_a_name_that_is_of_no_western_language_is_taken_as_dos_wrote_it(inbox):
    inbox.unpack(inbox.put("a.zip", zip_bytes(Zipped(b"\xe4\xb0x", b"x", made=0))))
    assert {"Σ░x"} == set(inbox.content())


def test_backslashes_of_windows_are_separators(inbox):
    data = zip_bytes(
        Zipped(b"bot\\", made=0),
        Zipped(b"bot\\lib\\a.py", b"x", made=0),
        Zipped(b"bot\\bot.py", b"y", made=0),
    )
    inbox.unpack(inbox.put("a.zip", data))
    assert {"bot.py": b"y", "lib/a.py": b"x"} == inbox.content()


def test_modes_become_plain(inbox):
    """Execute bits of Unix count; where none are known, programs and scripts get them."""
    data = zip_bytes(
        Zipped(b"a", b"x", attributes=0o106777 << 16),
        Zipped(b"b", b"#!/bin/sh", attributes=0o100644 << 16),
        Zipped(b"c", b"#!/bin/sh", made=0, attributes=0x20),
        Zipped(b"d", b"\x7fELF", made=UNIX, attributes=0),
        Zipped(b"e", b"plain", made=0, attributes=0),
        Zipped(b"f/g", b"plain"),
    )
    inbox.unpack(inbox.put("a.zip", data))
    modes = {p.name: stat.S_IMODE(p.stat().st_mode) for p in inbox.target.rglob("*")}
    assert {
        "a": 0o755,
        "b": 0o644,
        "c": 0o755,
        "d": 0o755,
        "e": 0o644,
        "f": 0o755,
        "g": 0o644,
    } == modes


@pytest.mark.parametrize("seekable", [True, False])
@pytest.mark.parametrize("large", [True, False])
def test_what_python_writes_is_taken(inbox, seekable, large):
    """Sizes before or behind the data, in 32 or 64 bits."""
    target = io.BytesIO()
    target.seekable = lambda: seekable
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.mkdir("bot")
        with archive.open("bot/bot.py", "w", force_zip64=large) as file:
            file.write(b"print(1)" * 1000)
    inbox.unpack(inbox.put("a.zip", target.getvalue()))
    assert {"bot.py": b"print(1)" * 1000} == inbox.content()


def test_numbers_of_64_bits_are_taken(inbox):
    """As programs write them that don't know the size of the archive in advance."""
    member = Zipped(
        b"bot.py", b"print(1)", extra=wide(8, 10, 0),
        lie={"size": FULL, "packed": FULL, "offset": FULL},
        local_lie={"size": FULL, "packed": FULL},
    )  # fmt: skip
    data = zip_bytes(member)
    end = len(data) - 22
    _, _, _, here, count, length, start, _ = struct.unpack("<4s4H2LH", data[end:])
    record = struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, here, count, length, start)
    locator = struct.pack("<4sLQL", b"PK\6\7", 0, end, 1)
    last = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 0xFFFF, 0xFFFF, FULL, FULL, 0)
    inbox.unpack(inbox.put("a.zip", data[:end] + record + locator + last))
    assert {"bot.py": b"print(1)"} == inbox.content()


@pytest.mark.skipif(not which("zip"), reason="no zip installed")
@pytest.mark.parametrize("flags", ["-qr", "-qr0", "-qr9", "-qrfd"])
def test_what_zip_writes_is_taken(inbox, flags):
    source = inbox.root / "made" / "my bot"
    (source / "données").mkdir(parents=True)
    (source / "bot.sh").write_text("#!/bin/sh\n")
    (source / "bot.sh").chmod(0o755)
    (source / "données" / "é.txt").write_text("x" * 5000)
    made = inbox.path / "a.zip"
    subprocess.run(["zip", flags, made, "my bot"], cwd=source.parent, check=True)
    inbox.unpack(made)
    assert {"bot.sh": b"#!/bin/sh\n", "données/é.txt": b"x" * 5000} == inbox.content()
    assert os.access(inbox.target / "bot.sh", os.X_OK)


@pytest.mark.skipif(not which("zip"), reason="no zip installed")
@pytest.mark.parametrize(("flags", "words"), [("-qry", "is a link"), ("-qrPx", "is encrypted")])
def test_links_and_passwords_of_zip_are_refused(inbox, flags, words):
    source = inbox.root / "made"
    source.mkdir()
    (source / "a").symlink_to("/etc/passwd")
    made = inbox.path / "a.zip"
    subprocess.run(["zip", *flags.split(), made, "a"], cwd=source, check=True)
    assert words in inbox.refused("a.zip", made)
