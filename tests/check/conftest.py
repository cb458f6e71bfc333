"""Bots that go wrong on purpose, and what `arena check` finds of them."""

import shutil
from pathlib import Path

import pytest
import trio

from arena import registry
from arena.bots.interpreters import Toolbox
from arena.check.runner import check_bot
from arena.engine.pipes import open_pipes
from arena.model import Bot, Entrant, Limits

LIMITS = Limits(move_ms=300, match_ms=20_000, start_ms=1_000, tasks=32)


@pytest.fixture(scope="session")
def confined():
    """The name of a sandbox that works here, if there is one."""
    names = (name for name in registry.SANDBOXES if name != "none")
    return next((name for name in names if registry.backend(name).probe().works), "none")


@pytest.fixture(autouse=True)
def brief(monkeypatch):
    """These bots are quick to do what they do wrong, and have no housekeeping."""
    monkeypatch.setattr("arena.check.checks.QUIET_S", 0.01)
    monkeypatch.setattr("arena.check.checks.SETTLES_S", 0.03)
    monkeypatch.setattr("arena.check.checks.IDLE_S", 0.1)
    # The good bot rests; of a machine that is busy one that spins gets less than a sixth of a core.
    monkeypatch.setattr("arena.check.checks.IDLE", 0.02)
    monkeypatch.setattr("arena.check.conversation.MORE_S", 0.02)
    monkeypatch.setattr("arena.check.conversation.PATIENT_S", 0.8)


@pytest.fixture
def examined(tmp_path):
    """`examined(folder_of_bot, run)` is its report."""

    def report(
        root,
        run,
        *,
        sandbox="none",
        expose=(),
        limits=LIMITS,
        games=("four-card-golf",),
        quick=True,
    ):
        bot = Bot(
            entrant=Entrant(id="bot@1", name="bot", version="1", hash=""),
            root=str(root),
            run=tuple(run),
            expose=expose,
            source=str(root),
        )

        async def go():
            async with open_pipes() as table:
                return await check_bot(
                    table,
                    bot,
                    registry.backend(sandbox),
                    limits,
                    games=games,
                    quick=quick,
                    path=str(root),
                )

        return trio.run(go)

    return report


@pytest.fixture
def spoilt(tmp_path, examined):
    """`spoilt((old, new), …)` is the report of the good bot with these words replaced."""
    here = Path(__file__).parent
    good = (here / "good.py").read_text()

    def report(*changes, name="spoilt", **options):
        text = good
        for old, new in changes:
            assert old in text, old
            text = text.replace(old, new)
        root = tmp_path / name
        root.mkdir()
        root.chmod(0o755)
        (root / "bot.py").write_text(text)
        shutil.copy(here / "light_json.py", root / "json.py")
        tool = Toolbox().find("python3")
        return examined(root, [tool.path, "-S", "/bot/bot.py"], expose=tool.expose, **options)

    return report
