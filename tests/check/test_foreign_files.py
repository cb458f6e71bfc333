"""What `check` reads of a bot's own, by words and links that a bot has chosen."""

import os
import time

import pytest

from arena.check.diagnosis import diagnose
from arena.check.examination import has_windows_lines
from arena.check.mistakes import Expected, Facts, Mistake
from arena.check.packages import imports
from arena.model import Bot, Entrant


def bot(root, *run):
    entrant = Entrant(id="a@1", name="a", version="1", author="", hash="0" * 64)
    return Bot(entrant=entrant, root=str(root), run=run)


def test_no_file_outside_of_the_bot_is_read(tmp_path):
    """By a path in `run`, or by a link that its build has made; a pipe isn't waited for."""
    root = tmp_path / "bot"
    root.mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "windows").write_bytes(b"a\r\nb")
    (tmp_path / "secret.py").write_text("import theirs\n")
    for name, target in (("a.py", "../secret.py"), ("b.py", "../pipe"), ("c", "../windows")):
        (root / name).symlink_to(target)
    os.mkfifo(root / "d.py")
    (root / "e.py").write_text("import own\n")
    words = (str(tmp_path / "pipe"), "../pipe", "../windows", "/bot/c", "/bot/../windows", "d.py")
    assert not has_windows_lines(bot(root, "python3", *words))
    assert has_windows_lines(bot(tmp_path, "sh", "/bot/windows"))
    assert {"own": "e.py:1"} == imports(root)


def test_a_million_imports_take_no_second(tmp_path):
    """Lines are counted once, and a long name is tried once."""
    for name in ("a.py", "b.py", "c.py"):
        (tmp_path / name).write_text("import a\n" * 100_000 + "from " + "a" * 100_000)
    begun = time.process_time()
    assert {"a": "a.py:1"} == imports(tmp_path)
    assert 1 > time.process_time() - begun


@pytest.mark.parametrize("text", ["from " + "a" * 1_000_000, "from a" + ".a" * 500_000])
def test_a_module_of_a_million_letters_takes_no_second(tmp_path, text):
    """Nothing is gone back over."""
    (tmp_path / "a.py").write_text(text)
    begun = time.process_time()
    assert {} == imports(tmp_path)
    assert 1 > time.process_time() - begun


@pytest.mark.parametrize("text", ["\n", " \n", "\t at (", "spawn ", "thread '", "a:", ": line 1"])
def test_what_a_bot_writes_to_stderr_takes_no_second(text):
    """As much as is kept of it, whatever it is."""
    stderr = text * (65_536 // len(text))
    begun = time.process_time()
    found = diagnose(Facts(expected=Expected.MOVE, ended=True, status="exit 1", stderr=stderr))
    assert found.mistake in {Mistake.STATUS, Mistake.EXCEPTION}
    assert 1 > time.process_time() - begun
