"""Rebuild the transcript that one bot process saw, from a results folder."""

from __future__ import annotations

from pathlib import Path
from typing import Self

from arena import registry
from arena.deals import Deals, with_beacon
from arena.event.search import record_of_attempt
from arena.machine import Notify
from arena.model import Entrant, Event, Frozen, MatchRecord, UserError
from arena.replay.rebuild import rebuild_lines
from arena.reports.escape import plain
from arena.store import read_event, records_of_series, secret_of


class BotMatches(Frozen, frozen=True, kw_only=True):
    folder: Path
    event: Event
    secret: bytes
    entrant: Entrant
    records: tuple[MatchRecord, ...]

    @classmethod
    def find(
        cls,
        folder: Path,
        match: str,
        bot: str | None,
        attempt: int | None,
        notify: Notify,
        *,
        content: str = "",
        event: Event | None = None,
    ) -> Self:
        """Find them; UserError names what there is instead. `content`: the hash of the bot's
        content, which identifies it if `bot` is no id.
        """
        event = event or read_event(folder)
        secret = secret_of(folder, event)
        record = record_of_attempt(folder, match, attempt, notify, event)
        by_id = {entrant.id: entrant for entrant in event.entrants}
        entrant = _at_table([by_id[seat] for seat in record.seats], record, bot, content)
        return cls(
            folder=folder,
            event=event,
            secret=secret,
            entrant=entrant,
            records=_of_process(folder, event, record),
        )

    def transcript(self, *, lean: bool) -> bytes:
        """Every line that the process read and wrote; `lean`: of a bot that asks for `next`."""
        settings = self.event.settings
        lines = rebuild_lines(
            self.records,
            self.entrant.id,
            settings=settings,
            game=registry.game(settings.game),
            deals=Deals(with_beacon(self.secret, self.event.beacon)),
            lean=lean,
        )
        return "".join(f"{line}\n" for line in lines).encode()


def _at_table(seated: list[Entrant], record: MatchRecord, bot: str | None, content: str) -> Entrant:
    ids = ", ".join(entrant.id for entrant in seated)
    if bot is None:
        raise UserError(f"whose transcript? --bot with one of: {ids}")
    for meant in (
        [entrant for entrant in seated if entrant.id == bot],
        [entrant for entrant in seated if entrant.hash == content],
        [entrant for entrant in seated if entrant.name == bot.partition("@")[0]],
    ):
        if len(meant) == 1:
            return meant[0]
        if meant:
            some = ", ".join(entrant.id for entrant in meant)
            raise UserError(f"{plain(bot)} may be any of these; say which with --bot: {some}")
    raise UserError(f"{plain(bot)} was not in match {record.id}; at the table were: {ids}")


def _of_process(folder: Path, event: Event, last: MatchRecord) -> tuple[MatchRecord, ...]:
    """Matches of the processes that played the last one: a fault brings fresh processes."""
    records: list[MatchRecord] = []
    for record in records_of_series(folder, last.series, event):
        if record.attempt == last.attempt:
            if records and records[-1].faults:
                records.clear()
            records.append(record)
            if record.id == last.id:
                break
    return tuple(records)
