"""Names from strangers, in every report."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import subprocess
import unicodedata

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from wcwidth import wcswidth

from arena.model import NotRun
from arena.registry import REPORTS, render
from arena.reports.escape import (
    Legible,
    cell,
    json_line,
    markdown,
    markdown_name,
    plain,
    shell,
    visible,
)


@given(st.text())
def test_plain_text_prints_and_does_nothing_else(text):
    """One line, nothing that controls, hides or turns, and a width that is known."""
    shown = plain(text)
    assert not {unicodedata.category(c) for c in shown} & {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
    assert wcswidth(shown) >= 0
    shown.encode()


@given(st.text(alphabet=st.characters(max_codepoint=0x2FF)))
def test_markdown_holds_no_markup(text):
    """Of ASCII only letters, digits and harmless marks are left."""
    shown = markdown(text)
    assert not set(shown) & set('|`*[]<>\\\n\r\t~$!{}"@')
    assert not re.search(r"_(?![A-Za-z0-9])|(?<![A-Za-z0-9])_", shown)
    assert plain(shown) == shown or len(shown) > 200


@given(st.one_of(st.binary(), st.text().map(str.encode)), st.integers(1, 8))
def test_what_a_program_writes_is_legible_however_it_comes(data, size):
    """Whole or in pieces the same but for a line end that is torn; tabs and newlines stay."""
    data = data.replace(b"\r", b"")
    pieces = Legible()
    parts = [pieces(data[at : at + size]) for at in range(0, len(data), size)]
    shown = Legible()(data, last=True)
    assert shown == b"".join([*parts, pieces(b"", last=True)])
    acting = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
    assert {c for c in shown.decode() if unicodedata.category(c) in acting} <= {"\t", "\n"}
    assert data.count(b"\n") == shown.count(b"\n")


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (b"\x1b[2Jlooking\tfor\r\n", "\\x1b[2Jlooking\tfor\n"),
        ("é 漢字\u3000".encode(), "é 漢字\u3000"),
        (b"\xff\xc3", r"\xff\xc3"),
        ("\u202e\x9b".encode(), r"\u202e\x9b"),
    ],
)
def test_what_a_program_writes_stays_what_it_is(data, shown):
    """Letters are letters, and what would act is shown."""
    assert shown == Legible()(data, last=True).decode()


@given(st.text())
def test_visible_text_keeps_its_length_and_its_lines(text):
    """Nothing is cut, nothing acts, and no line is added that was not there."""
    shown = visible(text)
    acting = {c for c in shown if unicodedata.category(c) in {"Cc", "Cf", "Cs", "Zl", "Zp"}}
    assert acting <= {"\n"}
    assert text.count("\n") == shown.count("\n")
    assert len(text) <= len(shown)


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_json_for_a_terminal_is_the_same_json(text):
    """The value is unchanged, and what acts is escaped."""
    line = json_line(msgspec.json.encode({"text": text}))
    assert {"text": text} == json.loads(line)
    assert visible(line.decode()) == line.decode()


WORDS = [
    "plain",
    "it's",
    "$(touch x)",
    "`id`",
    "a b\tc\nd",
    "\x1b[31mred",
    "\u202eevil",
    "back\\slash\x1b",
    "'\x07'",
    "é\u200b",
    "a\udcffb",
    "",
]


def test_a_shell_takes_each_word_as_it_is(tmp_path):
    """A command that is printed for copying runs nothing else; what is printed is plain."""
    command = shell(["printf", "%s\\0", *WORDS])
    assert visible(command) == command
    assert "\n" not in command
    bash = shutil.which("bash")
    assert bash is not None
    done = subprocess.run([bash, "-c", command], capture_output=True, check=True, cwd=tmp_path)
    expected = [word.encode("utf-8", "surrogateescape") for word in WORDS]
    assert [*expected, b""] == done.stdout.split(b"\0")
    assert not list(tmp_path.iterdir())


def test_ordinary_names_are_left_alone():
    """A usual id reads as it was given, in any script."""
    for name in ("greedy@1.0", "wishful-bot_2+x@0.0.1-beta", "日本のボット@3", "Ünï@1"):
        assert plain(name) == name
        assert markdown_name(name) == f"`{name}`"
        assert cell(name) == name


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\x1b[31m", "\\x1b[31m"),
        ("a\u202eb", "a\\u202eb"),
        ("\U000e0041", "\\U000e0041"),
        ("e\u0301", "e\u0301"),
        ("\u0301e", "\\u0301e"),
        ("x" * 300, "x" * 200 + "…"),
    ],
)
def test_what_acts_is_shown_as_an_escape(text, expected):
    """The reader sees what was hidden."""
    assert plain(text) == expected


def test_formulas_are_text():
    """A spreadsheet gets an apostrophe before what it would run."""
    for text in ("=1", "+1", "-1", "@x", " =1", "\uff1d1"):
        assert cell(text) == f"'{text}"
    assert cell("\t=1") == "\\x09=1"
    assert cell("") == ""


def test_markdown_in_ordinary_sentences():
    """Escapes appear only where something could happen."""
    assert markdown("no cargo: install it (3.11), 5 %") == "no cargo: install it (3.11), 5 %"
    assert markdown("www.evil.com") == "www&#46;evil&#46;com"
    assert markdown(":smile:") == "&#58;smile:"
    assert markdown("http://x") == "http&#58;//x"
    assert markdown_name("") == "<code></code>"


def hostile_table(tables, name):
    """A table in which everything that can be chosen is hostile."""
    table = tables.table(
        [tables.row(1, name), tables.row(2, "other@1"), tables.row(3, "third@1", p_next=None)]
    )
    event = msgspec.structs.replace(
        table.event,
        sandbox=name,
        commitment=name,
        machine=msgspec.structs.replace(table.event.machine, cpu=name),
        settings=msgspec.structs.replace(table.event.settings, game=name),
        not_run=(NotRun(name=name, reason=name),),
        entrants=tuple(
            msgspec.structs.replace(entrant, author=name) for entrant in table.event.entrants
        ),
    )
    return msgspec.structs.replace(table, event=event)


@pytest.mark.no_cover
def test_no_report_lets_a_name_act(tables, hostile):
    """No control character, escape sequence or bidi override is in any report."""
    table = hostile_table(tables, hostile)
    for name in REPORTS:
        for width in (None, 80):
            made = render(table, name, width=width)
            bad = {c for c in made if unicodedata.category(c) in {"Cc", "Cf", "Cs", "Zl", "Zp"}}
            assert bad <= {"\n"}, name


def test_a_name_adds_no_line_and_no_column(tables, hostile):
    """Every report has the shape that it has with a harmless name."""
    table = hostile_table(tables, hostile)
    harmless = hostile_table(tables, "harmless@1")
    pages = [render(t, "md") for t in (table, harmless)]
    assert [len(page.splitlines()) for page in pages] == [len(pages[1].splitlines())] * 2
    assert [line.count("|") for line in pages[0].splitlines()] == [
        line.count("|") for line in pages[1].splitlines()
    ]
    assert "<script" not in pages[0]
    texts = [render(t, "text") for t in (table, harmless)]
    assert len(texts[0].splitlines()) == len(texts[1].splitlines())
    lines = list(csv.reader(io.StringIO(render(table, "csv"))))
    assert {len(line) for line in lines} == {len(lines[0])}
    assert lines[1][2][:1] not in set("=+-@\t\r")
    assert json.loads(render(table, "json"))["rows"][0]["entrant"] == hostile
