"""One bot alone: lines as they are, silence, floods, the end."""

import pytest
import trio

from arena import registry
from arena.bots.interpreters import Toolbox
from arena.engine.pipes import open_pipes
from arena.engine.single_bot import BotLine, Flood, OutputEnd, Silence, open_solo
from arena.model import Bot, Entrant, Limits

pytestmark = pytest.mark.process


@pytest.fixture
def alone(tmp_path):
    """`alone(program, talk)` runs the coroutine with a Solo of that Python program."""

    def run(program, talk, **limits):
        (tmp_path / "bot.py").write_text(program)
        tool = Toolbox().find("python3")
        bot = Bot(
            entrant=Entrant(id="bot@1", name="bot", version="1", hash=""),
            root=str(tmp_path),
            run=(tool.path, "-S", "/bot/bot.py"),
        )

        async def go():
            backend = registry.backend("none")
            async with (
                open_pipes() as table,
                open_solo(table, bot, backend, Limits(**limits)) as solo,
            ):
                await talk(solo)
            return solo

        return trio.run(go)

    return run


def test_lines_come_as_they_were_written(alone):
    """Carriage returns, bytes that are no UTF-8, empty lines; nothing is judged."""

    async def talk(solo):
        solo.send(b"go\n")
        lines = [await solo.line(10) for _ in range(3)]
        assert [b"a\r", b"\xff", b""] == [line.data for line in lines]
        assert all(isinstance(line, BotLine) for line in lines)

    program = "import os\ninput()\nos.write(1, b'a\\r\\n\\xff\\n\\n')\ninput()"
    alone(program, talk)


def test_the_end_has_what_was_left_unsaid_and_the_status(alone):
    """A last line without its newline, stderr, and how the process ended."""

    async def talk(solo):
        assert isinstance(await solo.line(0.01), Silence)
        solo.close_input()
        end = await solo.line(10)
        assert isinstance(end, OutputEnd)
        assert (b"rest", "exit 3") == (end.rest, end.status)
        assert (await solo.left(10)).code == 3

    solo = alone("import sys\nsys.stdin.read()\nprint('rest', end='')\nsys.exit('said'and 3)", talk)
    assert "exit 3" == solo.bot.status()


def test_a_flood_is_no_more_than_is_kept(alone):
    """A line longer than line_bytes is told once it is, and the bot is left where it is."""

    async def talk(solo):
        flood = await solo.line(10)
        assert isinstance(flood, Flood)
        assert 1000 < len(flood.held) <= 1000 + 65_536

    alone("while True: print('x' * 9999, end='', flush=True)", talk, line_bytes=1000)


def test_a_bot_that_closed_its_input_can_be_written_to(alone):
    """Nothing comes of it, and nothing breaks."""

    async def talk(solo):
        assert b"closed" == (await solo.line(10)).data
        solo.send(b"x" * 200_000 + b"\n")
        solo.send(b"y\n")
        assert await solo.left(0) is None

    solo = alone("import os, time\nos.close(0)\nprint('closed', flush=True)\ntime.sleep(60)", talk)
    assert "signal SIGKILL" == solo.bot.status()


def test_what_is_not_read_waits_and_is_dropped_with_the_input(alone):
    """More than a pipe holds doesn't block; what a bot uses is known."""

    async def talk(solo):
        solo.send(b"x" * 500_000 + b"\n")
        await solo.rest(0.01)
        solo.close_input()
        assert isinstance(await solo.line(0.01), Silence)
        assert solo.bot.cpu() >= 0

    solo = alone(
        "import sys, time\nsys.stderr.write('here')\nsys.stderr.flush()\ntime.sleep(60)", talk
    )
    assert solo.bot.log_tail() in ("here", "")
