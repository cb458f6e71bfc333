"""Read a results folder: its schedule, which of its records count, its table. Loads no trio."""

import functools
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable
from hashlib import blake2b
from pathlib import Path

from arena import registry
from arena.deals import Deals, with_beacon
from arena.formats import Format
from arena.formats.shards import Shard
from arena.machine import Notify
from arena.model import Event, MatchRecord, Table, UserError
from arena.ratings.archive import DIGEST_HEX, MatchSummary
from arena.ratings.evidence import Evidence
from arena.ratings.incremental import Counting
from arena.ratings.outcomes import RatedOutcome, Tally
from arena.ratings.standings import table
from arena.schedule import NoResults, Wave, WaveResults, at_once, wave_of
from arena.store import Head, log_size, read_event, read_records, secret_of

# From here on a command takes several seconds; read on one core, with what is made of it.
LONG_LOG = 256 << 20
_BYTES_A_SECOND = 40 << 20


def announce_reading(notify: Notify, *folders: Path) -> None:
    """A line for each large log that is about to be read: about how long that takes."""
    for folder in folders:
        if (size := log_size(folder)) >= LONG_LOG:
            seconds = size // _BYTES_A_SECOND
            spoken = f"{seconds} s" if seconds < 120 else f"{seconds // 60} min"
            notify(f"reading {folder}: {size / 1e9:.1f} GB of matches, about {spoken}")


def schedule_of(event: Event, secret: bytes) -> Format:
    return registry.schedule(
        event.settings, event.entrants, Deals(with_beacon(secret, event.beacon))
    )


def first_wave(schedule: Format, event: Event | None = None) -> Wave:
    """All of an event whose format doesn't decide by results; else what it begins with. `event`:
    has what is known beforehand.
    """
    results: WaveResults = NoResults()
    if event:
        results = Evidence(event, Tally(margin=event.settings.rating.forfeit_margin), {})
    wave = schedule.wave((), results)
    assert isinstance(wave, Wave), "there is something to play"
    return wave


def shard_of(event: Event) -> Shard | None:
    return Shard.parse(event.shard) if event.shard else None


def counting_of(
    event: Event,
    secret: bytes,
    *,
    rated: Callable[[RatedOutcome], None] | None = None,
    decided: Callable[[Wave], None] | None = None,
    shard: Shard | None = None,
    schedule: Format | None = None,
) -> Counting:
    """A count of an event, or of a shard of it, with nothing counted yet."""
    schedule = schedule or schedule_of(event, secret)
    settings = event.settings
    if shard:
        if schedule.adaptive:
            raise UserError(
                f"--shard: {event.settings.format} decides by results what is played next, so no "
                "part can be played without the others; play the event on one machine"
            )
        part = wave_of(functools.partial(shard.blocks, first_wave(schedule).blocks))
        return Counting(at_once(part), settings, rated=rated, apart=True)
    judge = functools.partial(Evidence, event) if schedule.adaptive else None
    return Counting(schedule.wave, settings, judge=judge, rated=rated, decided=decided)


def left_of(folder: Path, event: Event, secret: bytes) -> int:
    """How many matches of a shard are left to play; UserError for a log that isn't of it."""
    counting = _counted(folder, event, counting_of(event, secret, shard=shard_of(event)))
    counting.counted()  # refuses what was not planned for it
    return counting.left


def count_folder(folder: Path, event: Event | None = None) -> tuple[Event, Counting]:
    """The count of a results folder's log. `event`: the folder's, if it has been read."""
    event = event or read_event(folder)
    return event, _counted(folder, event, counting_of(event, secret_of(folder, event)))


def _counted(folder: Path, event: Event, counting: Counting) -> Counting:
    for record in read_records(folder, event):
        counting.add(record)
    return counting


def withdrawn_in(folder: Path, event: Event | None = None) -> frozenset[str]:
    _, counting = count_folder(folder, event)
    return frozenset(out.entrant for out in counting.counted().withdrawn)


def table_of(folder: Path, event: Event | None = None) -> Table:
    """The table of a results folder, derived from its log. `event`: the folder's, if it is read."""
    event, counting = count_folder(folder, event)
    counted = counting.counted()
    if event.finished and counted.missing:
        raise incomplete(folder, counted.missing, counted.planned)
    return table(event, counted, ahead=True)


def incomplete(folder: Path, missing: int, planned: int) -> UserError:
    return UserError(
        f"{folder}: the event is finished, but {missing} of {planned} matches are missing from "
        f"matches.jsonl; to play them again: arena resume --repair {folder}"
    )


class Keys:
    """64 bits of a hash of each of many, sorted; an author would gain nothing by a collision."""

    def __init__(self, keys: Iterable[int]) -> None:
        self.keys = array("Q", sorted(keys))

    def __len__(self) -> int:
        return len(self.keys)

    def __contains__(self, key: int) -> bool:
        return self.find(key) is not None

    def find(self, key: int) -> int | None:
        """The first place of a key."""
        at = bisect_left(self.keys, key)
        return at if at < len(self.keys) and self.keys[at] == key else None


class Counts:
    """Which records of a log count, in the order of the file: of one that is twice the first."""

    def __init__(
        self,
        folder: Path,
        counting: Counting | None = None,
        *,
        event: Event | None = None,
        annulled: bool = False,
        gone: frozenset[str] = frozenset(),
    ) -> None:
        """`annulled`: count what annulling leaves out, too. `gone`: withdrawn before this epoch."""
        if counting is None:
            _, counting = count_folder(folder, event)
        counted = counting.counted()
        self.gone = gone.union(out.entrant for out in counted.withdrawn)
        """Bots withdrawn from this event, or before it."""
        self.annulled = gone.union(out.entrant for out in counted.withdrawn if out.annulled)
        self.missing, self.planned = counted.missing, counted.planned
        """Of the matches of the event, as far as they are decided on."""
        chosen = counting.complete() if annulled else counting.chosen()
        keys = array("Q", (record_key(played) for each in chosen for _, played, _ in each.matches))
        del counting, counted, chosen  # before more memory is taken
        self._keys = Keys(keys)
        self._told = bytearray(len(self))

    def __call__(self, head: Head) -> bool:
        return self.takes(record_key(head))

    def __len__(self) -> int:
        return len(self._keys)

    def takes(self, key: int) -> bool:
        """The same of a record that is known by its key."""
        at = self._keys.find(key)
        if at is None or self._told[at]:
            return False
        self._told[at] = True
        return True

    def fingerprint(self) -> bytes:
        """The same for the same records, whatever their order in the log."""
        return self._keys.keys.tobytes()


def record_key(record: Head | MatchRecord | MatchSummary) -> int:
    """64 bits that tell a record from all others."""
    return key_of(f"{record.id} {record.attempt} {record.digest[:DIGEST_HEX]}")


def key_of(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest())
