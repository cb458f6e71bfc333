"""A match unfolded: the steps alone tell what the rules make of the moves."""

import collections
import json
from pathlib import Path

import jsonschema
import msgspec
import pytest

from arena import registry
from arena.deals import Deals
from arena.luck import entries, evaluator_name
from arena.model import UserError
from arena.replay.steps import MatchSteps, Step, unfold

SCHEMA = Path(__file__).parents[2] / "protocol" / "schema" / "match-steps.json"
TABLES = [
    *(("play-nine", seats) for seats in range(2, 7)),
    *(("four-card-golf", seats) for seats in range(2, 9)),
]


def opened(event, record, secret):
    """The steps of a match as a stranger reads them: from JSON that keeps to its schema."""
    game = registry.game(event.settings.game)
    encoded = msgspec.json.encode(unfold(record, event, game=game, secret=secret))
    jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text())).validate(json.loads(encoded))
    return msgspec.json.decode(encoded, type=MatchSteps)


def by_the_rules(event, steps, secret):
    """Play each hole by the rules beside the steps, and compare all that everybody can see."""
    rules, deals = registry.game(event.settings.game), Deals(secret)
    pack = rules.pack(len(steps.seats))
    for told in steps.holes:
        deck = deals.deck(steps.pairing, steps.deal, told.hole, pack)
        assert tuple(deck.cards) == told.deck
        hole = rules.start(
            seats=len(steps.seats),
            order=told.order,
            deck=deck,
            turn_cap=event.settings.turn_cap,
        )
        cards, known = list(told.cards), list(told.known)
        discard, pile, stock = told.discard, 1, told.stock
        for step in told.steps:
            ended = hole.view(told.order[0]).ended_by
            drawn = hole.drawn(step.seat)
            hole.apply(step.seat, step.move)
            assert step.drawn == (hole.drawn(step.seat) if step.move == "draw" else drawn)
            cards[step.seat] = step.cards or cards[step.seat]
            for seat, letters in step.known:
                known[seat] = letters
            assert step.reshuffled == (step.move == "draw" and not stock)
            discard = discard if step.discard is None else step.discard
            pile, stock = step.pile or pile, stock if step.stock is None else step.stock
            for viewer in told.order:
                view = hole.view(viewer)
                assert (discard, pile, stock) == (view.discard, len(view.pile), view.stock)
                assert (ended is None and view.ended_by == step.seat) == step.ends
                assert tuple(view.grids) == tuple(
                    tuple(
                        card if letter == "a" or (letter == "o" and seat == viewer) else None
                        for card, letter in zip(cards[seat], known[seat], strict=True)
                    )
                    for seat in range(len(cards))
                )
        if told.scores:
            assert not hole.to_act()
            assert (tuple(cards), told.scores) == (hole.grids(), hole.scores())


@pytest.mark.no_cover
@pytest.mark.parametrize(("game", "seats"), TABLES)
def test_steps_are_what_the_rules_make_of_the_moves(events, game, seats):
    """Every number of seats: cards, who knows them, pile, stock and scores after every move."""
    event = events.event_of(game, seats=seats)
    record = events.play(event, next(events.specs(event)))
    steps = opened(event, record, events.secret)
    by_the_rules(event, steps, events.secret)
    assert list(record.seats) == [entrant.id for entrant in steps.seats]
    assert [hole.moves for hole in record.holes] == [
        ",".join(step.move for step in hole.steps) for hole in steps.holes
    ]
    assert record.totals == steps.totals == steps.holes[-1].totals
    assert record.digest == steps.digest
    turns = [step.turn for hole in steps.holes for step in hole.steps]
    assert turns == sorted(turns)
    assert not any(step.unasked for hole in steps.holes for step in hole.steps)


def test_a_step_says_only_what_its_move_changed(events):
    """Viewers of format 1 keep the rest as it was."""
    text = b'{"seat":1,"move":"draw","turn":3}'
    step = msgspec.json.decode(text, type=Step)
    assert text == msgspec.json.encode(step)
    assert not any((step.unasked, step.cards, step.known, step.reshuffled, step.ends, step.luck))
    assert {None} == {step.drawn, step.discard, step.pile, step.stock}
    event = events.event_of()
    assert opened(event, events.play(event, next(events.specs(event))), events.secret).format == 1


def test_luck_of_a_move_is_what_the_ledger_has_of_it(events):
    """By seat and thousandths of a stroke; a move in which chance had no part has none."""
    game = registry.game("four-card-golf")
    event = events.event_of(game.name, seats=3, evaluator=evaluator_name(game))
    record = events.play(event, next(events.specs(event)))
    steps = opened(event, record, events.secret)
    ledger = collections.Counter()
    for entry in entries(record, game=game, deals=Deals(events.secret), settings=event.settings):
        ledger[entry.hole, entry.move, entry.seat] += entry.luck
    told = {
        (hole.hole, move): luck
        for hole in steps.holes
        for move, luck in enumerate([hole.luck, *(step.luck for step in hole.steps)])
    }
    assert {place[:2] for place, luck in ledger.items() if luck} == {
        place for place, luck in told.items() if luck
    }
    assert all(
        luck == tuple(ledger[*place, seat] for seat in range(3))
        for place, luck in told.items()
        if luck
    )


def test_luck_by_another_evaluator_is_not_made_up(events):
    """The steps have none, rather than that of this arena's."""
    event = events.event_of("four-card-golf", seats=2, evaluator="four-card-golf/0-0123456789ab")
    steps = opened(event, events.play(event, next(events.specs(event))), events.secret)
    assert not any(hole.luck or any(step.luck for step in hole.steps) for hole in steps.holes)


def test_a_playoff_adds_nothing_and_leaves_seats_out(events):
    """A seat that does not play has no cards; totals stay those of nine holes."""
    event = events.event_of("four-card-golf", seats=3, playoff=True, turn_cap=1)
    one = next(events.specs(event))
    for deal in range(200):
        spec = msgspec.structs.replace(one, deal=deal)
        record = events.play(event, spec)
        if len(record.holes) > 9 and len(record.holes[9].order) == 2:
            break
    steps = opened(event, record, events.secret)
    by_the_rules(event, steps, events.secret)
    (out,) = {0, 1, 2} - set(steps.holes[9].order)
    assert ((), "", 0) == (
        steps.holes[9].cards[out],
        steps.holes[9].known[out],
        steps.holes[9].scores[out],
    )
    assert record.totals == steps.holes[8].totals == steps.holes[-1].totals


@pytest.mark.parametrize("game", sorted(registry.GAMES))
def test_a_forfeiter_is_played_for_unasked(events, game):
    """At a table of four the others go on; from the fault on its steps are the fallback's."""
    event = events.event_of(game, seats=4)
    spec = next(events.specs(event))
    record = events.play(event, spec, events.failing("cyd@1", 7))
    (fault,) = record.faults
    steps = opened(event, record, events.secret)
    by_the_rules(event, steps, events.secret)
    assert (fault,) == steps.faults
    seen = [step for hole in steps.holes for step in hole.steps if step.seat == fault.seat]
    assert [step.turn >= fault.turn for step in seen] == [step.unasked for step in seen]
    first = next(step for step in seen if step.unasked)
    assert fault.turn == first.turn
    assert all(
        step.turn <= fault.turn for hole in steps.holes[: fault.hole - 1] for step in hole.steps
    )


def test_faults_at_the_start_and_all_at_one_tee_off(events):
    """A bot that never started is unasked from turn 0 on; faults at the first question leave a hole
    without steps, and where nobody started there is no hole.
    """
    event = events.event_of("four-card-golf", seats=3)
    spec = next(events.specs(event))
    steps = opened(event, events.play(event, spec, broken=[spec.seats[0]]), events.secret)
    by_the_rules(event, steps, events.secret)
    assert (0, 0, True) == (
        steps.holes[0].steps[0].seat,
        steps.holes[0].steps[0].turn,
        steps.holes[0].steps[0].unasked,
    )
    event = events.event_of()
    spec = next(events.specs(event))
    fallen = opened(event, events.play(event, spec, events.failing(None, 1)), events.secret)
    assert [((), ())] == [(hole.steps, hole.scores) for hole in fallen.holes]
    assert [1, 1] == [fault.turn for fault in fallen.faults]
    empty = opened(event, events.play(event, spec, broken=spec.seats), events.secret)
    assert () == empty.holes


def test_what_does_not_fit_is_refused(events):
    """Another secret, a changed move, and a record of another event: one line each."""
    event = events.event_of()
    record = events.play(event, next(events.specs(event)))
    game = registry.game("play-nine")
    with pytest.raises(UserError, match="give another digest"):
        unfold(record, event, game=game, secret=b"x" * 32)
    hole = msgspec.structs.replace(record.holes[0], moves="fly")
    changed = msgspec.structs.replace(record, holes=(hole, *record.holes[1:]))
    with pytest.raises(UserError, match="give another digest"):
        unfold(changed, event, game=game, secret=events.secret)
    for seats in (("ann@1", "zoe@1"), ("ann@1",)):
        foreign = msgspec.structs.replace(record, seats=seats)
        with pytest.raises(UserError, match="its seats are not those of this event"):
            unfold(foreign, event, game=game, secret=events.secret)


def test_the_reference_events_can_be_unfolded():
    """What is published is what the rules make of it."""
    from arena.store import read_event, read_records

    for game in sorted(registry.GAMES):
        folder = SCHEMA.parents[2] / "results" / game
        event = read_event(folder)
        secret = bytes.fromhex(event.secret)
        steps = opened(event, next(read_records(folder)), secret)
        by_the_rules(event, steps, secret)
