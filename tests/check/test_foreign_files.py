"""What `check` reads of a bot's own, by words and links that a bot has chosen."""

import os
import time

from arena.check.examination import _windows
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
    assert not _windows(bot(root, "python3", *words))
    assert _windows(bot(tmp_path, "sh", "/bot/windows"))
    assert {"own": "e.py:1"} == imports(root)


def test_a_million_imports_take_no_second(tmp_path):
    """Lines are counted once, and a long name is tried once."""
    for name in ("a.py", "b.py", "c.py"):
        (tmp_path / name).write_text("import a\n" * 100_000 + "from " + "a" * 100_000)
    begun = time.process_time()
    assert {"a": "a.py:1"} == imports(tmp_path)
    assert 1 > time.process_time() - begun
