"""Rounds of a ladder: who plays, what is known, what is in the chain, and whether it is proven."""

import json
import shutil

import pytest

import arena as library
from arena.event.progress import Progress
from arena.ladder import ranking, rounds
from arena.ladder.chain import CHAIN, read_chain
from arena.ladder.folder import Ladder
from arena.store import read_event

from .conftest import GAME, begin

pytestmark = pytest.mark.process


def kinds(ladder):
    return [json.loads(line)["what"] for line in (ladder / CHAIN).read_text().splitlines()]


def verified(ladder, **how):
    return library.ladder_verify(ladder, jobs=1, **how)


@pytest.fixture(scope="module")
def played(accept, play, tmp_path_factory):
    """Two rounds; in the second a newcomer, and a new version in the place of an old one."""
    ladder = begin(tmp_path_factory.mktemp("season") / "ladder")
    for author, skill in (("ann", 1.0), ("bob", 0.5), ("cyd", 0.1)):
        accept(ladder, author, skill=skill)
    play(ladder)
    accept(ladder, "bob", skill=0.0)
    accept(ladder, "dee", skill=0.9)
    play(ladder)
    return ladder


@pytest.fixture
def season(played, tmp_path):
    """A copy of it."""
    return shutil.copytree(played, tmp_path / "ladder")


def test_a_season(season, accept, play):
    """Each round is announced before it is played, by those who are active; its settings have what
    earlier rounds say; the ranking is of all rounds and of the active; all of it is verified.
    """
    expected = ["founded", *["accepted"] * 3, "round", "played"]
    assert kinds(season) == [*expected, "accepted", "accepted", "round", "played"]
    first, second = sorted((season / "rounds").iterdir())
    assert second.name == f"0002-round-{GAME}"
    assert [each.id for each in read_event(first).entrants] == ["ann@1", "bob@1", "cyd@1"]
    event = read_event(second)
    assert [each.id for each in event.entrants] == ["ann@1", "bob@2", "cyd@1", "dee@1"]
    assert not read_event(first).settings.ladder.skills
    assert len(event.settings.ladder.skills) == 4
    heads = [line.prev for line in read_chain(season).lines if line.n in (5, 9)]
    assert heads == [read_event(place).settings.ladder.head for place in (first, second)]

    table = library.ladder_table(season, GAME)
    assert {row.entrant for row in table.rows} == {"ann@1", "bob@2", "cyd@1", "dee@1"}
    assert table.matches == 80
    both = library.ladder_table(season, GAME, retired=True)
    assert "bob@1" in {row.entrant for row in both.rows}
    shutil.rmtree(season / "derived")
    assert library.ladder_table(season, GAME) == table

    found = verified(season)
    assert found.verified, found.findings
    assert (found.lines, found.rounds, found.matches, found.versions) == (10, 2, 80, 5)
    assert verified(season, head=heads[1]).verified
    status = library.ladder_status(season)
    assert status.active == ("ann@1", "bob@2", "cyd@1", "dee@1")
    assert (status.rounds, status.matches, status.submissions) == (2, 80, 5)


def test_the_sums_of_a_round_are_read_once(season, monkeypatch):
    """By looks at later and later rounds; a look back begins anew."""
    read, sums_of = [], ranking.sums_of

    def counted(ladder, each):
        read.append(each.begun.round)
        return sums_of(ladder, each)

    monkeypatch.setattr(ranking, "sums_of", counted)
    ladder = Ladder(season)
    matches = [ranking.pooled(ladder, GAME, before).matches for before in (1, 2, None, None, 2)]
    assert matches == [0, 40, 80, 80, 40]
    assert read == [1, 2, 1]


@pytest.mark.parametrize(
    ("how", "place", "words"),
    [
        ("version", "versions/", "its content is not what was accepted"),
        ("log", "rounds/0001", "matches.jsonl line"),
        ("left out", "rounds/0002", "can't be read"),
        ("added", "rounds/0003", "the chain doesn't know of it"),
        ("head", "chain.jsonl", "was never that of this chain"),
        ("exchanged", "rounds/0001", "its commitment is"),
    ],
)
def test_what_was_altered_is_found_and_named(season, how, place, words):
    """A version, a log, a round left out or added, a chain written anew."""
    first, second = sorted((season / "rounds").iterdir())
    head = None
    if how == "version":
        bot = next(iter((season / "versions").glob("*/bot.py")))
        bot.chmod(0o600)
        bot.write_text(bot.read_text() + "\n")
    elif how == "log":
        log = first / "matches.jsonl"
        log.write_bytes(log.read_bytes().replace(b'"totals":[', b'"totals":[1', 1))
    elif how == "left out":
        shutil.rmtree(second)
    elif how == "added":
        shutil.copytree(second, second.with_name(f"0003-round-{GAME}"))
    elif how == "exchanged":
        shutil.rmtree(first)
        shutil.copytree(second, first)
    else:
        head = "0" * 64
    found = verified(season, head=head)
    assert not found.verified
    assert found.findings[0].place.startswith(place)
    assert any(words in each.what for each in found.findings), found.findings


@pytest.mark.parametrize("line", range(1, 11))
def test_a_line_of_the_chain_that_was_changed_or_left_out(season, line):
    """The lines after it don't follow; the last one is missed by who knows the head."""
    path = season / CHAIN
    lines = path.read_bytes().splitlines(keepends=True)
    known = library.ladder_status(season).head
    changed = [*lines]
    changed[line - 1] = changed[line - 1].replace(b"0", b"1", 1)
    path.write_bytes(b"".join(changed))
    if line == len(lines):
        assert not verified(season, head=known).verified
    else:
        with pytest.raises(library.UserError, match=f"line {line + 1}|line {line} "):
            verified(season)
    path.write_bytes(b"".join(lines[: line - 1] + lines[line:]))
    if line == len(lines):
        assert not verified(season, head=known).verified
    else:
        with pytest.raises(library.UserError, match="line"):
            verified(season)


class _Stops(Progress):
    """Stops after some matches."""

    def match(self, record):
        super().match(record)
        if self.done == 15:
            self.stop(at_once=True)

    def finish(self, outcome):
        self.resume = outcome.resume


def test_a_stopped_round_goes_on_as_if_it_had_not_been(ladder, accept, play, tmp_path):
    """Meanwhile somebody is accepted, who plays in the next round."""
    for author, skill in (("ann", 1.0), ("bob", 0.5)):
        accept(ladder, author, skill=skill)
    whole = tmp_path / "whole"
    shutil.copytree(ladder, whole)
    play(whole)
    progress = _Stops()
    assert not play(ladder, progress=progress).complete
    assert progress.resume == f"arena ladder round {ladder} --sandbox none"
    assert library.ladder_status(ladder).unfinished == f"0001-round-{GAME}"
    accept(ladder, "cyd")
    assert play(ladder).complete
    logs = [
        next(line for line in read_chain(each).lines if isinstance(line, rounds.RoundEnded)).log
        for each in (ladder, whole)
    ]
    assert logs[0] == logs[1]
    assert verified(ladder).verified


@pytest.mark.parametrize("at", ["prepared", "announced", "played"])
def test_a_round_that_was_killed_goes_on(ladder, accept, play, monkeypatch, at):
    """Before the chain knew of it, after, and before the chain knew of its end."""
    for author in ("ann", "bob"):
        accept(ladder, author, skill=0.5 * (author == "ann"))

    class Killed(BaseException):
        pass

    def killed(*_args, **_how):
        raise Killed

    with monkeypatch.context() as patch:
        if at == "prepared":
            patch.setattr(Ladder, "append", killed)
        elif at == "announced":
            patch.setattr(rounds, "run_prepared", killed)
        else:
            patch.setattr(rounds, "_end", killed)
        with pytest.raises(Killed):
            play(ladder)
    assert play(ladder).complete
    assert kinds(ladder)[-2:] == ["round", "played"]
    assert verified(ladder).verified


def test_a_bot_that_breaks_is_retired_and_no_round_is_stopped(ladder, accept, play):
    """Its results stay; the next round is played without it."""
    accept(ladder, "ann")
    accept(ladder, "bob", skill=0.5)
    accept(ladder, "cyd", broken=True)
    play(ladder)
    (line,) = [line for line in read_chain(ladder).lines if isinstance(line, rounds.Retired)]
    assert (line.author, line.entrant, line.why) == ("cyd", "cyd@1", "faults")
    play(ladder)
    last = read_event(ladder / "rounds" / f"0002-round-{GAME}")
    assert [each.id for each in last.entrants] == ["ann@1", "bob@1"]
    assert verified(ladder).verified


def test_the_final_is_played_when_nothing_more_is_accepted(season, accept, play):
    """Once, with a budget of its own."""
    text = (season / "ladder.toml").read_text()
    (season / "ladder.toml").write_text(
        text.replace("matches = 40", "matches = 40\nfinal-matches = 60")
    )
    assert library.ladder_freeze(season).frozen
    assert play(season, final=True).event.settings.ladder.budget == 60
    assert kinds(season)[-4:] == ["rules", "frozen", "round", "played"]
    assert library.ladder_status(season).finals == (GAME,)
    with pytest.raises(library.UserError, match="is played already"):
        play(season, game=GAME, final=True)
    assert verified(season).verified
    with pytest.raises(library.UserError, match="after the end"):
        accept(season, "eve")


def test_a_round_that_the_chain_lost_is_not_played_over(season, play):
    """Nothing that was played is removed."""
    path = season / CHAIN
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-2]))
    with pytest.raises(library.UserError, match="the chain doesn't know of it: put back"):
        play(season)
    path.write_bytes(b"".join(lines))
    assert verified(season).verified


def test_a_round_s_bots_are_found_among_the_versions(season, tmp_path, monkeypatch):
    """Without a cache, and wherever the ladder was moved to."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "empty"))
    first = season / "rounds" / f"0001-round-{GAME}"
    rerun = library.RerunOptions(matches=2, seed="1", sandbox="none")
    (found,) = library.verify_results(first, rerun=rerun, jobs=1)
    assert found.verified
    assert found.rerun.matches == 2
