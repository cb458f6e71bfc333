"""Matches without a process: what the referee says to bots that answer at once, line by line.

The answers are those that bots/instant and bots/lean would give, so the same specs make the same
matches here as between processes: the same lines, byte for byte but for the time left.
"""

from __future__ import annotations

from collections.abc import Callable

from arena import registry
from arena.deals import Deals, secret_from_seed
from arena.model import MatchRecord, MatchSpec, Series, Settings
from arena.referee import Referee, hello
from arena.wire.messages import Answer
from arena.wire.session import BotSession

SECRET = secret_from_seed("speed")


def settings_of(game: str = "play-nine", seats: int = 2, **fields: int) -> Settings:
    """The settings of a measured event: nothing but the defaults."""
    rules = registry.game(game)
    return Settings(
        game=game, seats=seats, turn_cap=rules.turn_cap, rating=rules.about.rating, **fields
    )


def series_of(names: tuple[str, ...], matches: int, name: str = "s") -> Series:
    """A series of that many matches on different deals."""
    specs = [
        MatchSpec(
            id=f"{name}-{deal:06d}", series=name, pairing="p", deal=deal, rotation=0, seats=names
        )
        for deal in range(matches)
    ]
    return Series(id=name, matches=tuple(specs))


class Instant:
    """A seat's bot: any legal move, by a generator that starts from the match's seed."""

    def __init__(self) -> None:
        self.state = 1

    def hear(self, line: bytes) -> bytes:
        """The answer to a line; nothing to one that wants none."""
        if line.startswith(b'{"type":"act"'):
            turn = line[22 : line.index(b'"', 22)]
            legal = line[line.rindex(b"[") + 2 : line.rindex(b"]") - 1].split(b'","')
            self.state = (self.state * 1664525 + 1013904223) & 0xFFFFFFFF
            return b'{"turn":"%b","move":"%b"}\n' % (turn, legal[(self.state >> 8) % len(legal)])
        if line.startswith(b'{"type":"match"'):
            self.state = int(line[line.index(b'"seed":') + 7 : line.rindex(b"}")])
        elif line.startswith(b'{"type":"hello"'):
            return b'{"type":"ready"}\n'
        return b""


class Conversation:
    """The pure rings at work: referee, game and wire, with a bot of this process in each seat.

    `said` is called with the seat and the line for every line that a bot would be sent.
    """

    def __init__(
        self,
        settings: Settings,
        said: Callable[[int, bytes], None] = lambda _seat, _line: None,
        secret: bytes = SECRET,
    ) -> None:
        self._settings = settings
        self._said = said
        self._game = registry.game(settings.game)
        self._deals = Deals(secret)
        self._bots = [Instant() for _ in range(settings.seats)]
        self._sessions = [BotSession(settings.limits.line_bytes) for _ in range(settings.seats)]
        for seat, session in enumerate(self._sessions):
            self._answered(seat, session.hello(hello(settings)))

    def play(self, spec: MatchSpec) -> MatchRecord:
        """Play a match; its record has its digest, and nothing of the host's."""
        referee = Referee(spec, game=self._game, deals=self._deals, settings=self._settings)
        referee.begin()
        while True:
            for seat, notice in referee.take_notices():
                line = self._sessions[seat].send(notice)
                self._said(seat, line)
                self._bots[seat].hear(line)
            if not referee.asked:
                break
            for seat in referee.asked:
                question = referee.question(seat, bank_ms=self._settings.limits.match_ms)
                event = self._answered(seat, self._sessions[seat].ask(question))
                assert isinstance(event, Answer), event
                referee.answer(seat, event.move)
        return referee.record()

    def _answered(self, seat: int, line: bytes) -> object:
        self._said(seat, line)
        self._sessions[seat].receive(self._bots[seat].hear(line))
        return self._sessions[seat].next_event()
