"""What lies in the place of a folder's files: pipes, devices, links, and far too much."""

import json
import os
import shutil
import signal

import msgspec
import pytest

from arena.deals import commitment, secret_from_seed
from arena.model import Event

SECRET = secret_from_seed("tests")
READERS = (
    ("table",),
    ("rate",),
    ("log",),
    ("log", "--all"),
    ("log", "--faults"),
    ("log", "--transcript", "x", "--bot", "ann@1"),
    ("verify",),
    ("audit",),
    ("twins", "--sandbox", "none"),
    ("stop",),
)


@pytest.fixture(autouse=True)
def in_time():
    """A reader that waits for a pipe ends the test, not the day."""

    def late(_number, _frame):
        raise AssertionError("it hangs")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(20)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def unfinished(forger, **private):
    """Make it an event that somebody could go on with, whatever is changed in it."""
    other = {"finished": False, "secret": "", "sandbox": "bwrap", **private.pop("event", {})}
    event = {**forger.event(), **other}
    stated = msgspec.convert(event, Event)
    event["commitment"] = commitment(SECRET, stated.settings, stated.entrants)
    forger.put_event(event)
    if (forger.folder / "matches.jsonl").exists():
        forger.put_records(forger.records()[:3])
    value = {"secret": SECRET.hex(), "sources": {}, "cache": "", **private}
    (forger.folder / "private.json").write_text(json.dumps(value))


def replaced(path, how, target):
    """Put something else there."""
    path.unlink(missing_ok=True)
    if how == "pipe":
        os.mkfifo(path)
    elif how == "folder":
        path.mkdir()
    else:
        path.symlink_to({"device": "/dev/zero", "link": target, "loop": path.name}[how])


@pytest.mark.parametrize("how", ["pipe", "device", "folder", "loop"])
@pytest.mark.parametrize("name", ["event.json", "matches.jsonl", "private.json", "lock"])
def test_what_is_no_file_is_named_at_once(forger, harmless, tmp_path, name, how):
    """Nobody waits for a pipe, reads a device, or sees a traceback; nothing is written there."""
    unfinished(forger)
    replaced(forger.folder / name, how, tmp_path)
    for command, *flags in READERS:
        harmless(command, forger.folder, *flags)
    for words in (("resume",), ("run",), ("resume", "--repair")):
        assert 2 == harmless(words[0], forger.folder, *words[1:]).exit_code
    if name in {"event.json", "matches.jsonl"}:
        assert 2 == harmless("table", forger.folder).exit_code


@pytest.mark.parametrize(
    "name",
    ["lock", "matches.jsonl", "matches.index", "matches.damaged", "stderr", "bots", "table.md"],
)
def test_a_link_makes_nobody_write_into_another_file(forger, harmless, tmp_path, name):
    """A lock is not emptied, a log not cut off, no line added, wherever the link leads."""
    unfinished(forger)
    mine = tmp_path / "mine"
    if name in {"stderr", "bots"}:
        mine.mkdir()
        (mine / "ann@1.log").write_text("mine, without a newline")
    else:
        mine.write_text("mine, without a newline")
    replaced(forger.folder / name, "link", mine)
    for words in (("resume",), ("resume", "--repair"), ("resume", "--sandbox", "none")):
        done = harmless(words[0], forger.folder, *words[1:])
        assert 2 == done.exit_code
    assert f"{name}: not a regular file" in done.stderr
    kept = mine / "ann@1.log" if mine.is_dir() else mine
    assert "mine, without a newline" == kept.read_text()


def test_a_link_among_the_logs_of_stderr_is_none_either(forger, harmless, tmp_path):
    """What a bot writes would be added to it."""
    unfinished(forger)
    (forger.folder / "stderr").mkdir()
    (forger.folder / "stderr" / "ann@1.log").symlink_to(tmp_path / "new")
    assert "stderr/ann@1.log" in harmless("resume", forger.folder).stderr
    assert not (tmp_path / "new").exists()


def test_too_much_is_refused_and_not_read(forger, harmless):
    """An event of a gigabyte, a line of a hundred megabytes, an index without an end: by size."""
    log = forger.folder / "matches.jsonl"
    whole = log.read_bytes()
    with (forger.folder / "matches.index").open("wb") as file:
        file.truncate(1 << 34)
    assert 0 == harmless("table", forger.folder).exit_code
    with log.open("r+b") as file:
        file.truncate(100 << 20)
    assert "line 5" not in harmless("table", forger.folder).stderr  # torn, so it is no line
    log.write_bytes(whole + b"x" * (17 << 20) + b"\n" + whole)
    assert "line 5 (byte" in harmless("table", forger.folder).stderr
    with (forger.folder / "event.json").open("r+b") as file:
        file.truncate(1 << 30)
    for command, *flags in READERS:
        assert "larger than 16 MB" in harmless(command, forger.folder, *flags).stderr


@pytest.mark.parametrize("sandbox", ["none", "nonsense", "\x1b[31m"])
def test_no_folder_takes_the_sandbox_away(forger, harmless, sandbox):
    """An event that says so was perhaps made to be resumed: the user has to say it."""
    unfinished(forger, event={"sandbox": sandbox})
    refused = harmless("resume", forger.folder)
    assert 2 == refused.exit_code
    assert "--sandbox" in refused.stderr
    unfinished(forger, event={"sandbox": ""}, options={"sandbox": sandbox})
    (forger.folder / "matches.jsonl").unlink()
    refused = harmless("run", forger.folder)
    assert 2 == refused.exit_code
    assert "--sandbox" in refused.stderr


def test_no_folder_names_another_cache_or_content(forger, harmless, tmp_path):
    """What a cache holds is believed, what is damaged there removed: it is the user's own."""
    mine = tmp_path / "mine"
    (mine / "bots" / ("0" * 64)).mkdir(parents=True)
    (mine / "precious").write_text("mine")
    (mine / "bot.py").write_text("")
    event = forger.event()
    for content in ("0" * 64, "", "..", "../../mine", "../.."):
        entrants = [{**entrant, "hash": content} for entrant in event["entrants"]]
        sources = {entrant["id"]: str(mine) for entrant in entrants}
        unfinished(
            forger,
            event={"entrants": entrants, "sandbox": "bwrap"},
            cache=str(mine),
            sources=sources,
        )
        assert 2 == harmless("resume", forger.folder).exit_code
        forger.put_event({**event, "entrants": entrants})
        match = forger.records()[0]["id"]
        harmless("feed", "ann@1", forger.folder, "--match", match)
    assert "mine" == (mine / "precious").read_text()
    assert (mine / "bots" / ("0" * 64)).is_dir()
    kept = tmp_path / "cache" / "nine-arena" / "bots"
    assert not kept.exists() or not list(kept.iterdir())


@pytest.mark.parametrize(
    "content", ["null", "[]", "{}", '"x"', "{", "DEEP", '{"format":1}', "\x00"]
)
def test_json_of_another_kind_is_told(forger, harmless, content):
    """Any of the three files as other JSON, or none: a line that names the file."""
    text = "[" * 100_000 + "]" * 100_000 if content == "DEEP" else content
    saved = forger.folder.with_name("saved")
    shutil.copytree(forger.folder, saved)
    forger.put_event(text)
    assert "event.json" in harmless("table", forger.folder).stderr
    shutil.copy(saved / "event.json", forger.folder)
    forger.put_records([text])
    assert "matches.jsonl: line 1" in harmless("table", forger.folder).stderr
    assert "matches.jsonl: line 1" in harmless("log", forger.folder, "--faults").stderr
    shutil.copy(saved / "matches.jsonl", forger.folder)
    unfinished(forger)
    (forger.folder / "private.json").write_text(text)
    for command in ("table", "resume"):
        assert "private.json" in harmless(command, forger.folder).stderr


@pytest.mark.parametrize(
    "changes",
    [{"sigma": 1e6, "beta": 1e-3}, {"least_spread": 1e-4, "sigma": 1e6}, {"tau": -1e6}],
    ids=["sigma and beta", "least_spread", "tau"],
)
@pytest.mark.parametrize("rate_on", ["results", "adjusted"])
def test_rating_constants_that_nothing_can_be_computed_with_are_named(
    forger, harmless, tmp_path, changes, rate_on
):
    """Each is within its range; together they leave no digit of a rating."""
    event = forger.event()
    event["settings"].setdefault("rating", {}).update(changes)
    event["settings"]["rate_on"] = rate_on
    forger.put_event(event)
    folder = forger.folder
    for words in (("table", folder), ("rate", folder), ("audit", folder), ("verify", folder),
                  ("publish", folder, "--to", tmp_path / "site")):  # fmt: skip
        assert harmless(*words).exit_code in {2, 5}
    assert "its rating: " in harmless("table", folder).stderr
