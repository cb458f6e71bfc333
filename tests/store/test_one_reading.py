"""How often a command opens the files of a results folder: event.json once, the log no more often
than its work needs.
"""

import contextlib
import shutil
import sys
from collections import Counter

import pytest
from click.testing import CliRunner

from arena.cli import commands
from arena.event.results import count_folder
from arena.ratings.standings import table
from arena.registry import table_files
from tests.verify.conftest import make
from tests.verify.test_epochs import GOLF, epoch

_counting = None


def _audit(name, args):
    # What `open` does by `os.open` is said twice, the second time without a mode.
    if _counting is not None and name == "open" and args[1] is not None:
        _counting[str(args[0]).rpartition("/")[2]] += 1


sys.addaudithook(_audit)  # for good: there is no way to remove one


@contextlib.contextmanager
def counted():
    """Openings of files, by their names."""
    global _counting  # noqa: PLW0603 - an audit hook has no other place
    _counting = Counter()
    try:
        yield _counting
    finally:
        _counting = None


@pytest.fixture(scope="module")
def event(tmp_path_factory, play_event):
    """Three bots, one of them with a fault; its tables lie beside the log."""
    folder = play_event(
        tmp_path_factory.mktemp("read") / "event", ("ann@1", "bob@1", "cid@1"), deals=2
    )
    played, counting = count_folder(folder)
    ruled = table(played, counting.counted(), rule=played.settings.rule)
    for name, text in ((name, each.file_text(ruled)) for name, each in table_files().items()):
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def openings(*words):
    """What a command that has to succeed opens."""
    with counted() as found:
        done = CliRunner().invoke(commands, [*map(str, words)])
    assert done.exit_code == 0, (words, done.output, done.exception)
    return found


def match_of(folder):
    """The id of its first match."""
    done = CliRunner().invoke(commands, ["log", str(folder)])
    return done.output.partition('"id":"')[2].partition('"')[0]


READERS = {
    "table": ("table", "{folder}"),
    "rate": ("rate", "{folder}"),
    "log": ("log", "{folder}"),
    "log-canonical": ("log", "{folder}", "--canonical"),
    "log-all": ("log", "{folder}", "--all"),
    "log-faults": ("log", "{folder}", "--faults"),
    "log-transcript": ("log", "{folder}", "--transcript", "{match}", "--bot", "bob"),
    "audit": ("audit", "{folder}"),
    "verify": ("verify", "{folder}"),
    "replay-list": ("replay", "{folder}"),
    "replay-all": ("replay", "{folder}", "--all"),
    "replay-search": ("replay", "{folder}", "--bot", "ann", "--sort", "best"),
    "replay-match": ("replay", "{folder}", "{match}", "--print"),
    "publish": ("publish", "{folder}", "--to", "{site}", "--jobs", "1"),
}


@pytest.mark.parametrize("words", READERS.values(), ids=READERS.keys())
def test_a_command_reads_event_json_once(words, event, tmp_path):
    """Every command that reads a folder."""
    names = {"folder": event, "match": match_of(event), "site": tmp_path / "site"}
    found = openings(*(word.format(**names) for word in words))
    assert 1 == found["event.json"]


def test_publish_reads_the_log_twice(event, tmp_path):
    """Once for what counts, once for the records that do; then some are picked for regrets."""
    words = ("publish", event, "--to", tmp_path / "site", "--jobs", 1)
    assert 2 == openings(*words, "--regret", 0)["matches.jsonl"]
    assert 3 == openings(*words)["matches.jsonl"]


def test_an_audit_opens_the_log_once(event):
    """For what counts, and for the records that do, deal by deal."""
    assert 1 == openings("audit", event)["matches.jsonl"]


@pytest.mark.parametrize("command", [["table"], ["verify"], ["publish", "--to", "{site}"]])
def test_an_event_with_epochs_is_read_like_one_without(command, tmp_path):
    """Of each of its folders event.json once, and by `publish` the log twice."""
    folder = make(tmp_path / "event", GOLF, ("ann", "bob"))
    epoch(folder, ("ann", "bob"), ("cyd",))
    name, *rest = (word.format(site=tmp_path / "site") for word in command)
    found = openings(name, folder, *rest)
    assert 2 == found["event.json"]
    if name == "publish":  # the last epoch's once more, for regrets
        assert 4 + 1 == found["matches.jsonl"]


def test_a_damaged_log_is_published_in_two_passes(event, tmp_path):
    """One for the table of what is whole, one to say which line it is."""
    folder = shutil.copytree(event, tmp_path / "event")
    log = folder / "matches.jsonl"
    data = bytearray(log.read_bytes())
    data[200] ^= 1
    log.write_bytes(data)
    assert 2 == openings("publish", folder, "--to", tmp_path / "site")["matches.jsonl"]


def test_a_rating_and_a_merge_read_event_json_once_a_folder(event, tmp_path):
    """The folder that a merge writes counts as another one."""
    other = make(tmp_path / "other", GOLF, ("ann", "bob"))
    apart = make(tmp_path / "apart", GOLF, ("cyd", "dan"), secret=b"2" * 32)
    assert 2 == openings("rate", other, apart)["event.json"]
    shards = [make(tmp_path / f"{n}", GOLF, ("ann", "bob", "cyd"), shard=f"{n}/2") for n in (1, 2)]
    assert 3 == openings("merge", *shards, "--out", tmp_path / "whole")["event.json"]
