"""The table, the picture, the files that are published."""

import importlib.util
import xml.etree.ElementTree as ET
from pathlib import Path

import msgspec
import pytest
from measures import UNIT, Measure, SkippedError
from measures.drawn import GROUPS, drawing
from measures.every import MEASURES, ROWS
from measures.figures import Move, Published
from measures.shown import TEXT, moves, table
from measures.stage import Bystanders


@pytest.fixture(scope="session")
def speed():
    """bench/speed.py as a module."""
    path = Path(__file__).parents[2] / "bench" / "speed.py"
    spec = importlib.util.spec_from_file_location("speed", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def figures(speed):
    """A figure for every row, from two made-up rounds."""
    one = dict.fromkeys([*ROWS, UNIT], 12_345.678)
    return speed.figures_of(MEASURES, [one, {**one, "worker.cpu": 99_999.9}])


def test_rounds(speed):
    """Rounds are interleaved; the first warms up and is thrown away; what is slow sits some out."""
    calls = []

    def measure(name, **how):
        def run(_stage):
            calls.append(name)
            return {name: len(calls)}

        return Measure(name=name, about="", run=run, rows=(), **how)

    def missing(_stage):
        calls.append("missing")
        raise SkippedError("it isn't here")

    measures = [
        measure("unit"),
        measure("slow", most=1, warm=False),
        Measure(name="missing", about="", run=missing, rows=()),
        measure("last"),
    ]
    rounds, skipped = speed.taken(None, measures, 2)
    assert ["unit", "missing", "last", "unit", "slow", "last", "unit", "last"] == calls
    assert [{"unit": 4, "slow": 5, "last": 6}, {"unit": 7, "last": 8}] == rounds
    assert {"missing": "it isn't here"} == skipped


def test_unknown_measure(speed):
    """A name that no measure has ends the run at once; the unit is always measured."""
    with pytest.raises(SystemExit, match="no such measure: fast"):
        speed.chosen("log,fast")
    assert ["ping-pong", "log"] == [measure.name for measure in speed.chosen("log")]
    assert list(MEASURES) == speed.chosen("")


def test_bystanders():
    """What this process uses is not taken for another's."""
    watch = Bystanders()
    assert watch.cores() >= 0


def test_keys():
    """No two rows share a key, and every divisor is a row that is measured before or along."""
    keys = [row.key for measure in MEASURES for row in measure.rows]
    assert len(set(keys)) == len(keys)
    assert {row.of for row in ROWS.values()} - {""} <= set(keys)
    assert UNIT == keys[0]
    assert {bar.key for _, _, bars in GROUPS for bar in bars} <= set(keys)


def test_table(figures):
    """Every row is a line of less than 100 columns, with its goal in words."""
    shown = table(MEASURES, figures, {"instructions": "valgrind is not installed"})
    assert max(map(len, shown.splitlines())) < 100
    assert "MISSED: 12,346 of ≤ 100" in shown
    assert "reached: 12,346 of ≥ 450" in shown
    assert "left out: valgrind is not installed" in shown


def test_texts_fit():
    """No text of a row pushes its figures aside."""
    assert [] == [row.text for row in ROWS.values() if len(row.text) > TEXT]


def test_moves(figures):
    """What moved is told with its direction and its noise; another machine is mentioned."""
    old, new = (Published(machine={"cores": n}, rounds=1, figures=figures) for n in (2, 4))
    told = moves(MEASURES, old, new, [Move("worker.cpu", 0.1, 0.03, better=False)])
    assert "WORSE  +10.0% (noise 3.0%)" in told
    assert "another machine" in told


def test_picture(figures):
    """The picture is XML without scripts or anything from elsewhere, and has every bar."""
    picture = ET.fromstring(drawing(figures))
    space = "{http://www.w3.org/2000/svg}"
    assert sum(len(bars) for _, _, bars in GROUPS) == len(picture.findall(f"{space}rect"))
    assert picture.find(f"{space}script") is None
    assert "prefers-color-scheme: dark" in picture.find(f"{space}style").text


def test_picture_of_some(figures):
    """Figures that were not measured leave no hole."""
    some = {key: each for key, each in figures.items() if not key.startswith("event")}
    assert len(drawing(some)) < len(drawing(figures))


def test_publish(speed, figures, tmp_path, monkeypatch):
    """Publishing makes the table between the marks, the picture and figures.json anew."""
    for name in ("FIGURES", "PICTURE", "README"):
        monkeypatch.setattr(speed, name, tmp_path / getattr(speed, name).name)
    speed.README.write_text("before\n" + "old\n".join(speed.MARKS) + "after\n")
    machine = {"cpu": "a", "cores": 2, "system": "b", "python": "c", "sandbox": "d"}
    found = Published(machine=machine, rounds=2, figures=figures)
    speed.publish(found, "TABLE\n")
    text = speed.README.read_text()
    assert "TABLE" in text
    assert "old" not in text
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert found == msgspec.json.decode(speed.FIGURES.read_bytes(), type=Published)
    assert speed.PICTURE.read_text().startswith("<svg")


def test_readme_has_its_marks(speed):
    """There is a place for the table."""
    text = speed.README.read_text()
    assert [1, 1] == [text.count(mark) for mark in speed.MARKS]
