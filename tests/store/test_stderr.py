"""What is kept of bots' stderr: so much and no more, the newest and the faults."""

import pytest

from arena.store import stderr
from arena.store.stderr import Stderr


def held(folder):
    """Bytes of all files."""
    return sum(path.stat().st_size for path in folder.iterdir())


def test_each_bot_has_a_file(tmp_path):
    """By match."""
    kept = Stderr(tmp_path / "stderr", bots=2)
    kept.add("a@1", "p-1", "hello\n", failed=False)
    kept.add("a@1", "p-2", "again", failed=False)
    kept.add("b@1", "p-1", "\x1b[2J", failed=False)
    assert "== p-1\nhello\n== p-2\nagain\n" == (tmp_path / "stderr" / "a@1.log").read_text()
    assert "== p-1\n\\x1b[2J\n" == (tmp_path / "stderr" / "b@1.log").read_text()
    assert 2 == len(list((tmp_path / "stderr").iterdir()))


def test_the_newest_is_there_and_the_faults_are(tmp_path, monkeypatch):
    """Of a bot that writes without an end, in a hundred matches and by several commands."""
    monkeypatch.setattr(stderr, "STDERR_KEPT", 8000)
    for command in range(4):
        kept = Stderr(tmp_path, bots=1)
        for match in range(25):
            number = 25 * command + match
            kept.add("a@1", f"p-{number}", f"{number}: {'x' * 500}", failed=number in (3, 50))
            assert held(tmp_path) <= 8000
            assert f"== p-{number}\n" in (tmp_path / "a@1.log").read_text()
    both = (tmp_path / "a@1.older").read_text() + (tmp_path / "a@1.log").read_text()
    assert [f"p-{number}" for number in range(100)][-both.count("== ") :] == [
        line[3:] for line in both.splitlines() if line.startswith("== ")
    ]
    assert both.count("== ") > 5
    faults = (tmp_path / "a@1.faults").read_text()
    assert ["== p-3", "== p-50"] == [each for each in faults.splitlines() if "==" in each]


def test_one_match_that_is_more_than_the_part_keeps_its_end(tmp_path, monkeypatch):
    """A traceback is the last of it."""
    monkeypatch.setattr(stderr, "STDERR_KEPT", 800)
    Stderr(tmp_path, bots=1).add("a@1", "p-1", "x" * 5000 + "the end", failed=True)
    text = (tmp_path / "a@1.log").read_text()
    assert text.startswith("== p-1\nxxx")
    assert text.endswith("xthe end\n")
    assert held(tmp_path) <= 800


@pytest.mark.parametrize("bots", [1, 10, 1000])
def test_all_bots_together_have_a_total(tmp_path, monkeypatch, bots):
    """However many they are, and however often each fails."""
    monkeypatch.setattr(stderr, "STDERR_KEPT", 4000)
    monkeypatch.setattr(stderr, "STDERR_OF_EVENT", 40_000)
    kept = Stderr(tmp_path, bots=bots)
    for match in range(3):
        for bot in range(bots):
            kept.add(f"b{bot}@1", f"p-{match}", "x" * 3000, failed=True)
    assert held(tmp_path) <= 40_000
