"""Hostile uploads under real limits of memory, time, descriptors and disk."""

import gzip
import lzma
import random
import re
import subprocess
import sys
import zlib

import pytest

from tests.intake.archives import Zipped, pax, tar_bytes, tar_file, tar_header, zip_bytes

ROOM_MB = 64  # above what the interpreter and the package take
SECONDS = 10  # of CPU, the start included; a hundred times what most of these need

PROGRAM = """
import resource, sys
from pathlib import Path
from arena.intake import SubmissionError, UploadCaps, unpack
from arena.model import HostError
source, target, room, seconds, file_size, files = sys.argv[1:]
pages = int(Path("/proc/self/statm").read_text().split()[0])
most = pages * resource.getpagesize() + (int(room) << 20)
resource.setrlimit(resource.RLIMIT_AS, (most, most))
resource.setrlimit(resource.RLIMIT_NOFILE, (96, 96))
resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds)))
if int(file_size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(file_size), int(file_size)))
try:
    print("taken", unpack(Path(source), Path(target), UploadCaps(files=int(files))).files)
except (SubmissionError, HostError) as error:
    print(type(error).__name__, error)
"""


def limited(inbox, source, file_size=0, files=20_000):
    numbers = map(str, (ROOM_MB, SECONDS, file_size, files))
    command = [sys.executable, "-c", PROGRAM, source, inbox.target, *numbers]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (0, "") == (done.returncode, done.stderr)
    if not done.stdout.startswith("taken"):
        assert not list(inbox.out.iterdir())
    return done.stdout


def zip_end(start):
    return b"PK\5\6" + bytes(12) + start.to_bytes(4, "little") + bytes(2)


def large_upload(path):
    """Two gigabytes, as a zip and by its end."""
    with path.open("wb") as file:
        file.write(b"PK\3\4")
        file.truncate(2 << 30)
        file.seek(0, 2)
        file.write(zip_end(1000))


def large_file(path):
    with path.open("wb") as file:
        file.truncate(2 << 30)


def many_files(path):
    path.write_bytes(zip_bytes(*(Zipped(b"%d" % n, method=0) for n in range(25_000))))


def many_comments(path):
    """A directory of 60 MB for few members."""
    members = [Zipped(b"%d" % n, method=0, extra=bytes(65_000)) for n in range(1000)]
    path.write_bytes(zip_bytes(*members))


def many_small_files_in_tar(path):
    members = (tar_header(b"%d" % n) for n in range(25_000))
    path.write_bytes(gzip.compress(b"".join(members)))


def zeros(compressor, packed_mb):
    """A stream of zeros that unpacks to so many megabytes."""
    chunk = bytes(1 << 20)
    return b"".join(compressor.compress(chunk) for _ in range(packed_mb)) + compressor.flush()


def gzip_bomb(path):
    header = tar_header(b"zeros", 1 << 30)
    compressor = zlib.compressobj(1, zlib.DEFLATED, 31)
    path.write_bytes(compressor.compress(header) + zeros(compressor, 400))


def xz_bomb(path):
    compressor = lzma.LZMACompressor(preset=0)
    path.write_bytes(compressor.compress(tar_header(b"zeros", 1 << 30)) + zeros(compressor, 100))


def large_pax(path):
    """Names of a megabyte, again and again."""
    path.write_bytes(gzip.compress(pax((b"path", b"x" * 1_000_000)) * 3 + tar_bytes(tar_file())))


def many_records(path):
    records = b"".join(b"%d %d=\n" % (len(str(n)) + 4, n) for n in range(10, 99)) * 1500
    path.write_bytes(gzip.compress(pax(records) * 4 + tar_bytes(tar_file())))


def many_headers(path):
    path.write_bytes(gzip.compress(pax((b"x", b"x" * 900_000)) * 40 + tar_bytes(tar_file())))


def long_paths(path):
    """Each in folders of its own: 20,000 paths of a kilobyte, 300,000 folders."""
    places = ("/".join(f"{n:030d}" for _ in range(32)) for n in range(20_000))
    path.write_bytes(zip_bytes(*(Zipped(place.encode(), method=0) for place in places)))


REFUSED = {
    large_upload: "has 2048 MB, 256 are allowed; leave out what the bot doesn't need",
    large_file: "has 2048 MB, 256 are allowed",
    many_files: "holds more than 20000 files and folders; leave out what the bot doesn't need",
    many_small_files_in_tar: "holds more than 20000 files and folders",
    gzip_bomb: "zeros: has more than 256 MB; leave it out",
    xz_bomb: "zeros: has more than 256 MB; leave it out",
    large_pax: "has 1000000 bytes, 1024 are allowed",
    many_headers: "PaxHeader: is a header of more than 1 MB, or one of too many",
    long_paths: "holds more than 20000 files and folders",
}


@pytest.mark.parametrize("make", REFUSED, ids=lambda make: make.__name__)
def test_a_hostile_upload_is_refused_within_its_limits(inbox, make):
    source = inbox.path / "ann"
    make(source)
    assert re.search(f"^(Submission|Member)Error ann: .*{REFUSED[make]}", limited(inbox, source))


def test_a_large_folder_is_refused_before_it_is_copied(inbox):
    for number in range(300):
        source = inbox.put(f"ann/{number % 7}/{number}", b"").parents[1]
    words = "SubmissionError ann: holds more than 200 files and folders"
    assert limited(inbox, source, files=200).startswith(words)


def test_a_folder_without_a_bottom_is_refused_before_it_takes_all_descriptors(inbox):
    inbox.put("ann/bot.py", b"x")
    here = inbox.path / "ann"
    for _ in range(150):
        here /= "d"
        here.mkdir()
    assert "folders deep; use fewer" in limited(inbox, inbox.path / "ann")


@pytest.mark.parametrize("make", [many_comments, many_records], ids=lambda make: make.__name__)
def test_what_is_odd_but_sound_is_taken_within_its_limits(inbox, make):
    source = inbox.path / "ann"
    make(source)
    assert limited(inbox, source).startswith("taken")


@pytest.mark.parametrize("packed", ["zip", "tar", "gzip", "folder"])
def test_a_large_sound_upload_takes_no_more_memory(inbox, packed):
    """100 MB, where 64 are there."""
    noise = random.Random(1).randbytes(1 << 20)
    members = [(b"%d" % n, noise) for n in range(100)]
    if packed == "zip":
        inbox.put("ann", zip_bytes(*(Zipped(*member, method=0) for member in members)))
    elif packed == "folder":
        for name, data in members:
            inbox.put(f"ann/{name.decode()}", data)
    else:
        data = tar_bytes(*(tar_file(*member) for member in members))
        inbox.put("ann", gzip.compress(data, 0) if packed == "gzip" else data)
    assert "taken 100\n" == limited(inbox, inbox.path / "ann")


def test_a_full_disk_is_the_machines_trouble(inbox):
    """By the largest size that a file may have here, which fails as a full disk does."""
    source = inbox.put("ann", zip_bytes(Zipped(b"a", bytes(100_000)), Zipped(b"b", bytes(9))))
    assert re.search(
        "^HostError .*a file has reached the largest size", limited(inbox, source, 50_000)
    )
