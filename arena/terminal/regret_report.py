"""Print `arena log --regret`: where the bots of an event lost strokes by their own decisions."""

from collections.abc import Iterator

import msgspec

from arena.api.results import NEWEST, EventResults
from arena.event.search import seat_of
from arena.model import UserError
from arena.regret import PHASES, MistakeKind, Phase
from arena.regret.summary import BotRegret, RegretReport
from arena.reports.escape import plain, shell
from arena.reports.layout import clip, width, wrap
from arena.terminal.screen import columns, echo_json, show

PHASE_WORDS = {
    Phase.TEE: "tee-off",
    Phase.SOURCE: "take or draw",
    Phase.PLACE: "where to put it",
    Phase.END: "when to end the hole",
}
MISTAKE_WORDS = {
    MistakeKind.TEE: "teed off with worse cards",
    MistakeKind.TOOK: "took the discard",
    MistakeKind.DREW: "drew a card",
    MistakeKind.MISPLACED: "chose a worse place",
    MistakeKind.KEPT: "kept the drawn card",
    MistakeKind.DISCARDED: "discarded the drawn card",
    MistakeKind.EARLY: "ended the hole too early",
    MistakeKind.LATE: "didn't end the hole",
}
_NAME = 24
_HEADS = ("strokes", "luck", "regret", "others'", "rest")
_ABOUT = (
    "Strokes a match above the mean of the others at the table. strokes = luck + regret - others' "
    "regret + rest. Regret is an opinion: what the best move was worth by the frozen evaluator {}, "
    "given what the seat knew, less what was played."
)


def show_regret(
    results: EventResults, newest: int | None, bot: str | None, *, as_json: bool
) -> None:
    """`arena log --regret`: all bots, or one; `newest` 0: of all matches."""
    wanted = None if bot is None else seat_of(results.event, bot)
    found = results.regret(NEWEST if newest is None else newest or None, bot=wanted)
    if not found.matches:
        whose = "" if wanted is None else f" of {plain(wanted)}"
        raise UserError(f"{results.folder}: no match{whose} counts yet, so there is no regret")
    if wanted is not None:
        bots = tuple(each for each in found.bots if each.bot == wanted)
        found = msgspec.structs.replace(found, bots=bots)
    if as_json:
        echo_json(found)
    else:
        show(regret_lines(found, str(results.folder), columns()))


def regret_lines(found: RegretReport, folder: str, room: int) -> Iterator[str]:
    matches = f"the newest {found.matches:,} of {found.of:,}"
    yield f"{plain(folder)}: {matches if found.matches < found.of else f'{found.of:,}'} matches"
    yield ""
    names = [clip(plain(each.bot), _NAME) for each in found.bots]
    wide = max(3, *map(width, names))
    yield f"{'bot':<{wide}}" + "".join(f"{head:>9}" for head in _HEADS)
    for name, each in zip(names, found.bots, strict=True):
        yield name + " " * (wide - width(name)) + _sum(each)
    yield ""
    yield from wrap(_ABOUT.format(found.judge), room, indent="")
    for each in found.bots:
        yield ""
        yield from _bot(each, folder, room)


def _sum(each: BotRegret) -> str:
    numbers = (each.strokes, each.luck, each.regret, each.others, each.rest)
    cells = "".join(f"{'-':>9}" if n is None else f"{n:>+9.2f}" for n in numbers)
    return cells if each.rest_error is None else f"{cells} ± {each.rest_error:.2f}"


def _bot(each: BotRegret, folder: str, room: int) -> Iterator[str]:
    yield f"{plain(each.bot)}: {each.regret:.2f} strokes a match, in {each.matches:,} matches"
    phases = sorted(each.phases, key=lambda phase: -each.phases[phase])
    for phase in phases:
        if cost := each.phases[phase]:
            parts = [
                f"{MISTAKE_WORDS[mistake]} {lost:.2f} ({each.times[mistake]:.1f} times)"
                for mistake, lost in each.mistakes.items()
                if PHASES[mistake] is phase
            ]
            yield from wrap(
                f"  {cost:7.2f}  {PHASE_WORDS[phase]}: {', '.join(parts)}", room, indent=" " * 11
            )
    if each.dearest:
        yield "  Its dearest moves:"
    for dear in each.dearest:
        yield f"  {dear.regret:7.2f}  {dear.played}, where {dear.best} was best"
        where = ["--hole", str(dear.hole), "--move", str(dear.move)]
        yield " " * 11 + shell(["arena", "replay", folder, dear.match, *where, "--regret"])
