"""Print `arena twins`: pairs of bots that decide alike, with the evidence."""

from collections.abc import Iterator

from arena.reports.escape import plain, shell
from arena.reports.layout import clip, width, wrap
from arena.twins.likeness import COMPARED, TellingMove, TwinBot, TwinPair, TwinReport

_NAME = 18
_FEW = 0.9  # of the questions, answered or as recorded
_HEADS = {"alike": 7, "moves": 12, "kinds": 12, "1 in N": 8}
_ABOUT = (
    "moves: telling decisions (at least one bot departs from the recipe) that both take alike, of "
    "all telling ones. kinds: the same, by kind of move. alike: the mean of both shares. 1 in N: "
    "about one pair in N, or fewer, of bots that were written independently is as much alike."
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
        yield ""
    yield from wrap(" ".join(_findings(found)), room, indent="")
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


def _findings(found: TwinReport) -> Iterator[str]:
    """What the pairs come to, and which couldn't be judged."""
    told = found.compared - found.near
    if not told:
        yield "No pair can be judged."
    elif found.first_bar is None or found.chance is None:
        every = "" if found.pairs else "; --all shows every pair"
        yield f"It isn't known for this game how alike independent bots are{every}."
    else:
        if not any(pair.rare for pair in found.pairs):
            yield (
                f"None of the compared pairs is as much alike as 1 in {found.first_bar:,} pairs of "
                "bots that were written independently."
            )
        yield (
            f"Of {told:,} pairs that can be judged, about {found.chance:.1f} would reach the "
            "lowest bar by chance."
        )
    if found.near:
        yield f"Too near a recipe to tell: {found.near:,}."
    if found.skipped:
        yield (
            f"Not compared, with fewer than {COMPARED} decisions in common: {found.skipped:,}. "
            "Play more matches, or give bots more --max-time, unless they decide at random."
        )


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
        if bot.near
    ]
    if recipes:
        yield from wrap(
            f"These bots play a recipe, or nearly: {', '.join(recipes)}.", room, indent=""
        )
    lots = [plain(bot.bot) for bot in found.bots if bot.answered > 2 * bot.settled]
    if lots:
        yield from wrap(f"These bots decide mostly at random: {', '.join(lots)}.", room, indent="")
    for bot in found.bots:
        if doubts := ", ".join(_doubts(bot, found.questions)):
            yield from wrap(f"{plain(bot.bot)}: {doubts}.", room, indent="")


def _doubts(bot: TwinBot, questions: int) -> Iterator[str]:
    if bot.answered < _FEW * questions:
        yield (
            f"answered only {bot.answered:,} of {questions:,} questions: it failed, or --max-time "
            "was over; pairs with it may not be compared"
        )
    if bot.as_recorded is not None and bot.as_recorded < _FEW:
        yield f"repeats only {100 * bot.as_recorded:.0f} % of its own recorded decisions"


def _pair(pair: TwinPair, found: TwinReport, folder: str, room: int) -> Iterator[str]:
    one, two = map(plain, pair.bots)
    recipe = plain(pair.recipe)
    same = "; their files are the same" if pair.same_files else ""
    yield from wrap(f"{one} and {two}: alike {pair.alike:.2f}{same}", room, indent="  ")
    text = (
        f"In {pair.telling:,} of {pair.compared:,} decisions at least one departs from {recipe}; "
        f"in {pair.same:,} of these both do the same; other bots agree with one of them in "
        f"{pair.expected:.0f} on average. By kind of move: {pair.same_kinds:,} of "
        f"{pair.telling_kinds:,}."
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
