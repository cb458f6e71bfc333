"""Print what `arena doctor` has found: sandboxes, limits, guarantees, and remedies."""

import textwrap
from collections.abc import Iterator

import click

from arena.machine.doctor import Checkup, Tried


def checkup_lines(found: Checkup, width: int, *, paint: bool) -> Iterator[str]:
    yield from _verdict(found, width, paint=paint)
    yield from ("", "Sandboxes, in the order in which they are taken")
    for before, tried in zip((None, *found.backends), found.backends, strict=False):
        yield from _tried(tried, before, width)
    yield from ("", "Memory of a bot's whole tree")
    yield from _memory(found, width)
    yield from ("", "Limits of the arena itself")
    yield from _own_limits(found, width)
    yield from ("", "Time")
    yield from _time(found, width)
    yield from ("", "What is guaranteed")
    yield from _guarantees(found, width, paint=paint)
    yield from ("", "Known gaps")
    yield from _gaps(found, width)
    yield from ("", "This machine")
    yield from _machine(found, width)


def _verdict(found: Checkup, width: int, *, paint: bool) -> Iterator[str]:
    chosen = next((tried for tried in found.backends if tried.works), None)
    if found.lack:
        text = f"arena run will stop: {found.lack}."
    elif chosen is None:
        text = "No sandbox works here: arena run will stop, but with --sandbox none."
    elif not found.works:
        text = f"arena run takes {chosen.name}, but no bot plays in it: {found.bot.problem}"
    else:
        text = f"arena run takes {chosen.name}: {chosen.detail}."
    colour = ("green" if found.works else "red") if paint else None
    yield from (click.style(line, fg=colour) if colour else line for line in _wrap(text, width))
    if found.works:
        yield (
            f"A bot starts in {found.bot.start_ms:.0f} ms, answers, and is gone "
            f"{found.bot.gone_ms:.0f} ms after its end."
        )
    elif (finding := found.bot.finding) and finding.advice:
        yield from _item(f"{finding.text}.", width)
        yield from (f"  {line}" for line in finding.remedy(width - 2))


def _tried(tried: Tried, before: Tried | None, width: int) -> Iterator[str]:
    """`before`: the one listed before it, whose remedy needn't be repeated."""
    margin = " " * 21
    if tried.works:
        yield f"  {tried.label:<12} works  {tried.detail}"
        if tried.tool:
            yield f"{margin}{tried.tool}"
        if tried.identity:
            yield from _wrap(tried.identity, width, margin, margin)
    elif finding := tried.finding:
        head = f"  {tried.label:<12} NO     "
        if before and before.finding == finding:
            yield f"{head}for the same reason"
        else:
            yield from _wrap(finding.text, width, head, margin)
            yield from (f"      {line}" for line in finding.remedy(width - 6))


def _memory(found: Checkup, width: int) -> Iterator[str]:
    memory = found.memory
    if memory.by == "watchdog":
        text = (
            "limited by a watchdog that polls every 20 ms: what a fast program fills in that "
            "time (about 100 MB a core) comes on top."
        )
    elif memory.by:
        text = f"limited by the kernel ({memory.by})."
    else:
        text = "unknown: the process that starts bots does not answer."
    yield from _item(text, width)
    if finding := memory.finding:
        yield from _item(f"No control group: {finding.text}.", width)
        yield from (f"  {line}" for line in finding.remedy(width - 2))


def _own_limits(found: Checkup, width: int) -> Iterator[str]:
    free = "no limit of a process or a control group keeps a bot from what it is promised"
    for text in (found.lack or free, *found.notes):
        yield from _item(f"{text}.", width)


def _time(found: Checkup, width: int) -> Iterator[str]:
    if found.waits_counted:
        text = "a bot is charged for what it runs or sleeps, not for what it waits for a core."
    else:
        text = (
            "this kernel doesn't count what a task waits for a core (schedstat in /proc): bots are "
            "charged by the clock. Leave the cores that --jobs takes to the event alone."
        )
    yield from _item(text, width)


def _guarantees(found: Checkup, width: int, *, paint: bool) -> Iterator[str]:
    name_width = max(map(len, found.guarantees)) + 2
    widths = [len(tried.label) + 2 for tried in found.backends]
    margin = 2 + name_width + sum(widths)
    heads = (f"{t.label:<{w}}" for t, w in zip(found.backends, widths, strict=True))
    yield f"  {'':<{name_width}}{''.join(heads)}".rstrip()
    for name, meaning in found.guarantees.items():
        cells = []
        for tried, cell in zip(found.backends, widths, strict=True):
            kept = name in tried.kept
            text = f"{'yes' if kept else 'no':<{cell}}"
            cells.append(click.style(text, fg="red") if paint and not kept else text)
        first, *rest = _wrap(meaning, max(width - margin, 20))
        yield f"  {name:<{name_width}}{''.join(cells)}{first}"
        yield from (" " * margin + line for line in rest)


def _gaps(found: Checkup, width: int) -> Iterator[str]:
    working = [tried for tried in found.backends if tried.works]
    if not working:
        yield "  none: no sandbox works"
    for name, meaning in found.gaps.items():
        where = [tried.label for tried in working if name in tried.gaps]
        if not where:
            continue
        scope = "" if len(where) == len(working) else f" ({', '.join(where)})"
        yield from _wrap(f"{name}{scope}: {meaning}", width, "  - ", "    ")


def _machine(found: Checkup, width: int) -> Iterator[str]:
    machine = found.machine
    cores = f"{machine.cores} {'core' if machine.cores == 1 else 'cores'}"
    user = f"user {found.user}" if found.user else "root (each bot gets a spare user)"
    yield from _item(", ".join(filter(None, (machine.system, machine.cpu, cores, user))), width)
    yield from _item(f"arena {machine.arena} on Python {machine.python}", width)
    if there := [f"{name}\u00a0{version}" for name, version in found.languages.items() if version]:
        yield from _item(f"for bots: {', '.join(there)}", width)
    if missing := [name for name, version in found.languages.items() if not version]:
        yield from _item(f"not installed: {', '.join(missing)}", width)


def _item(text: str, width: int) -> list[str]:
    return _wrap(text, width, "  ", "    ")


def _wrap(text: str, width: int, first: str = "", rest: str = "") -> list[str]:
    """Paths and options stay whole; what is joined by a no-break space stays together."""
    lines = textwrap.wrap(
        text,
        width,
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace("\u00a0", " ") for line in lines]
