"""Bots that a results folder keeps."""

import os
import shutil

import pytest

from arena.bots import hand_over, keep_bots, load, restore, share_bots, sources_in
from arena.bots import kept as kept_bots
from arena.bots.kept import kept_copy
from arena.model import UserError


@pytest.fixture
def entrants(make, cache):
    """Two bots, the second of them large."""
    bots = [make("a", {"bot.py": "x"}), make("b", {"bot.py": "y" * 999, "lib/z.py": ""})]
    return [each.entrant for each in load(bots, cache=cache).candidates]


@pytest.fixture
def event(tmp_path):
    folder = tmp_path / "event"
    folder.mkdir()
    return folder


def names(folder):
    return {path.name for path in folder.iterdir()}


def test_what_is_kept_is_found_without_the_cache(entrants, cache, event, tmp_path):
    """By its content, for the owner alone, with where it lay; keeping it again changes nothing."""
    first = {each.id: f"/home/me/{each.name}" for each in entrants}
    for sources in (first, dict.fromkeys(first, "/home/me/copy")):
        assert [] == keep_bots(entrants, event, sources, cache=cache)
    assert first == sources_in(event)
    assert 0o700 == (event / "bots").stat().st_mode & 0o777
    hashes = {each.hash for each in entrants}
    assert hashes | {".gitignore", "sources.json"} == names(event / "bots")
    roster = restore([(each, "") for each in entrants], cache=tmp_path / "new", folder=event)
    assert () == roster.problems
    assert hashes == names(tmp_path / "new" / "bots")


def test_events_share_a_place(entrants, cache, event, tmp_path):
    """A file in each leads to it, wherever both are moved; a path in the cache is no source."""
    place = tmp_path / "versions"
    keep_bots(entrants, event, {"a": str(cache / "bots" / "x"), "b": ""}, cache=cache, place=place)
    assert {"place"} == names(event / "bots")
    assert {} == sources_in(event)
    later = tmp_path / "later"
    share_bots(later, place)
    assert {"place"} == names(later / "bots")
    assert kept_copy(later, entrants[0].hash)
    (tmp_path / "elsewhere").mkdir()
    for folder in (event, place):
        shutil.move(folder, tmp_path / "elsewhere" / folder.name)
    for each in entrants:
        assert kept_copy(tmp_path / "elsewhere" / "event", each.hash).is_dir()


@pytest.mark.parametrize("links", [True, False])
def test_large_bots_are_linked_or_left_out(entrants, cache, event, monkeypatch, links):
    """What can neither be linked nor copied within the limit is named."""
    monkeypatch.setattr(kept_bots, "LINKED_FROM", 500)
    if not links:
        monkeypatch.setattr(os, "link", no_links)
    small, large = entrants
    lost = keep_bots(entrants, event, {}, cache=cache, most=400)
    assert ([] if links else [large.id]) == lost
    assert kept_copy(event, small.hash)
    if links:
        file = kept_copy(event, large.hash) / "bot.py"
        assert file.samefile(cache / "bots" / large.hash / "bot.py")
    assert {each.hash for each in entrants if each.id not in lost} | {".gitignore"} == names(
        event / "bots"
    )


def no_links(*_, **__):
    raise OSError(18, "Invalid cross-device link")


def test_a_link_in_the_way_is_refused(entrants, cache, event, tmp_path):
    """A stranger's folder could have us write anywhere; nothing is read through it, either."""
    (event / "bots").symlink_to(tmp_path)
    with pytest.raises(UserError, match="a link, so nothing is written"):
        keep_bots(entrants, event, {}, cache=cache)
    (event / "bots").unlink()
    (event / "bots").mkdir()
    (event / "bots" / entrants[0].hash).symlink_to(cache)
    (event / "bots" / "sources.json").write_text("[]")
    assert kept_copy(event, entrants[0].hash) is None
    assert {} == sources_in(event)


def test_a_bot_that_has_left_the_cache_is_named(entrants, cache, event):
    """Its event can be entered again."""
    shutil.rmtree(cache / "bots" / entrants[0].hash)
    with pytest.raises(UserError, match="has just vanished"):
        keep_bots(entrants, event, {}, cache=cache)


def test_a_merged_event_takes_over_what_its_shards_keep(entrants, cache, event, tmp_path):
    """As far as it is whole: a pipe in a stranger's shard stops nothing."""
    keep_bots(entrants, event, {"a": "/a"}, cache=cache)
    os.mkfifo(event / "bots" / entrants[0].hash / "pipe")
    whole = tmp_path / "whole"
    whole.mkdir()
    for _ in range(2):
        hand_over(entrants, event, whole)
    assert {entrants[1].hash, ".gitignore", "sources.json"} == names(whole / "bots")
    assert {"a": "/a"} == sources_in(whole)
