"""An inbox of uploads, and a look at all that unpacking one has written."""

import os
from pathlib import Path

import pytest

from arena.intake import CAPS, SubmissionError, unpack


class Inbox:
    """Makes uploads, unpacks them, and sees that nothing else has changed."""

    def __init__(self, root: Path):
        self.root = root
        self.path = root / "inbox"
        self.out = root / "out"
        self.target = self.out / "bot"
        self.path.mkdir()
        self.out.mkdir()

    def put(self, name, data):
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    def unpack(self, source, caps=CAPS):
        before = self.everything()
        try:
            return unpack(source, self.target, caps)
        finally:
            after = {path for path in self.everything() if self.target not in (path, *path.parents)}
            assert before == after, "nothing lies outside of the target"

    def refused(self, name, data, caps=CAPS):
        """The words of the one line, without the upload's name; nothing is left behind."""
        source = self.put(name, data) if isinstance(data, bytes) else data
        with pytest.raises(SubmissionError) as caught:
            self.unpack(source, caps)
        assert not os.path.lexists(self.target)
        text = str(caught.value)
        assert text.isprintable()
        assert text.startswith(f"{name}: ")
        return text.removeprefix(f"{name}: ")

    def content(self):
        """Each file's bytes, by its path in the target."""
        return {
            str(path.relative_to(self.target)): path.read_bytes()
            for path in sorted(self.target.rglob("*"))
            if not path.is_dir()
        }

    def everything(self):
        return set(self.root.rglob("*"))


@pytest.fixture
def inbox(tmp_path):
    return Inbox(tmp_path)
