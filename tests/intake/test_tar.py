"""Tar archives: those of real programs are taken, those that lie are refused in one line."""

import bz2
import gzip
import io
import lzma
import os
import stat
import subprocess
import tarfile
import zlib
from shutil import which

import pytest

from arena.intake import UnfinishedError, UploadCaps
from tests.intake.archives import padded, pax, tar_bytes, tar_file, tar_header

PACKED = {
    "a.tar": bytes,
    "a.tar.gz": gzip.compress,
    "a.tar.bz2": bz2.compress,
    "a.tar.xz": lzma.compress,
    "whatever its name": gzip.compress,
}
BOT = tar_file(b"bot.py", b"print(1)")


@pytest.mark.parametrize("name", PACKED)
def test_an_archive_is_known_by_its_content(inbox, name):
    inbox.unpack(inbox.put(name, PACKED[name](tar_bytes(BOT))))
    assert {"bot.py": b"print(1)"} == inbox.content()


LEADS_UP = "its path leads up (..); pack the bot's folder from beside it"
REFUSED = {
    "up": (tar_file(b"../x"), f"../x: {LEADS_UP}"),
    "absolute": (tar_file(b"/x"), "/x: its path begins at the root of a disk"),
    "link": (tar_header(b"x", type_=b"2"), "x: is a link; only files and folders are taken"),
    "hard link": (tar_header(b"x", type_=b"1"), "x: is a hard link; only files and folders"),
    "device": (tar_header(b"x", type_=b"3"), "x: is a device; only files and folders are taken"),
    "block device": (tar_header(b"x", type_=b"4"), "x: is a device; only files and folders"),
    "pipe": (tar_header(b"x", type_=b"6"), "x: is a pipe; only files and folders are taken"),
    "sparse": (tar_header(b"x", type_=b"S"), "x: is a sparse file; only files and folders"),
    "sparse in pax": (
        pax((b"GNU.sparse.major", b"1"), (b"GNU.sparse.minor", b"0")) + tar_file(b"x"),
        "x: is a sparse file; only files and folders are taken",
    ),
    "volume": (tar_header(b"x", type_=b"V"), "x: is of the unknown type b'V'; only files and"),
    "continued": (tar_header(b"x", type_=b"M"), "x: is of the unknown type b'M'; only files and"),
    "folder with data": (tar_file(b"x", type_=b"5"), "x: is a folder that has data; pack it again"),
    "file that ends as a folder": (tar_file(b"x/"), "x/: is a folder that has data"),
    "sum": (tar_header(b"x", sum=b"000000\0 "), "has a header that is damaged; pack it again"),
    "negative": (
        tar_header(b"x", raw_size=b"\xff" * 12),
        "a header in it has a number that is none; pack it again",
    ),
    "no digits": (tar_header(b"x", raw_size=b"0000000009\0 "), "has a number that is none"),
    "more than a file": (
        tar_header(b"x", raw_size=b"\x80" + b"\xff" * 11),
        "x: has more than 256 MB; leave it out",
    ),
    "pax path up": (pax((b"path", b"../x")) + tar_file(b"y"), f"../x: {LEADS_UP}"),
    "pax path with a zero byte": (
        pax((b"path", b"x\0y")) + tar_file(b"y"),
        "x?y: its name has characters that can't be shown; rename it",
    ),
    "pax path, long": (
        pax((b"path", b"a/" * 600 + b"b")) + tar_file(b"y"),
        "its path has 1201 bytes, 1024 are allowed; use shorter names",
    ),
    "pax size": (
        pax((b"size", b"-1")) + tar_file(b"x"),
        "x: its header states a size that is none",
    ),
    "pax size in words": (pax((b"size", b"9" * 21)) + tar_file(b"x"), "states a size that is none"),
    "pax size, huge": (pax((b"size", b"9" * 19)) + tar_file(b"x"), "x: has more than 256 MB"),
    "pax size, short": (pax((b"size", b"0")) + tar_file(b"x", b"y"), "a header that is damaged"),
    "pax for all": (
        pax((b"path", b"x"), type_=b"g") + tar_file(b"y"),
        "states a path or a size for all members; pack it again",
    ),
    "pax length": (pax(b"99 path=x\n") + tar_file(b"y"), "is a pax header that can't be read"),
    "pax length 0": (pax(b"0 path=x\n") + tar_file(b"y"), "is a pax header that can't be read"),
    "pax length negative": (pax(b"-9 path=x\n") + tar_file(b"y"), "a pax header that can't be"),
    "pax words": (pax(b"no record\n") + tar_file(b"y"), "is a pax header that can't be read"),
    "long name up": (
        tar_header(b"././@LongLink", 5, b"L") + padded(b"../x\0") + tar_file(b"y"),
        f"../x: {LEADS_UP}",
    ),
    "long name, huge": (
        tar_header(b"././@LongLink", 2 << 20, b"L"),
        "././@LongLink: is a header of more than 1 MB, or one of too many; pack it again",
    ),
    "prefix up": (tar_file(b"x", prefix=b"a/../.."), f"a/../../x: {LEADS_UP}"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_hostile_member_is_refused(inbox, case):
    """In one line that names it, with what to do; what was written before it is gone."""
    member, words = REFUSED[case]
    assert words in inbox.refused("a.tar", tar_bytes(BOT, member))


def test_a_member_behind_the_end_is_no_secret(inbox):
    data = tar_bytes(BOT) + tar_file(b"hidden", b"x")
    assert "holds data behind its end; pack it again" in inbox.refused("a.tar", data)


def test_one_member_twice_is_refused(inbox):
    """Tar would take the last, others the first."""
    assert "bot.py: is there twice" in inbox.refused("a.tar", tar_bytes(BOT, BOT))


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress])
def test_an_archive_without_its_end_is_unfinished(inbox, pack):
    """However much of it is missing."""
    data = pack(tar_bytes(BOT, tar_file(b"table.bin", os.urandom(2000)), end=b"\0" * 512))
    for size in range(512, len(data), 100):
        with pytest.raises(
            UnfinishedError, match=r"its end is missing: the upload is not complete"
        ):
            inbox.unpack(inbox.put("a", data[:size]))


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_damage_in_the_compressed_data_is_one_line(inbox, pack):
    data = bytearray(pack(tar_bytes(tar_file(b"table.bin", os.urandom(20_000)))))
    data[len(data) // 2] ^= 255
    assert "damaged; pack it again" in inbox.refused("a", bytes(data))


def test_a_compressed_file_that_is_no_archive_is_refused(inbox):
    data = gzip.compress(b"print(1)" * 100)
    assert "is no tar archive; pack it again with tar -czf" in inbox.refused("a.gz", data)
    assert "its end is missing" in inbox.refused("a.gz", gzip.compress(b"print(1)"))


def test_streams_one_behind_the_other_are_one_archive(inbox):
    """As bgzip and `cat` write them; zeros behind them are padding of a tape."""
    data = tar_bytes(BOT)
    pieces = b"".join(gzip.compress(data[at : at + 100]) for at in range(0, len(data), 100))
    inbox.unpack(inbox.put("a.tgz", pieces + bytes(5000)))
    assert {"bot.py": b"print(1)"} == inbox.content()


def test_data_behind_the_compressed_data_is_refused(inbox):
    assert "is damaged" in inbox.refused("a.tgz", gzip.compress(tar_bytes(BOT)) + b"secret")


def test_a_million_empty_streams_take_no_time(inbox):
    words = "is made of more than 10000 compressed pieces; pack it again"
    assert words in inbox.refused("a.tgz", gzip.compress(b"", mtime=0) * 1_000_000)


def test_a_dictionary_of_gigabytes_is_refused(inbox):
    """Xz takes as much memory as the archive asks for."""
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 1 << 20}]
    data = bytearray(lzma.compress(tar_bytes(BOT), check=lzma.CHECK_NONE, filters=filters))
    place = data.index(b"\x21\x01") + 2  # the filter's number, the length of its properties
    data[place] = 40  # 4 GB
    header = 12 + 4 * (data[12] + 1)
    data[header - 4 : header] = zlib.crc32(data[12 : header - 4]).to_bytes(4, "little")
    assert "takes more than 128 MB of memory to unpack" in inbox.refused("a.tar.xz", bytes(data))


@pytest.mark.parametrize(
    "pack", [gzip.compress, bz2.compress, lambda data: lzma.compress(data, preset=0)]
)
def test_a_bomb_is_refused(inbox, pack):
    """By its ratio; by its size where members are dropped, or where zeros follow the end."""
    data = pack(tar_bytes(tar_file(b"zeros", bytes(17 << 20))))
    assert "unpacks to more than 200 times its size" in inbox.refused("a", data)
    caps = UploadCaps(total_mb=3, files=1)
    for content in (tar_file(b".git/x", bytes(6 << 20)), bytes(6 << 20)):
        words = inbox.refused("a", pack(tar_bytes(BOT, content)), caps)
        assert "unpacks to more than 4 MB; leave out what the bot doesn't need" in words


def test_a_million_headers_are_refused_early(inbox):
    words = inbox.refused(
        "a",
        gzip.compress(tar_header(b"././@x", type_=b"L") * 10_000),
        UploadCaps(total_mb=1, files=1),
    )
    assert "unpacks to more than 2 MB" in words
    files = gzip.compress(b"".join(tar_file(b"%d" % n, b"") for n in range(300)))
    assert "holds more than 20 files" in inbox.refused("a", files, UploadCaps(files=20))


FORMATS = [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT]


@pytest.mark.parametrize("form", FORMATS)
def test_what_python_writes_is_taken(inbox, form):
    """Long names and names beyond ASCII, in every form; modes become plain."""
    content = {"bot/bot.py": b"a" * 1000, "bot/" + "d" * 90 + "/" + "é" * 40: b"b", "bot/run": b"c"}
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz", format=form) as archive:
        folder = tarfile.TarInfo("bot")
        folder.type = tarfile.DIRTYPE
        archive.addfile(folder)
        for name, data in content.items():
            info = tarfile.TarInfo(name)
            info.size, info.mode, info.mtime = (
                len(data),
                0o7755 if name == "bot/run" else 0o606,
                1.5,
            )
            archive.addfile(info, io.BytesIO(data))
    inbox.unpack(inbox.put("a", made.getvalue()))
    assert {name.removeprefix("bot/"): data for name, data in content.items()} == inbox.content()
    assert 0o755 == stat.S_IMODE((inbox.target / "run").stat().st_mode)
    assert 0o644 == stat.S_IMODE((inbox.target / "bot.py").stat().st_mode)


def test_names_of_old_programs_are_taken(inbox):
    """Without a magic word, with Latin-1 names, and sums of signed bytes."""
    block = bytearray(tar_header("grün".encode("latin-1"), magic=bytes(8)))
    unsigned = sum(block[:148]) + 256 + sum(block[156:])
    block[148:156] = b"%06o\0 " % (unsigned - 256)
    inbox.unpack(inbox.put("a", tar_bytes(bytes(block), tar_header(b"old/", type_=b"\0"))))
    assert {"grün": b""} == inbox.content()


def test_headers_of_git_and_of_macos_are_passed_over(inbox):
    """A comment for all members; attributes; a link's long target."""
    parts = [
        pax((b"comment", b"0123abcd"), type_=b"g"),
        pax((b"LIBARCHIVE.xattr.com.apple.quarantine", b"x=\0\n\xff"), (b"mtime", b"1.5")),
        tar_header(b"././@LongLink", 300, b"K") + padded(b"t" * 300),
        BOT,
    ]
    inbox.unpack(inbox.put("a", tar_bytes(*parts)))
    assert {"bot.py": b"print(1)"} == inbox.content()


@pytest.mark.parametrize("program", ["tar", "bsdtar"])
@pytest.mark.parametrize("flag", ["-z", "-j", "-J", "-f"])
def test_what_tar_writes_is_taken(inbox, program, flag):
    if not which(program):
        pytest.skip(f"no {program} installed")
    source = inbox.root / "made" / "bot"
    (source / ("d" * 120)).mkdir(parents=True)
    (source / "bot.py").write_text("x")
    (source / ("d" * 120) / ("é" * 60)).write_text("y")
    made = inbox.path / "a"
    subprocess.run(
        [program, "-c", flag.replace("-f", "-v"), "-f", made, "bot"],
        cwd=source.parent,
        check=True,
        capture_output=True,
    )
    inbox.unpack(made)
    assert {"bot.py": b"x", "d" * 120 + "/" + "é" * 60: b"y"} == inbox.content()


def test_a_sparse_file_of_tar_is_refused(inbox):
    source = inbox.root / "made"
    source.mkdir()
    with (source / "hole").open("wb") as file:
        file.truncate(50 << 20)
    for form in ("gnu", "posix"):
        made = inbox.path / f"{form}.tar"
        subprocess.run(["tar", f"--format={form}", "-cSf", made, "hole"], cwd=source, check=True)
        assert "hole: is a sparse file" in inbox.refused(f"{form}.tar", made)
