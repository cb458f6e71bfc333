"""Names from strangers, in every report."""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from wcwidth import wcswidth

from arena.model import NotRun
from arena.reports import FORMATS, render
from arena.reports.hostile import cell, markdown, markdown_name, plain


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


def test_no_report_lets_a_name_act(tables, hostile):
    """No control character, escape sequence or bidi override is in any report."""
    table = hostile_table(tables, hostile)
    for name in FORMATS:
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
