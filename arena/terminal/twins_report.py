"""Print `arena twins`: pairs of bots that decide alike, with the evidence."""

from collections.abc import Iterator

from arena.reports.escape import plain, shell
from arena.reports.layout import clip, width, wrap
from arena.twins.likeness import TellingMove, TwinBot, TwinPair, TwinReport

_NAME = 18
_NEAR = 0.98  # as much like a recipe: it is one, or nearly
_FEW = 0.9  # of the questions, answered or as recorded
_HEADS = {"alike": 7, "moves": 12, "kinds": 12, "1 in": 7}
_ABOUT = (
    "moves: of the decisions in which at least one of the two departs from the recipe that "
    "explains them best, those that both take alike, by the same move or one as good. kinds: the "
    "same by kind of move alone. alike: the mean of both shares. 1 in: at most one pair in so many "
    "is as much alike among bots that were written apart."
)
_CAUTION = (
    "This is evidence, not a verdict. It can't tell who wrote first, nor a copy from a common "
    "teacher, book, example or language model: look at the moments, then at the sources, and ask "
    "both authors."
)


def twin_lines(
    found: TwinReport, folder: str, room: int, limit: int | None = None
) -> Iterator[str]:
    """`limit`: only of so many pairs the moments."""
    counts = f"{len(found.bots)} bots, {found.compared:,} pairs, {found.questions:,} questions"
    yield f"{plain(folder)}: {counts}, each asked twice"
    yield ""
    if found.pairs:
        yield from _table(found)
        yield ""
        yield from wrap(_ABOUT, room, indent="")
    elif found.chance is not None:
        yield "No two bots are more alike than 1 pair in 100 that were written apart."
    yield ""
    near = f" {found.near:,} are too near a recipe to tell." if found.near else ""
    expected = "How alike bots are that were written apart isn't known for this game: see --all."
    if found.chance is not None:
        told = found.compared - found.near
        expected = f"Of {told:,} pairs about {found.chance:.1f} may be listed by chance."
    yield from wrap(f"{expected}{near}", room, indent="")
    yield from _bots(found, room)
    for pair in found.pairs[:limit]:
        yield ""
        yield from _pair(pair, found, folder, room)
    if limit is not None and (more := len(found.pairs) - limit) > 0:
        yield ""
        yield f"and {more} more; their moments: --limit 0, or --bot NAME"
    if found.pairs:
        yield ""
        yield from wrap(_CAUTION, room, indent="")


def _table(found: TwinReport) -> Iterator[str]:
    names = [" + ".join(clip(plain(bot), _NAME) for bot in pair.bots) for pair in found.pairs]
    wide = max(4, *map(width, names))
    yield f"{'bots':<{wide}}" + "".join(f"{head:>{room}}" for head, room in _HEADS.items())
    yield "-" * wide + "".join("  " + "-" * (room - 2) for room in _HEADS.values())
    for name, pair in zip(names, found.pairs, strict=True):
        rare = f"{pair.rare:,}" if pair.rare else "-"
        kinds = f"{pair.same_kinds}/{pair.telling_kinds}"
        cells = (f"{pair.alike:.2f}", f"{pair.same}/{pair.telling}", kinds, rare)
        row = zip(cells, _HEADS.values(), strict=True)
        yield name + " " * (wide - width(name)) + "".join(f"{cell:>{room}}" for cell, room in row)


def _bots(found: TwinReport, room: int) -> Iterator[str]:
    """What else is to be known of the bots."""
    recipes = [
        f"{plain(bot.bot)} ({plain(bot.recipe)} {100 * bot.like_recipe:.0f} %)"
        for bot in found.bots
        if bot.settled and bot.like_recipe >= _NEAR
    ]
    if recipes:
        yield from wrap(f"They play a recipe, or nearly: {', '.join(recipes)}.", room, indent="")
    lots = [plain(bot.bot) for bot in found.bots if bot.answered > 2 * bot.settled]
    if lots:
        yield from wrap(f"They decide mostly by lot: {', '.join(lots)}.", room, indent="")
    for bot in found.bots:
        if doubts := ", ".join(_doubts(bot, found.questions)):
            yield from wrap(f"{plain(bot.bot)}: {doubts}.", room, indent="")


def _doubts(bot: TwinBot, questions: int) -> Iterator[str]:
    if bot.answered < _FEW * questions:
        yield f"answered {bot.answered:,} questions only: it failed, or its time was over"
    if bot.as_recorded is not None and bot.as_recorded < _FEW:
        share = f"{100 * bot.as_recorded:.0f} %"
        yield f"takes {share} of its own recorded decisions again, the others otherwise"


def _pair(pair: TwinPair, found: TwinReport, folder: str, room: int) -> Iterator[str]:
    one, two = map(plain, pair.bots)
    recipe = plain(pair.recipe)
    same = "; their files are the same" if pair.same_files else ""
    yield from wrap(f"{one} and {two}: alike {pair.alike:.2f}{same}", room, indent="  ")
    text = (
        f"In {pair.telling:,} of {pair.compared:,} decisions at least one departs from {recipe}; "
        f"in {pair.same:,} of these both do the same, where {pair.expected:.0f} are expected. By "
        f"kind of move: {pair.same_kinds:,} of {pair.telling_kinds:,}."
    )
    yield from wrap(f"  {text}", room, indent="  ")
    for moment in pair.moments:
        others = f"{moment.others} of {found.others} others do it"
        both = " and ".join(dict.fromkeys(moment.moves))
        yield f"  both {both}; {recipe}: {moment.recipe}; {others}"
        yield _where(moment, folder)
    for moment in pair.differences:
        yield f"  differ: {moment.moves[0]} | {moment.moves[1]}; {recipe}: {moment.recipe}"
        yield _where(moment, folder)


def _where(moment: TellingMove, folder: str) -> str:
    at = ["--hole", str(moment.hole), "--move", str(moment.move)]
    return " " * 4 + shell(["arena", "replay", folder, moment.match, *at])
