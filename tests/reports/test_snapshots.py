"""Whole reports as they were last approved."""

from __future__ import annotations

import csv
import io
import json

import pytest

from arena.reports import FORMATS, render
from arena.reports.delimited import NAMES


@pytest.mark.parametrize("kind", ["plain", "eventful", "pooled"])
@pytest.mark.parametrize("canonical", [False, True], ids=["full", "canonical"])
@pytest.mark.parametrize("name", FORMATS)
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
    assert tuple(rows[0]) == NAMES
    assert [float(row["delta_strokes"]) for row in rows] == [-20.64, 39.36, 99.36, 159.36]
    assert rows[-1]["p_next"] == ""


def test_json_has_a_version_and_sorted_keys(tables):
    """Programs find the format first, and the same order of keys everywhere."""
    made = render(tables.eventful(), "json")
    content = json.loads(made)
    assert content["format"] == 1
    assert list(content) == sorted(content)
    assert content["rows"][2]["faults"] == {"crash": 1, "timeout": 3}
    assert made == json.dumps(content, indent=2, sort_keys=True) + "\n"
