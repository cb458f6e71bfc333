"""Temporary files where tempfile puts them: made, written, mapped, renamed, removed."""

import json
import mmap
import os
import shutil
import tempfile
from pathlib import Path

assert tempfile.gettempdir() == os.environ["TMPDIR"]
with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    (folder / "table.json").write_text(json.dumps({"a": 1}))
    (folder / "table.json").rename(folder / "other.json")
    assert json.loads((folder / "other.json").read_text()) == {"a": 1}
    (folder / "link").symlink_to("other.json")
    assert (folder / "link").resolve().name == "other.json"
    with (folder / "block").open("w+b") as block:
        block.write(bytes(1 << 20))
        block.flush()
        with mmap.mmap(block.fileno(), 0, prot=mmap.PROT_READ) as seen:
            assert seen[-1] == 0
    for number in range(200):
        (folder / f"f{number}").touch()
    assert len(list(folder.iterdir())) == 203
    (folder / "block").chmod(0o600)
    shutil.copy(folder / "block", folder / "copy")
with tempfile.TemporaryFile() as nameless:
    nameless.write(b"x" * 100_000)
    assert nameless.tell() == 100_000
print("OK", flush=True)
