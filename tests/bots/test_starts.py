"""Which bots have started here lately."""

import os
import time

import pytest
from msgspec.structs import replace

from arena.bots import clean_cache, in_use
from arena.bots.starts import has_started, note_start, start_key
from arena.model import Bot, Entrant, UserError

HELLO = b'{"type":"hello"}'
BOT = Bot(
    entrant=Entrant(id="a@1", name="a", version="1", hash="a" * 64), root="/r/x", run=("/bot/go",)
)


def test_a_start_is_known_for_a_week(tmp_path):
    """Until the cache is cleaned; from then on the bot is tried again."""
    key = start_key(BOT, "bwrap", HELLO)
    with in_use(tmp_path) as cache:
        assert not has_started(cache, key)
        note_start(cache, key)
        assert has_started(cache, key)
        long_ago = time.time() - 8 * 24 * 3600
        os.utime(cache / "starts" / key, (long_ago, long_ago))
        assert not has_started(cache, key)
        note_start(cache, key)
        assert has_started(cache, key)
    clean_cache(tmp_path)
    assert not has_started(tmp_path, key)


def test_a_start_depends_on_bot_program_sandbox_and_greeting(tmp_path):
    """Another of any of them is another start."""
    program = tmp_path / "python3"
    program.write_text("one")
    bot = replace(BOT, run=(str(program), "bot.py"))
    keys = {start_key(BOT, "bwrap", HELLO), start_key(bot, "bwrap", HELLO)}
    program.write_text("another")
    keys |= {start_key(bot, "bwrap", HELLO), start_key(bot, "none", HELLO)}
    keys |= {start_key(bot, "none", b"{}"), start_key(replace(bot, root="/r/y"), "none", b"{}")}
    other = replace(bot, entrant=replace(bot.entrant, hash="b" * 64))
    keys |= {start_key(other, "none", b"{}"), start_key(replace(bot, scratch_mb=1), "none", b"{}")}
    assert 8 == len(keys)
    assert start_key(bot, "none", HELLO) == start_key(bot, "none", HELLO)


def test_an_entry_that_others_could_have_made_is_refused(tmp_path):
    """As of all that is in the cache."""
    key = start_key(BOT, "bwrap", HELLO)
    note_start(tmp_path, key)
    (tmp_path / "starts" / key).chmod(0o777)
    with pytest.raises(UserError, match="was not made by arena"):
        has_started(tmp_path, key)


def test_a_cache_that_can_not_be_written_to_keeps_nothing(tmp_path):
    """And stops nobody."""
    (tmp_path / "starts").write_text("a file in its place")
    note_start(tmp_path, "k")
    assert not has_started(tmp_path, "k")
