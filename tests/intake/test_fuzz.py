"""Whatever bytes are handed in: a folder of plain files, or one line; nothing elsewhere."""

import bz2
import gzip
import io
import lzma
import os
import shutil
import tarfile
import tempfile
import zipfile
from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st

from arena.intake import SubmissionError, UploadCaps, split, unpack
from tests.intake.archives import Zipped, pax, tar_bytes, tar_file, tar_header, zip_bytes

CAPS = UploadCaps(upload_mb=1, total_mb=1, file_mb=1, files=20, depth=4, path_bytes=100, ratio=50)

NAMES = st.one_of(
    st.sampled_from(
        [b"bot.py", b"a/b", b"../x", b"/x", b"a\\..\\b", b"C:x", b".git/x", b"a/", b"..", b"A/B"]
    ),
    st.binary(max_size=12),
    st.lists(st.sampled_from([b".", b"..", b"a", b"", b"\0", b"a" * 60]), max_size=6).map(
        b"/".join
    ),
)
NUMBERS = st.one_of(st.integers(0, 300), st.sampled_from([0xFFFF, 1 << 31, 0xFFFFFFFF]))
LIES = st.dictionaries(st.sampled_from(["crc", "packed", "size", "offset"]), NUMBERS, max_size=2)
MEMBERS = st.builds(
    Zipped,
    name=NAMES,
    data=st.binary(max_size=50),
    method=st.sampled_from([8, 8, 0, 0, 12]),
    flags=st.sampled_from([0, 0, 8, 0x800, 1]),
    made=st.sampled_from([0, 3 << 8]),
    attributes=st.sampled_from([0, 0o100755 << 16, 0o120777 << 16, 0o40755 << 16, 0x10]),
    extra=st.one_of(st.just(b""), st.binary(max_size=30)),
    lie=LIES,
    local_lie=LIES,
)
ENDS = st.one_of(
    st.just({}),
    st.dictionaries(st.sampled_from(["here", "count"]), st.integers(0, 0xFFFF), max_size=2),
    st.dictionaries(st.sampled_from(["length", "start"]), NUMBERS, max_size=1),
)
ZIPS = st.builds(
    lambda members, end: zip_bytes(*members, end=end), st.lists(MEMBERS, max_size=4), ENDS
)

PARTS = st.one_of(
    st.builds(tar_file, NAMES, st.binary(max_size=600)),
    st.builds(
        tar_header, NAMES, st.integers(0, 9999), st.sampled_from([b"%d" % n for n in range(8)])
    ),
    st.builds(
        lambda key, value: pax((key, value)), st.sampled_from([b"path", b"size", b"x"]), NAMES
    ),
    st.builds(pax, st.binary(max_size=40)),
    st.builds(
        lambda data, kind: tar_file(b"long", data, type_=kind),
        NAMES,
        st.sampled_from([b"L", b"K", b"g", b"S"]),
    ),
    st.binary(min_size=512, max_size=512),
)
TARS = st.lists(PARTS, max_size=5).map(lambda parts: tar_bytes(*parts))


@st.composite
def damaged(draw, whole):
    """An archive with some bytes changed, cut off, or doubled; compressed, or not."""
    data = bytearray(draw(whole))
    for _ in range(draw(st.integers(0, 3))):
        if data:
            data[draw(st.integers(0, len(data) - 1))] = draw(st.integers(0, 255))
    pack = draw(st.sampled_from([bytes, bytes, bytes, gzip.compress, bz2.compress, lzma.compress]))
    data = bytearray(pack(bytes(data)))
    if data and draw(st.booleans()):
        data[draw(st.integers(0, len(data) - 1))] ^= draw(st.integers(0, 255))
    return bytes(data[: draw(st.integers(0, 2 * len(data)))])


def paths(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def taken_or_refused(data, name="a"):
    """What is written lies in the target, is plain, and within the limits."""
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        (root / "in").mkdir()
        (root / "out").mkdir()
        (root / "in" / name).write_bytes(data)
        for function in (unpack, split):
            try:
                function(root / "in" / name, root / "out" / "bot", CAPS)
            except SubmissionError as error:
                refusal = str(error)
            else:
                refusal = ""
                inside = [
                    Path(where, each)
                    for where, folders, files in os.walk(root / "out" / "bot")
                    for each in folders + files
                ]
                assert all(
                    not path.is_symlink() and (path.is_dir() or path.is_file()) for path in inside
                )
                assert sum(path.stat().st_size for path in inside if path.is_file()) <= 1 << 20
                assert len(inside) <= 20
                shutil.rmtree(root / "out" / "bot")
            assert refusal.isprintable()
            assert len(refusal) < 500
            assert {"in", f"in/{name}", "out"} == paths(root)


@given(damaged(ZIPS))
@example(zip_bytes(Zipped(b"a", b"x"), Zipped(b"A", b"x")))
def test_any_zip(data):
    taken_or_refused(data)


@given(damaged(TARS))
def test_any_tar(data):
    taken_or_refused(data)


@given(
    st.sampled_from([b"", b"PK\3\4", b"PK\5\6", b"\x1f\x8b\x08", b"BZh9", b"\xfd7zXZ\0"]),
    st.binary(max_size=600),
)
def test_any_bytes(beginning, rest):
    taken_or_refused(beginning + rest)


CONTENT = st.dictionaries(
    st.lists(
        st.text("abcdefg ü_-.", min_size=1, max_size=8).filter(
            lambda part: part.strip(". ") and not part.startswith("._")
        ),
        min_size=1,
        max_size=4,
    ).map("/".join),
    st.binary(max_size=300),
    min_size=1,
    max_size=6,
).filter(
    lambda content: not any(one.startswith(f"{other}/") for one in content for other in content)
)


@given(CONTENT, st.sampled_from(["zip", "w", "w:gz", "w:xz"]))
def test_what_is_sound_is_taken_as_it_is(content, form):
    """Whatever its names and bytes: none is lost, none is added, whoever packed it."""
    content = {f"bot/{name}": data for name, data in content.items()} | {"bot/z": b"", "bot/y": b""}
    made = io.BytesIO()
    if form == "zip":
        with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in content.items():
                archive.writestr(name, data)
    else:
        with tarfile.open(fileobj=made, mode=form) as archive:
            for name, data in content.items():
                info = tarfile.TarInfo(name)
                info.size = len(data)
                archive.addfile(info, io.BytesIO(data))
    with tempfile.TemporaryDirectory() as place:
        source, target = Path(place, "a"), Path(place, "bot")
        source.write_bytes(made.getvalue())
        unpack(source, target)
        files = {
            str(p.relative_to(Path(place))): p.read_bytes()
            for p in target.rglob("*")
            if p.is_file()
        }
    assert content == files
