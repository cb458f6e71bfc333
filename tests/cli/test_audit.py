"""`arena audit`: what it prints of small events, and what it exits with."""

import json
import shutil
from pathlib import Path

import jsonschema
import msgspec
import pytest
from click.testing import CliRunner

from arena.api.proof import audit_results
from arena.audit.report import (
    Audit,
    AuditPart,
    Feeding,
    Lift,
    Luck,
    Proportion,
    Question,
    Together,
    Trend,
)
from arena.cli import commands
from arena.model import UserError
from arena.reports.layout import width
from arena.terminal.audit_report import audit_lines

SCHEMA = Path(__file__).parents[2] / "protocol" / "schema" / "audit-report.json"


@pytest.fixture
def run():
    """Run it."""

    def call(*words, code=0):
        done = CliRunner(env={"NO_COLOR": "1"}).invoke(
            commands, ["audit", *map(str, words)], standalone_mode=False
        )
        assert done.exception is None, done.exception
        assert code == done.return_value
        return done.stdout

    return call


@pytest.fixture(scope="session")
def two(play_event, tmp_path_factory):
    """Three bots at tables of two, one of whose matches has a fault."""
    folder = tmp_path_factory.mktemp("audit") / "two"
    return play_event(folder, ("ann@1", "bob@1", "cyd@1"), deals=3)


@pytest.fixture(scope="session")
def four(play_event, tmp_path_factory):
    """Five bots at tables of four."""
    folder = tmp_path_factory.mktemp("audit") / "four"
    names = tuple(f"{name}@1" for name in ("ann", "bob", "cyd", "dan", "a" * 40))
    return play_event(folder, names, game="four-card-golf", seats=4, deals=2, turn_cap=3)


@pytest.fixture(scope="session")
def audits(two, four):
    """The audits of both."""
    return {"two": audit_results(two), "four": audit_results(four)}


def test_a_log_that_has_lost_some_of_itself_is_refused(two, tmp_path):
    """What is left would be called fair as easily as what is gone."""
    folder = shutil.copytree(two, tmp_path / "cut")
    log = folder / "matches.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[: len(lines) // 2]))
    with pytest.raises(UserError, match="of 18 matches are missing"):
        audit_results(folder)


@pytest.mark.parametrize("event", ["two", "four"])
def test_a_report_fits_80_columns_and_its_json_the_schema(event, run, request):
    """Text for people, one object for programs; both exit with 0."""
    folder = request.getfixturevalue(event)
    text = run(folder)
    assert max(map(width, text.splitlines())) <= 80
    for heading in ("Seats", "Ties and the turn cap", "Luck", "Pairs", "Series", "Time", "Faults"):
        assert f"\n{heading}\n" in text
    assert "cheat" not in text
    report = json.loads(run(folder, "--json"))
    jsonschema.validate(report, json.loads(SCHEMA.read_text(encoding="utf-8")))
    assert 0 == report["rotation"]


def test_a_folder_that_is_none_is_refused(tmp_path):
    """A user's error, as with every other command."""
    done = CliRunner().invoke(commands, ["audit", str(tmp_path)])
    assert 2 == done.exit_code


def strange(report: Audit, p: float) -> Audit:
    """The same, but somebody is unusual."""
    bots = ("ann@1", "bob@1")
    return msgspec.structs.replace(
        report,
        tested=(Question(part=AuditPart.FEEDING, rows=12, bots=bots, p=p),),
        luck=(Luck(bot="ann@1", strokes=1.0, error=0.5, z=2.0, p_alone=0.05, p=0.2),),
        adjusted=True,
        lift=(Lift(bots=bots, events=3, strokes=-3.0, p_alone=0.2, p=1.0),),
        feeding=tuple(
            Feeding(giver="ann@1", taker="bob@1", left=9, taken=8, expected=3.0, p_alone=p, p=p)
            for _ in range(4)
        ),
    )


def test_who_is_unusual_is_named_with_how_often_chance_does_it(audits):
    """And all unusual pairs are shown, not only the first few."""
    lines = list(audit_lines(strange(audits["four"], 0.004), "four", paint=False))
    text = "\n".join(lines)
    assert "Unusual: discards for a neighbour: ann@1 and bob@1" in text
    assert "shows it in 0.4 of 100" in " ".join(text.split())
    assert 4 == text.count("ann@1 > bob@1")
    assert "z| of 1 bots is +2.0: chance alone shows it in 20 of 100" in " ".join(text.split())
    painted = "\n".join(audit_lines(strange(audits["four"], 0.004), "four", paint=True))
    assert "\x1b[33mUnusual" in painted


@pytest.mark.parametrize(("p", "code"), [(0.02, 0), (0.004, 6)])
def test_strict_exits_with_6_at_1_per_cent(audits, p, code, four, run, monkeypatch):
    """What chance shows in one of fifty reports is no reason to stop a script."""
    report = strange(audits["four"], p)
    monkeypatch.setattr("arena.audit_results", lambda *_, **__: report, raising=False)
    run(four, "--strict", code=code)
    run(four)


def test_what_was_left_out_is_audit_lines(audits):
    """An event that is not over, has faults, and seats that the rotation leaves something of."""
    report = msgspec.structs.replace(
        audits["four"],
        events=0,
        left_out=10,
        tested=(),
        later=(),
        lift=(),
        feeding=(),
        capped_pairs=(),
        rotation=0.25,
        tied_events=Proportion(count=0, of=0, share=0.0, low=0.0, high=1.0),
        by_seat=tuple(
            msgspec.structs.replace(effect, low=None, high=None)
            for effect in audits["four"].by_seat
        ),
    )
    text = " ".join(" ".join(audit_lines(report, "four", paint=False)).split())
    assert "10 more rated events have a fault" in text
    assert "Too little was played" in text
    assert "at most 0.250 strokes a match" in text
    assert "No deal was played in all rotations." in text


def test_whose_results_hang_together_is_told_with_how_wide_its_intervals_would_be(audits):
    """Of those that are unusual in a line of its own; in 80 columns, with the longest names."""
    name = "m" * 70 + "@1"
    report = msgspec.structs.replace(
        audits["two"],
        blocks=1234,
        single=2,
        tested=(Question(part=AuditPart.SERIES, rows=2, bots=(name,), p=0.004),),
        together=tuple(
            Together(
                bot=bot,
                blocks=1232,
                events=30800,
                correlation=0.2,
                wider=2.19,
                p_alone=p,
                p=p,
            )
            for bot, p in (("ann@1", 0.6), (name, 0.004))
        ),
        trends=(Trend(bot=name, blocks=1234, strokes=-1.5, error=0.5, p_alone=0.003, p=0.2),),
    )
    lines = list(audit_lines(report, "two", paint=False))
    assert max(map(width, lines)) <= 80
    text = " ".join(" ".join(lines).split())
    assert f"Unusual: results that hang together within a series: {name}" in text
    assert f"The table's intervals of {name} would be 2.2 times as wide by series." in text
    assert "intervals of ann@1" not in text
    assert "1,234 blocks (the series that share deals), 2 of them alone in a pairing" in text
    assert "-1.50 ± 0.50" in text


def test_where_nobody_can_be_asked_whether_results_hang_together_it_says_so(audits):
    """With how many blocks there are."""
    report = audits["two"]
    assert (3, 3) == (report.blocks, report.single)
    assert () == report.together == report.trends
    text = " ".join(" ".join(audit_lines(report, "two", paint=False)).split())
    assert "No bot could be tested for results that hang together: 3 blocks" in text
    assert "but none has 10 of several deals" in text
    nothing = msgspec.structs.replace(report, blocks=0, single=0)
    text = "\n".join(audit_lines(nothing, "two", paint=False))
    assert "Series\n  No deal was played in all rotations." in text


def test_faults_are_told_by_half(play_event, tmp_path, a_fault):
    """With the load that the host had."""
    folder = play_event(tmp_path / "event", deals=2, faults={0: a_fault})
    text = "\n".join(audit_lines(audit_results(folder), "event", paint=False))
    assert "illegal" in text
    assert "1 more rated events" in text


def test_of_many_bots_those_that_stand_out_have_a_line(audits):
    """Others are counted, and there are with --all."""
    lucky = tuple(
        Luck(bot=f"b{n}@1", strokes=1.0, error=0.5, z=2.0, p_alone=0.05, p=1 - n / 1000)
        for n in range(300)
    )
    use = audits["four"].time[0]
    busy = tuple(
        msgspec.structs.replace(use, bot=f"c{n}@1", share=n / 300, bank_share=0.0)
        for n in range(300)
    )
    report = msgspec.structs.replace(audits["four"], luck=lucky, time=busy)
    text = "\n".join(audit_lines(report, "four", paint=False))
    assert len(text) < 12_000
    shown = {word for word in text.split() if word.endswith("@1") and word[1].isdigit()}
    assert {f"{bot}{n}@1" for bot in "bc" for n in range(280, 300)} == shown
    assert 2 == text.count("and 280 more that stand out less; all of them: --all")
    everything = "\n".join(audit_lines(report, "four", paint=False, everything=True))
    assert "--all" not in everything
    assert "b0@1" in everything
