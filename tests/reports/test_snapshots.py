"""Whole reports as they were last approved."""

from __future__ import annotations

import csv
import io
import json

import msgspec
import pytest

from arena.model import NotRun, SourceEvent, Standing
from arena.registry import REPORTS, render, report, table_files
from arena.reports.csv_table import COLUMNS
from arena.reports.rows import listed


@pytest.mark.parametrize("kind", ["plain", "eventful", "pooled"])
@pytest.mark.parametrize("canonical", [False, True], ids=["full", "canonical"])
@pytest.mark.parametrize("name", REPORTS)
def test_reports_are_as_approved(tables, snapshot, kind, name, canonical):
    """Every format of a quiet and of an eventful table, byte for byte."""
    suffix = "-canonical" if canonical else ""
    made = render(getattr(tables, kind)(), name, width=80, canonical=canonical)
    snapshot(f"{kind}{suffix}.{'txt' if name == 'text' else name}", made)


def test_wide_text_is_as_approved(tables, snapshot):
    """All columns, in the order of the design."""
    snapshot("eventful-wide.txt", render(tables.eventful(), "text"))


def test_csv_parses_with_stable_names(tables):
    """A header with machine names, and numbers that are numbers, negative ones included."""
    rows = list(csv.DictReader(io.StringIO(render(tables.plain(), "csv"))))
    assert (*rows[0], "source") == tuple(COLUMNS)
    assert [float(row["delta_strokes"]) for row in rows] == [-20.64, 39.36, 99.36, 159.36]
    assert rows[-1]["p_next"] == ""


def test_where_bots_lay_is_there_if_it_is_asked_for(tables):
    """A line each below the table, a column of the CSV, a key of the JSON; a formula is none."""
    table = tables.plain()
    rows = [
        msgspec.structs.replace(row, source=f"=home/{number}")
        for number, row in enumerate(table.rows)
    ]
    made = msgspec.structs.replace(table, rows=tuple(rows))
    found = list(csv.DictReader(io.StringIO(render(made, "csv"))))
    assert [f"'=home/{number}" for number in range(4)] == [row["source"] for row in found]
    assert f"source: {rows[0].entrant}: =home/0\n" in render(made, "text")
    assert "=home/3" == json.loads(render(made, "json"))["rows"][3]["source"]
    assert "source" not in json.loads(render(table, "json"))["rows"][3]


def test_an_event_s_name_stands_with_its_facts(tables):
    """First in two lines, too; a forged one breaks no line; of several each has its own."""
    table = tables.plain()
    named = msgspec.structs.replace(table.event.settings, name="Cup\x1b[2J\n2026")
    table = msgspec.structs.replace(
        table, event=msgspec.structs.replace(table.event, settings=named)
    )
    assert "\nname: Cup" in render(table, "text")
    brief = render(table, "text", more="--details")
    assert [line[:4] for line in brief.splitlines() if "Cup" in line] == ["Cup\\"]
    source = SourceEvent(event=table.event, matches=1, planned=1)
    whole = render(msgspec.structs.replace(table, sources=(source,)), "text")
    assert "\nevent: Cup" in whole
    assert "\x1b" not in brief + whole


def test_who_is_kept_out_of_an_epoch_is_said(tables):
    """Withdrawn or retired before it; not of several events, whose rows have them."""
    table = tables.plain()
    gone = msgspec.structs.replace(table.event.settings, withdrawn=("x@1",), retired=("y@1",))
    table = msgspec.structs.replace(
        table, event=msgspec.structs.replace(table.event, settings=gone)
    )
    text = render(table, "text")
    assert "kept out: x@1: was withdrawn before this epoch\n" in text
    assert "kept out: y@1: is a former version of a bot that came later\n" in text
    source = SourceEvent(event=table.event, matches=1, planned=1)
    assert "kept out" not in render(msgspec.structs.replace(table, sources=(source,) * 2), "text")


def test_json_has_a_version_and_sorted_keys(tables):
    """Programs find the format first, and the same order of keys everywhere."""
    made = render(tables.eventful(), "json")
    content = json.loads(made)
    assert content["format"] == 1
    assert list(content) == sorted(content)
    assert content["rows"][2]["faults"] == {"crash": 1, "timeout": 3}
    assert made == json.dumps(content, indent=2, sort_keys=True) + "\n"


def test_what_was_not_measured_has_no_number(tables):
    """Empty in the CSV, null in the JSON: sorted by rank, share or rating it is never first."""
    measured = {
        "rank", "rank_last", "mu", "sigma", "sigma_field", "p_next", "delta_strokes",
        "delta_strokes_ci95", "win_share", "win_share_low95", "win_share_high95", "wins", "ties",
        "losses", "strokes_per_hole", "ms_per_decision", "off_turn_ms_per_match", "disputed",
    }  # fmt: skip
    rows = list(csv.DictReader(io.StringIO(render(tables.eventful(), "csv"))))
    for row in rows[3:]:
        assert {name for name in measured if row[name]} == set()
    assert (rows[3]["note"], rows[3]["fault_kinds"]) == ("annulled", "start:3")
    assert rows[3]["reason"].startswith("three faulted matches in a row up to 79255c4b3c28-000002")
    (gone,) = (row for row in json.loads(render(tables.eventful(), "json"))["rows"]
               if row["entrant"] == "gone@1")  # fmt: skip
    numbers = {name: value for name, value in gone.items() if isinstance(value, int | float)}
    assert numbers == {"deals": 0, "matches": 0, "disputed": False}


@pytest.mark.parametrize("kind", ["text", "md", "csv", "json"])
def test_who_was_not_run_has_a_row(tables, kind):
    """With the reason; not where host facts are left out, nor if it played in another event."""
    assert render(tables.eventful(), kind).count("no cargo on this machine") >= 1
    rows = [row.entrant for row in listed(tables.eventful())]
    assert rows[-1] == "rusty"
    assert rows[:-1] == [row.entrant for row in listed(tables.eventful(), canonical=True)]
    assert "rusty" not in render(tables.eventful(), kind, canonical=True)
    table = tables.eventful()
    again = (NotRun(name=table.rows[0].entrant, reason="at first"),)
    table = msgspec.structs.replace(
        table, event=msgspec.structs.replace(table.event, not_run=again)
    )
    assert listed(table) == table.rows


@pytest.mark.parametrize("evaluator", ["", "play-nine/1-abc"], ids=["no ledger", "ledger"])
def test_files_of_the_first_rule_keep_their_form(tables, evaluator):
    """Its columns, its rows, and its numbers for what was not measured."""
    old = tables.eventful()
    settings = msgspec.structs.replace(old.event.settings, evaluator=evaluator)
    event = msgspec.structs.replace(old.event, settings=settings)
    unmet = Standing(entrant="late@1")
    old = msgspec.structs.replace(old, event=event, rows=(*old.rows, unmet), rule=1)
    made = {name: each.file_text(old) for name, each in table_files().items()}
    rows = {row["entrant"]: row for row in csv.DictReader(io.StringIO(made["table.csv"]))}
    assert "rusty" not in rows
    assert {"sigma_field", "reason"}.isdisjoint(rows["gone@1"])
    for gone in (rows["gone@1"], rows["late@1"]):
        assert [gone[name] for name in ("rank", "mu", "sigma", "win_share_high95", "disputed")] == [
            "0", "25.0", "8.333", "1.0", "0",
        ]  # fmt: skip
        assert gone["delta_adjusted"] == ("0.0" if evaluator else "")
    content = {row["entrant"]: row for row in json.loads(made["table.json"])["rows"]}
    assert content["gone@1"]["adjusted_ci"] == 0.0
    assert content["gone@1"].keys() == content["late@1"].keys()
    assert "reason" not in content["gone@1"]
    shown = {line.split()[1]: line.split() for line in made["table.txt"].splitlines()[2:7]}
    assert shown["gone@1"][:4] == ["-", "gone@1", "-", "-"]
    assert shown["late@1"][:4] == ["-", "late@1", "25.00", "8.33"]
    assert "±" not in made["table.md"].splitlines()[2]
    assert "against the field's mean" not in made["table.txt"]
    today = tables.eventful()
    files = {name: each.file_text(today) for name, each in table_files().items()}
    assert files == {
        report(kind).file: render(today, kind) for kind in REPORTS if report(kind).file
    }
