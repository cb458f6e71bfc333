"""Hostile texts wherever a folder has room for one, through everything that prints them."""

import csv
import io
import json
import unicodedata
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import pytest

# What acts in a terminal, in Markdown and HTML, and in a spreadsheet; and what is long.
SEVERAL = pytest.mark.long("every hostile text", quick=("0", "3", "4", "10"))

# What acts in a terminal, or turns a text around.
ACTING = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}

COMMANDS = (
    ("table",),
    ("rate", "--since", "1970-01-01"),
    ("table", "--canonical"),
    ("table", "--format", "md"),
    ("table", "--format", "csv"),
    ("table", "--format", "json"),
    ("log",),
    ("log", "--all"),
    ("log", "--canonical"),
    ("log", "--faults"),
    ("log", "--faults", "--json"),
    ("verify",),
    ("audit",),
    ("audit", "--json"),
)


OF_FAULTS = ("log", "verify", "audit")
"""Commands that print a fault's texts, or say that they are wrong; tables have its kind alone."""


def forged_event(forger, text):
    """Every text of the event that isn't checked to be a name, a hash or a number."""
    event = forger.event()
    event["sandbox"] = text[:200]
    event["confinement"] = {
        "detail": text[:9000],
        "memory": text[:9000],
        "kept": [text[:100]],
        "not_kept": [text[:100]],
        "gaps": [text[:100]],
    }
    event["machine"] = dict.fromkeys(("system", "cpu", "python", "arena"), text[:9000])
    event["not_run"] = [{"name": text[:100], "reason": text[:9000]}]
    for entrant in event["entrants"]:
        entrant["author"] = text[:200]
    forger.put_event(event)


def forged_faults(forger, text):
    """Every text of a fault, which a bot has a say in."""
    records = forger.records()
    for record in records:
        for fault in record["faults"]:
            fault |= dict.fromkeys(("message", "line", "stderr", "status"), text)
    forger.put_records(records)


@SEVERAL
def test_nothing_that_is_printed_acts(forger, harmless, hostile):
    """Tables, records, faults, transcripts, verdicts: on success as in an error."""
    faulted = next(record for record in forger.records() if record["faults"])
    forged_faults(forger, hostile)
    told = ("log", forger.folder, "--transcript", faulted["id"], "--bot", faulted["seats"][0])
    feed = ("feed", faulted["seats"][0], forger.folder, "--match", faulted["id"], "--print")
    for command, *flags in COMMANDS:
        if command in OF_FAULTS or not flags:
            harmless(command, forger.folder, *flags)
    for words in (told, feed):
        harmless(*words)
    assert 0 == harmless("log", forger.folder, "--faults").exit_code
    assert 0 == harmless(*told).exit_code
    forged_event(forger, hostile)
    for command, *flags in COMMANDS:
        harmless(command, forger.folder, *flags)
    assert 0 == harmless("table", forger.folder).exit_code


def test_reports_keep_their_shape(forger, harmless, hostile):
    """A text adds no line, no row and no column, and is no formula; JSON holds it as it was."""
    before = harmless("table", forger.folder, "--format", "md").stdout
    forged_event(forger, "harmless")
    shape = harmless("table", forger.folder, "--format", "md").stdout
    assert len(before.splitlines()) < len(shape.splitlines())
    forged_event(forger, hostile)
    made = harmless("table", forger.folder, "--format", "md").stdout
    assert len(shape.splitlines()) == len(made.splitlines())
    assert "<script" not in made
    assert "](" not in made
    rows = list(csv.reader(io.StringIO(harmless("table", forger.folder, "--format", "csv").stdout)))
    assert [len(rows[0])] * 4 == [len(row) for row in rows]  # one of them was not run
    assert all(cell[:1] not in set("=+@\t") for row in rows for cell in row)
    table = json.loads(harmless("table", forger.folder, "--format", "json").stdout)
    assert hostile[:200] == table["event"]["sandbox"]


@pytest.fixture(scope="module")
def plain():
    """The files of the site of a harmless folder, once they were made."""
    return {}


@SEVERAL
def test_a_site_shows_it_and_nothing_else(forger, harmless, hostile, plain):
    """Every page has the elements that it has for a harmless folder, and in no file a text acts."""

    def files(site, text):
        forged_event(forger, text)
        forged_faults(forger, text)
        done = harmless(
            "publish", forger.folder, "--to", site, "--with-stderr", "--with-host", "--regret", 2
        )
        assert done.exit_code == 0, done.output
        found = {path.relative_to(site): path for path in site.rglob("*") if path.is_file()}
        return {name: path.read_text("utf-8") for name, path in sorted(found.items())}

    if not plain:
        plain |= files(forger.folder.parent / "plain", "word")
    made = files(forger.folder.parent / "site", hostile)
    assert made.keys() == plain.keys()
    for name, text in made.items():
        acting = {c for c in text if unicodedata.category(c) in ACTING} - {"\n"}
        assert not acting, name
        if name.suffix == ".html":
            assert _elements(text) == _elements(plain[name]), name
        if name.suffix in {".svg", ".xml"}:
            ET.fromstring(text)


def _elements(text):
    """The elements of a page in their order, with their attributes' names."""
    found = []

    class Reader(HTMLParser):
        def handle_starttag(self, name, attrs):
            found.append((name, [attribute for attribute, _ in attrs]))

    Reader().feed(text)
    return found


def test_a_fault_is_one_record_and_its_command_is_one_command(forger, harmless, hostile):
    """What is printed for copying names only ids and the folder."""
    forged_faults(forger, hostile)
    lines = harmless("log", forger.folder, "--faults", "--json").stdout.splitlines()
    assert 1 == len(lines)
    fault = json.loads(lines[0])
    assert hostile == fault["message"] == fault["line"]
    assert fault["again"].startswith("arena feed ann@1 ") or "bob@1" in fault["again"]
    assert "owned" not in fault["again"]
    shown = harmless("log", forger.folder, "--faults").stdout.splitlines()
    assert len(shown) <= 10
    assert max(map(len, shown)) < 15_000


@pytest.mark.parametrize(
    "name", ["a\udc9bb", "$(touch owned)", "-rf", "a b", "line\u2028line", "\u202egnp", "'q'"]
)
def test_a_folder_s_own_name_is_no_better(forger, harmless, name, tmp_path):
    """Somebody unpacked it; messages and commands name it. One with control characters in it is
    refused whatever it holds: tests/cli/test_paths.py.
    """
    folder = tmp_path / name
    forger.folder.rename(folder)
    named = f"./{name}" if name.startswith("-") else name
    for command, *flags in COMMANDS:
        assert 0 == harmless(command, named, *flags).exit_code, command
    (folder / "matches.jsonl").write_bytes(b"damaged\n" * 3)
    assert 2 == harmless("table", named).exit_code
    (folder / "event.json").unlink()
    for command in ("table", "log", "resume", "stop", "verify"):
        assert 2 == harmless(command, named).exit_code
