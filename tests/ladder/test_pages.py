"""What a ladder shows: an author's feedback, a site, the rounds that it plays by itself."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest

import arena as library
from arena.ladder.chain import CHAIN
from arena.site.state import FILE, decode_index

from .conftest import GAME, begin

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def played(accept, play, tmp_path_factory):
    """A round with a bot that breaks."""
    ladder = begin(tmp_path_factory.mktemp("shown") / "ladder")
    accept(ladder, "ann")
    accept(ladder, "bob", skill=0.5)
    accept(ladder, "cyd", broken=True)
    play(ladder)
    return ladder


def test_feedback_is_of_one_author(played, tmp_path):
    """Place, faults with what the bot read, dear decisions, matches; the transcript can be fed."""
    ladder = shutil.copytree(played, tmp_path / "ladder")
    reports = library.ladder_feedback(ladder)
    assert [path.parent.name for path in reports] == ["ann", "bob", "cyd"]
    text = reports[2].read_text()
    assert "No bot plays for you: the last one was retired (faults)." in text
    assert "crash in" in text
    transcript = next((ladder / "feedback" / "cyd" / "faults").iterdir())
    assert f"arena feed YOUR_BOT faults/{transcript.name}" in text
    assert '> {"type":"hello"' in transcript.read_text()
    found = json.loads((ladder / "feedback" / "ann" / "feedback.json").read_text())
    (game,) = found["games"]
    assert game["game"] == GAME
    assert found["active"] == "ann@1"
    assert game["history"] == [
        {"round": 1, "entrant": "ann@1", "rank": game["rank"], "rank_last": game["rank_last"]}
    ]
    assert game["regret"]["bot"] == "ann@1"
    assert not game["faults"]
    assert {match["opponent"] for match in game["newest"]} <= {"bob@1", "cyd@1"}
    before = reports[0].read_bytes()
    assert library.ladder_feedback(ladder)[0].read_bytes() == before


def test_a_site_has_the_ranking_the_chain_and_the_rounds(played, play, tmp_path):
    """A later round is added; what is there is not made again."""
    ladder, site = shutil.copytree(played, tmp_path / "ladder"), tmp_path / "site"
    (first,) = library.ladder_publish(ladder, site)
    assert first.replays >= first.matches > 0
    assert (site / "ladder" / "chain.jsonl").read_bytes() == (ladder / CHAIN).read_bytes()
    assert "ann@1" in (site / "ladder" / GAME / "index.html").read_text()
    assert library.ladder_publish(ladder, site) == []
    play(ladder)
    (second,) = library.ladder_publish(ladder, site)
    index = decode_index((site / FILE).read_bytes())
    assert {event.name for event in index.events} == {"test, round 1", "test, round 2"}
    (page,) = index.ladder
    assert page.matches == first.matches + second.matches
    assert page.bots == ("ann@1", "bob@1")
    assert page.page in (site / "index.html").read_text()


@pytest.fixture
def watched(played, tmp_path):
    """Starts `arena ladder watch` of a copy whose rounds follow at once."""
    ladder = shutil.copytree(played, tmp_path / "ladder")
    text = (ladder / "ladder.toml").read_text()
    (ladder / "ladder.toml").write_text(text + "[schedule]\nhours = 0.01\n")
    started = []

    def start(*flags):
        words = [sys.executable, "-m", "arena", "ladder", "watch", str(ladder), *flags]
        env = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
        process = subprocess.Popen(words, env=env, stderr=subprocess.PIPE, text=True)
        started.append(process)
        return ladder, process

    yield start
    for process in started:
        process.kill()
        process.wait()


def until(condition, seconds=120):
    """Wait for what another process does."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.long("a ladder that is watched", quick=())
def test_watching_plays_and_takes_in_until_it_is_stopped(watched, bot, tmp_path):
    """A second one is refused; a signal ends it, and all that it has begun."""
    ladder, process = watched("--sandbox", "none", "--jobs", "1")
    until(lambda: library.ladder_status(ladder).rounds > 1)
    _, other = watched()
    assert "another process watches it already" in other.communicate()[1]
    assert other.returncode == 2
    place = library.ladder_submit(ladder, "dee", bot(tmp_path / "dee"))
    until(lambda: "dee@1" in library.ladder_status(ladder).active)
    assert place.exists()
    process.send_signal(signal.SIGTERM)
    process.communicate()
    assert process.returncode == 143
    while (status := library.ladder_status(ladder)).unfinished:
        library.ladder_round(ladder, options=library.RunOptions(sandbox="none"))
    assert status.rounds >= 2
    assert library.ladder_verify(ladder, jobs=1).verified


@pytest.mark.long("a ladder that is watched", quick=())
def test_watching_ends_with_the_final(watched):
    """When `freeze` has passed."""
    ladder, process = watched("--sandbox", "none", "--jobs", "1")
    text = (ladder / "ladder.toml").read_text()
    frozen = "freeze = 2020-01-01T00:00:00Z\nfinal-matches = 20\n"
    (ladder / "ladder.toml").write_text(frozen + text)
    assert "the ladder is over: its final is played" in process.communicate(timeout=240)[1]
    assert process.returncode == 0
    assert library.ladder_status(ladder).frozen
