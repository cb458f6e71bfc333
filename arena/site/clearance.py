"""Decide what of an event may be published, and under which names.

Theory of operation. Everything that a page or a file is made from goes through a `Clearing` first,
so one place decides what could leak. Machines, the reasons why a bot was not run (they may name
hosts and paths) and the bots' stderr are left out unless they are asked for.

Under aliases a keyed hash replaces names, authors, versions, hashes of bots' content and the
pairings in match ids. The key is not in the site. With a plain hash, the list of a class's
names would reveal all aliases and pairings. For the same reason

- the event's secret is not published: with two guessed names it gives the pairing's deals, which
  the replays show;
- matches, pairs and rows of one rating are sorted by their aliases, since the order of their true
  ids can be computed;
- of a fault only the kind is published, nothing in a bot's own words.

Pure. Invariant: the results of `event`, `table` and `failing` are public.
"""

import base64
import hashlib
import hmac
from collections.abc import Iterable, Iterator
from importlib.resources import files
from itertools import groupby

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from arena import model
from arena.reports.escape import sentence
from arena.site.view import Failing

_BIRDS = (files("arena.site") / "birds.txt").read_text("utf-8").split()
_LETTERS = 6
_VERSION_LETTERS = 4
_HEX = 12
_SELECTED = "without some bots"  # of an anonymous site, which can't say which
_STDERR = 40  # lines: as many as `arena log --faults` shows of one


class Clearance(model.Frozen, frozen=True, kw_only=True):
    key: bytes = b""  # of the aliases; none: names as they are
    stderr: bool = False  # whether what bots wrote to stderr is published with their faults
    host: bool = False  # whether machines, and reasons why bots were not run, are published

    @property
    def anonymous(self) -> bool:
        return bool(self.key)

    def name(self, name: str) -> str:
        if not self.key or not name:
            return name
        digest = self._digest("name", name)
        return f"{_BIRDS[digest[0] % len(_BIRDS)]}-{_letters(digest[1:], _LETTERS)}"

    def entrant(self, entrant: model.Entrant) -> model.Entrant:
        if not self.key:
            return entrant
        name, author = self.name(entrant.name), entrant.author
        # Aliased, since it may say whose bot it is.
        version = _letters(self._digest("version", entrant.version), _VERSION_LETTERS)
        return model.Entrant(
            id=f"{name}@{version}",
            name=name,
            version=version,
            author=f"author-{_letters(self._digest('author', author), _LETTERS)}" if author else "",
            hash=self._digest("hash", entrant.hash).hex() if entrant.hash else "",
        )

    def match(self, match: str) -> str:
        """A match's id: deal and rotation may be known, but not the bots."""
        if not self.key:
            return match
        pairing, dash, rest = match.partition("-")
        return f"{self._digest('pairing', pairing).hex()[:_HEX]}{dash}{rest}"

    def slug(self, commitment: str) -> str:
        """What the name of an event's folder is made from."""
        return self._digest("event", commitment).hex() if self.key else commitment

    def failing(self, match: str, fault: model.Fault, *, over: bool) -> Failing:
        """`over`: the event is; before, a bot's words could reveal cards that are dealt again."""
        bare = Failing(
            match=self.match(match), kind=fault.kind.value, hole=fault.hole, turn=fault.turn
        )
        if self.key or not over:
            return bare
        lines = [line for line in fault.stderr.splitlines() if line.strip()] if self.stderr else []
        return replace(
            bare,
            message=sentence(fault.message),
            line=sentence(fault.line),
            status=sentence(fault.status),
            stderr="\n".join(map(sentence, lines[-_STDERR:])),
        )

    def event(self, event: model.Event) -> model.Event:
        ids, hidden = self.ids(event.entrants), self.anonymous
        return replace(
            event,
            settings=self._settings(event.settings, ids),
            entrants=tuple(sorted(map(self.entrant, event.entrants), key=lambda each: each.id)),
            # A secret that anybody can guess would prove a guess of the field.
            commitment="" if hidden and event.predictable else event.commitment,
            secret="" if hidden or not event.finished else event.secret,
            confinement=event.confinement if self.host else _without_places(event.confinement),
            machine=event.machine if self.host else model.Machine(),
            machines=event.machines if self.host else (),
            not_run=tuple(sorted(map(self._not_run, event.not_run), key=lambda out: out.name)),
        )

    def table(self, table: model.Table) -> model.Table:
        events = (table.event, *(source.event for source in table.sources))
        known = [entrant for event in events for entrant in event.entrants]
        ids = self.ids(known)
        return replace(
            table,
            event=self.event(table.event),
            rows=tuple(_in_order(replace(row, entrant=ids[row.entrant]) for row in table.rows)),
            duels=tuple(
                sorted(
                    (replace(d, row=ids[d.row], column=ids[d.column]) for d in table.duels),
                    key=lambda d: (d.row, d.column),
                )
            ),
            withdrawn=self._withdrawn(table.withdrawn, ids),
            ended=self._said(table.ended, known),
            open_pairs=_renamed(table.open_pairs, ids),
            sources=tuple(self._source(source) for source in table.sources),
            selected=tuple(self._said(line, known) or _SELECTED for line in table.selected),
        )

    def ids(self, entrants: Iterable[model.Entrant]) -> dict[str, str]:
        return {entrant.id: self.entrant(entrant).id for entrant in entrants}

    def _settings(self, settings: model.Settings, ids: dict[str, str]) -> model.Settings:
        if not self.key:
            return settings
        trial = settings.trial and replace(settings.trial, new=ids[settings.trial.new])
        heroes = tuple(sorted(ids[hero] for hero in settings.heroes))
        # Bots that an epoch leaves out aren't among its entrants, and have no id here.
        options = settings.options
        if options is not UNSET:  # they may name bots
            options = {
                name: ids.get(value, value) if isinstance(value, str) else value
                for name, value in options.items()
            }
        gone = {"withdrawn": UNSET, "retired": UNSET}
        return replace(settings, heroes=heroes, trial=trial, options=options, **gone)

    def _source(self, source: model.SourceEvent) -> model.SourceEvent:
        ids = self.ids(source.event.entrants)
        return replace(
            source,
            event=self.event(source.event),
            withdrawn=self._withdrawn(source.withdrawn, ids),
            gone=tuple(sorted(ids[entrant] for entrant in source.gone)),
            ended=self._said(source.ended, source.event.entrants),
            # What it is called in the table is an entrant of another event: named by the same rule.
            aliases=() if self.key else source.aliases,
        )

    def _withdrawn(
        self, withdrawn: Iterable[model.Withdrawal], ids: dict[str, str]
    ) -> tuple[model.Withdrawal, ...]:
        found = [
            replace(out, entrant=ids[out.entrant], after=self.match(out.after)) for out in withdrawn
        ]
        return tuple(sorted(found, key=lambda out: out.entrant))

    def _said(self, text: str, entrants: Iterable[model.Entrant]) -> str:
        """One of our sentences; empty if it names a bot or an author."""
        if not self.key:
            return text
        labels = [label for each in entrants for label in (each.name, each.author) if label]
        return "" if any(label.casefold() in text.casefold() for label in labels) else text

    def _not_run(self, absent: model.NotRun) -> model.NotRun:
        name = absent.name.rpartition("/")[2] or absent.name
        if self.key:
            bare, at, _ = name.partition("@")
            return model.NotRun(name=self.name(bare if at else name), reason="")
        return absent if self.host else model.NotRun(name=name, reason="")

    def _digest(self, kind: str, text: str) -> bytes:
        return hmac.digest(self.key, f"{kind}/{text}".encode(), hashlib.sha256)


def site_key(key: bytes, site: str) -> bytes:
    """The key of one site's aliases; a bot's aliases in two sites can't be linked."""
    return hmac.digest(key, f"site/{site}".encode(), hashlib.sha256)


def key_fingerprint(key: bytes) -> str:
    """A fingerprint of a key: a site recognises its key by it."""
    return hmac.digest(key, b"known again", hashlib.sha256).hex()[:16]


def _in_order(rows: Iterable[model.Standing]) -> Iterator[model.Standing]:
    """Rows of one rating are sorted by their published ids."""
    for _, equal in groupby(rows, key=lambda row: (row.rank, row.mu, row.note)):
        yield from sorted(equal, key=lambda row: row.entrant)


def _renamed(
    pairs: tuple[model.OpenPair, ...] | UnsetType, ids: dict[str, str]
) -> tuple[model.OpenPair, ...] | UnsetType:
    if isinstance(pairs, UnsetType):
        return pairs
    return tuple(replace(pair, bots=(ids[pair.bots[0]], ids[pair.bots[1]])) for pair in pairs)


def _letters(digest: bytes, count: int) -> str:
    """Lower-case letters and digits that can't be confused."""
    return base64.b32encode(digest).decode().lower()[:count]


def _without_places(held: model.Confinement) -> model.Confinement:
    """The confinement without paths, that is, words with a slash."""
    words = [word for word in held.detail.split(" ") if "/" not in word]
    return replace(held, detail=" ".join(words))
