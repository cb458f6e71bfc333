"""The tournament with executors that misbehave: void series, retries, a disk that fills up."""

import errno
import os
from collections import Counter

import pytest
import trio

from arena import registry
from arena.deals import Deals, commitment, secret_from_seed
from arena.engine.match import FinishedMatch
from arena.event.results import first_wave, table_of
from arena.event.tournament import Tournament
from arena.executors import SeriesEnd
from arena.executors.attempts import RETRIES
from arena.exhaustion import why_not
from arena.formats.blocks import Dealing
from arena.model import Entrant, Event, HoleRecord, HostError, LadderSettings, Settings, UserError
from arena.store import Private, Store, read_records
from tests.records import match_record

SECRET = secret_from_seed("tournament")
SETTINGS = Settings(game="play-nine", deals=3, series=2)
ENTRANTS = tuple(
    Entrant(id=f"{name}@1", name=name, version="1", hash=name) for name in ("ann", "bob", "cyd")
)


class Watched:
    """Remembers what it was told."""

    def __init__(self):
        self.matches, self.troubles, self.events = [], [], []

    def match(self, record):
        self.matches.append(record.id)

    def rated(self, rated):
        self.events.append(rated)

    def wave(self, wave): ...

    def trouble(self, series, message):
        self.troubles.append((series, message))


class Pretending:
    """An executor without processes: the first of a name wins; some attempts go wrong."""

    def __init__(self, trouble=lambda series, attempt: "", half=False):
        self.trouble, self.half, self.asked = trouble, half, []

    async def play(self, blocks, *, choose, report, stop):
        for block in blocks:
            for series in block.series:
                while (attempt := choose(series)) is not None:
                    await trio.lowlevel.checkpoint()
                    self.asked.append((series.id, attempt))
                    trouble = self.trouble(series.id, attempt)
                    played = series.matches[: 1 if self.half else 0] if trouble else series.matches
                    for spec in played:
                        report(FinishedMatch(record=record_of(spec, attempt)))
                    report(SeriesEnd(series=series.id, attempt=attempt, trouble=trouble))


def record_of(spec, attempt):
    """A record that the rules would not recognise, but the count does."""
    totals = tuple(10 * (ord(entrant[0]) - ord("a")) + spec.deal for entrant in spec.seats)
    holes = (HoleRecord(order=(0, 1), moves="draw", scores=totals),) * 9
    return match_record(spec, digest=True, holes=holes, totals=totals, attempt=attempt)


@pytest.fixture
def store(tmp_path):
    """A fresh results folder."""
    event = Event(
        settings=SETTINGS,
        entrants=ENTRANTS,
        commitment=commitment(SECRET, SETTINGS, ENTRANTS),
    )
    private = Private(secret=SECRET.hex(), sources={}, cache="")
    with Store.create(tmp_path / "event", event, private) as store:
        yield store


async def test_everything_is_played_once_and_concluded(store):
    """3 pairings x 3 deals x 2 rotations; afterwards the secret is revealed."""
    watched, executor = Watched(), Pretending()
    tournament = Tournament(store, SECRET, watched)
    assert 18 == tournament.planned == tournament.left
    await tournament.play(executor, trio.Event())
    assert 0 == tournament.left
    assert 18 == len(set(watched.matches)) == len(watched.matches)
    assert 9 == len(watched.events)
    tournament.conclude()
    table = table_of(store.folder)
    assert ["ann@1", "bob@1", "cyd@1"] == [row.entrant for row in table.rows]
    assert SECRET.hex() == table.event.secret


async def test_an_event_makes_each_block_of_its_schedule_once(store, monkeypatch):
    """From what is left to the table; what a match costs doesn't depend on how many there are."""
    made = []
    block = Dealing._block

    def counted(self, pairing, deals):
        made.append((pairing, deals))
        return block(self, pairing, deals)

    monkeypatch.setattr(Dealing, "_block", counted)
    tournament = Tournament(store, SECRET, Watched())
    await tournament.play(Pretending(), trio.Event())
    assert 0 == tournament.left
    assert 18 == tournament.result().matches
    assert 6 == len(made) == len(set(made))


async def test_a_worker_that_leaves_out_matches_is_a_bug(store):
    """Playing the series over and over would never end the event."""

    class Lazy(Pretending):
        async def play(self, blocks, *, choose, report, stop):
            series = next(blocks).series[0]
            report(SeriesEnd(series=series.id, attempt=choose(series)))

    tournament = Tournament(store, SECRET, Watched())
    with pytest.raises(RuntimeError, match="left out"):
        await tournament.play(Lazy(), trio.Event())


@pytest.mark.parametrize("half", [False, True])
async def test_a_void_series_is_replayed_whole(store, half):
    """Records of the attempt that was cut short stay in the log, uncounted.

    A series of which all got through before the trouble is complete, and isn't played again.
    """
    executor = Pretending(lambda _, attempt: "lightning" if attempt == 0 else "", half=half)
    watched = Watched()
    tournament = Tournament(store, SECRET, watched)
    await tournament.play(executor, trio.Event())
    assert 0 == tournament.left
    assert 12 == len(watched.troubles)
    assert (18 if half else 24) == len(executor.asked)
    assert {1} == {row.attempt for row in read_records(store.folder)} - {0}
    assert 18 == tournament.result().matches


async def test_trouble_that_does_not_pass_stops_the_event(store):
    """After so many replays the machine is given up, with the reason; the rest is kept."""
    bad = []

    def trouble(series, attempt):
        if not bad:
            bad.append(series)
        return "no more pids" if series == bad[0] else ""

    executor = Pretending(trouble)
    tournament = Tournament(store, SECRET, Watched())
    with pytest.raises(HostError, match="no more pids"):
        await tournament.play(executor, trio.Event())
    assert RETRIES + 1 == sum(series == bad[0] for series, _ in executor.asked)


async def test_a_log_that_can_t_be_written_stops_the_event(store, monkeypatch):
    """What fits is kept; the reason is told once."""
    tournament = Tournament(store, SECRET, Watched())
    append = store.append

    def full(record, encoded=b""):
        if len(list(read_records(store.folder))) == 5:
            raise HostError("no space left")
        append(record, encoded)

    monkeypatch.setattr(store, "append", full)
    with pytest.raises(HostError, match="no space left"):
        await tournament.play(Pretending(), trio.Event())
    assert 5 == len(list(read_records(store.folder)))


async def test_a_stop_is_heeded_and_a_new_tournament_goes_on(store):
    """What one tournament left, the next one plays, and nothing twice."""
    stop = trio.Event()
    watched = Watched()

    class Stopping(Pretending):
        async def play(self, blocks, *, choose, report, stop):
            def until(series):
                return None if stop.is_set() else choose(series)

            def stopping(message):
                report(message)
                if len(watched.matches) >= 4:
                    stop.set()

            await super().play(blocks, choose=until, report=stopping, stop=stop)

    await Tournament(store, SECRET, watched).play(Stopping(), stop)
    assert 4 <= len(watched.matches) < 18
    again = Watched()
    tournament = Tournament(store, SECRET, again)
    await tournament.play(Pretending(), trio.Event())
    assert 18 == len(watched.matches) + len(again.matches)
    assert 0 == tournament.left


async def test_when_time_is_over_the_match_in_play_is_the_last(store):
    """However long its series is. What was finished stays in the log and is told; the series is
    played again, whole, and the event is what it would have been.
    """
    stop = trio.Event()
    watched = Watched()

    class Slow(Pretending):
        async def play(self, blocks, *, choose, report, stop):
            for number, series in enumerate(s for block in blocks for s in block.series):
                assert 0 == choose(series)
                for spec in series.matches:
                    if number == 2 and spec is series.matches[0]:
                        stop.set()
                        tournament.halt()
                    await trio.lowlevel.checkpoint()
                    report(FinishedMatch(record=record_of(spec, 0)))
                report(SeriesEnd(series=series.id, attempt=0))

    tournament = Tournament(store, SECRET, watched)
    await tournament.play(Slow(), stop)
    assert [2, 2, 1] == list(Counter(r.series for r in read_records(store.folder)).values())
    assert (1, 1) == tournament.attempts.cut
    assert 2 == tournament.attempts.completed
    again = Tournament(store, SECRET, Watched())
    assert 14 == again.left
    await again.play(Pretending(), trio.Event())
    assert (0, 0) == again.attempts.cut
    assert 18 == again.result().matches
    assert 19 == len(list(read_records(store.folder)))


async def test_when_time_is_over_between_two_series_nothing_is_begun(store):
    """There is no match to wait for."""
    stop = trio.Event()
    stop.set()
    tournament = Tournament(store, SECRET, Watched())
    tournament.halt()
    await tournament.play(Pretending(), stop)
    assert 18 == tournament.left


def test_every_registered_name_loads():
    """The registry's import paths are right."""
    for name in registry.GAMES:
        assert name == registry.game(name).name
        assert registry.game(name).about.rating.tau == 0
    for name in registry.SANDBOXES:
        assert name == registry.backend(name).name
    for name in registry.FORMATS:
        import msgspec

        deals = 1 if name == "single" else SETTINGS.deals
        settings = msgspec.structs.replace(SETTINGS, format=name, heroes=("ann@1",), deals=deals)
        if name == "ladder":
            own = LadderSettings(round=1, head="0" * 64, budget=24)
            settings = msgspec.structs.replace(settings, ladder=own, rate_on="adjusted")
        field = ENTRANTS[:2] if name in {"trial", "single"} else ENTRANTS
        event = Event(settings=settings, entrants=field, commitment="")
        assert first_wave(registry.schedule(settings, field, Deals(SECRET)), event).matches
    with pytest.raises(UserError, match="there are: play-nine"):
        registry.game("bridge")


async def test_a_bot_that_most_void_series_have_in_common_is_named(store):
    """It could be voiding the games that it is losing."""
    voided = [series for block in first_wave(schedule()).blocks() for series in block.series]
    with_ann = {series.id for series in voided if "ann@1" in series.entrants}
    executor = Pretending(lambda s, attempt: "out of pids" if s in with_ann and not attempt else "")
    tournament = Tournament(store, SECRET, Watched())
    await tournament.play(executor, trio.Event())
    voids = len(with_ann)
    assert [("ann@1", voids, voids)] == tournament.attempts.suspects()


async def test_what_the_machine_has_run_out_of_makes_nobody_a_suspect(store):
    """The bots at the table had no part in it."""
    voided = [series for block in first_wave(schedule()).blocks() for series in block.series]
    with_ann = {series.id for series in voided if "ann@1" in series.entrants}
    reason = why_not(OSError(errno.EMFILE, os.strerror(errno.EMFILE)))
    executor = Pretending(lambda s, attempt: reason if s in with_ann and not attempt else "")
    watched = Watched()
    tournament = Tournament(store, SECRET, watched)
    await tournament.play(executor, trio.Event())
    assert len(with_ann) == len(watched.troubles)
    assert [] == tournament.attempts.suspects()


async def test_bots_that_sit_at_every_table_are_no_suspects(store):
    """Of three bots each is in two thirds of the void series when everything is void once."""
    executor = Pretending(lambda s, attempt: "out of pids" if not attempt else "")
    tournament = Tournament(store, SECRET, Watched())
    await tournament.play(executor, trio.Event())
    assert [] == tournament.attempts.suspects()


async def test_what_strikes_any_series_makes_nobody_a_suspect(store):
    """Workers that were killed from outside: the void series are as they come, and half or more of
    them are some bot's.
    """
    struck = {series.id for block in first_wave(schedule()).blocks() for series in block.series[:1]}
    executor = Pretending(lambda s, attempt: "exit -9" if s in struck and not attempt else "")
    tournament = Tournament(store, SECRET, Watched())
    await tournament.play(executor, trio.Event())
    assert max(tournament.attempts._begun.values()) == tournament.attempts._begun[""] == 12
    assert [] == tournament.attempts.suspects()


async def test_a_bug_of_ours_in_a_worker_is_a_traceback_and_not_retried(store):
    """It is neither a bot's fault nor the host's trouble."""

    class Buggy(Pretending):
        async def play(self, blocks, *, choose, report, stop):
            series = next(blocks).series[0]
            report(SeriesEnd(series=series.id, attempt=choose(series), bug="Traceback: oops"))

    tournament = Tournament(store, SECRET, Watched())
    with pytest.raises(RuntimeError, match="oops"):
        await tournament.play(Buggy(), trio.Event())


def schedule():
    """The schedule of the event."""
    return registry.schedule(SETTINGS, ENTRANTS, Deals(SECRET))
