"""Find Python packages of the host that a bot imports, though its lock file does not name them.

The text of the bot's files says which modules it imports. Its own interpreter, in the sandbox, says
where each would come from: one among the installation's packages may be missing elsewhere.
"""

import os
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import takewhile
from pathlib import Path

import msgspec

from arena.bots.folder import SnapshotError, open_folder
from arena.check.examination import Examination
from arena.check.mistakes import language
from arena.engine.single_bot import BotLine
from arena.model import Bot
from arena.sandbox.environment import INSIDE
from arena.tables import table

# Read of a bot's files in all: an author's own code is far smaller.
FILES, BYTES, NAMES = 200, 1 << 20, 200
_ANSWERS_S = 10.0
_TABLE = table("check/packages")
_FLAG = re.compile(r"-[bBdEIOPqsSuvx]+")
_INSTALLED = re.compile(r"/(?:site|dist)-packages/")


def is_python(bot: Bot) -> bool:
    return language(bot.run).name == "Python"


def imports(root: Path, run: Sequence[str] = ()) -> Mapping[str, str]:
    """The modules that a bot's files import, each with the first place."""
    scripts = {word.removeprefix(f"{INSIDE}/") for word in run}
    found: dict[str, str] = {}
    left = BYTES
    for path, text in _texts(root, scripts):
        text = text[:left]  # noqa: PLW2901 - what there is still time for
        left -= len(text)
        line, counted = 1, 0
        for match in re.finditer(_TABLE["imports"], text, re.MULTILINE):
            line += text.count("\n", counted, match.end())
            counted = match.end()
            for module in (match[1] or match[2]).split(","):
                top = re.split(r"[.\s]", module.strip(), maxsplit=1)[0]
                if top and len(found) < NAMES:
                    found.setdefault(top, f"{path}:{line}")
    return found


def _texts(root: Path, scripts: Container[str]) -> Iterator[tuple[str, str]]:
    """Paths and texts of its Python files, by suffix or named in `run`; no link out is followed."""
    seen = 0
    with open_folder(root) as opened_root:
        for folder, folders, files in os.walk(root):
            folders[:] = sorted(each for each in folders if not each.startswith("."))
            for name in sorted(files):
                path = str(Path(folder, name).relative_to(root))
                if not (name.endswith(".py") or path in scripts) or seen == FILES:
                    continue
                seen += 1
                with suppress(SnapshotError):
                    at = opened_root.find(path)
                    if at is not None and at.is_file:
                        yield path, opened_root.read(at, BYTES).decode("utf-8", "replace")


async def host_packages(exam: Examination) -> list[str]:
    bot = exam.bot
    wanted = imports(Path(bot.root), bot.run)
    if not wanted:
        return []
    program, *words = bot.run
    flags = [*takewhile(_FLAG.fullmatch, words)]  # with -S it would see none
    asking = msgspec.structs.replace(bot, run=(program, *flags, "-c", _TABLE["where"], *wanted))
    own = [path for path in dict(bot.env).get("PYTHONPATH", "").split(os.pathsep) if path]
    found = []
    async with exam.solo(asking) as solo:
        for name, imported in wanted.items():
            event = await solo.line(_ANSWERS_S)
            if not isinstance(event, BotLine):
                break
            place = event.data.decode("utf-8", "replace")
            if _INSTALLED.search(place) and not any(place.startswith(path) for path in own):
                found.append(f"{name} (imported in {imported}) is {place}")
    return found
