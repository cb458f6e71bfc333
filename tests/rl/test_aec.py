"""The PettingZoo environment: its own conformance tests, and that it plays the arena's matches."""

import copy
import pickle

import msgspec
import pytest

from arena import registry
from arena.deals import Deals, secret_from_seed
from arena.games import IllegalMoveError
from arena.model import MatchSpec, Settings
from arena.referee import Referee

CASES = [
    (game.name, seats)
    for game in map(registry.game, registry.GAMES)
    if game.about.vector
    for seats in (game.min_seats, game.max_seats)
]

# PettingZoo keeps lists of its own environments whose observations are dictionaries with a mask,
# and warns of all others.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Observation is not a NumPy array"),
    pytest.mark.filterwarnings("ignore:Observation space for each agent probably should be"),
]


@pytest.mark.parametrize("holes", [1, 9])
@pytest.mark.parametrize(("game", "seats"), CASES)
def test_it_passes_pettingzoos_own_tests(rl, game, seats, holes):
    """The API's and the seed's, wrapped and not, for fewest and most seats."""
    from pettingzoo.test import api_test, seed_test

    for made in (rl.env, rl.raw_env):
        api_test(made(game=game, seats=seats, holes=holes), num_cycles=100)
        seed_test(lambda made=made: made(game=game, seats=seats, holes=holes), num_cycles=300)


@pytest.mark.parametrize(("game", "seats"), CASES)
def test_it_passes_pettingzoos_render_test(rl, game, seats, capsys):
    """Text is returned in one mode and written in the other."""
    from pettingzoo.test import render_test

    render_test(lambda render_mode: rl.env(game=game, seats=seats, render_mode=render_mode))
    assert game in capsys.readouterr().out


def play(env, choose):
    """Play to the end; rewards by agent, and the moves."""
    rewards, moves = dict.fromkeys(env.possible_agents, 0.0), []
    for agent in env.agent_iter():
        seen, reward, done, _, _ = env.last()
        rewards[agent] += reward
        action = None if done else choose(seen["action_mask"].nonzero()[0].tolist())
        if action is not None:
            moves.append(env.unwrapped.moves[action])
        env.step(action)
    return rewards, moves


@pytest.mark.parametrize(("game", "seats"), CASES)
def test_a_match_is_the_one_that_the_referee_plays(rl, seeded, game, seats):
    """The same deals and moves give the same order of play, the same scores and totals."""
    rules = registry.game(game)
    env = rl.raw_env(game, seats=seats)
    env.reset(seed=5, options={"deal": 4, "pairing": "abc"})
    rewards, moves = play(env, seeded(1).choice)
    spec = MatchSpec(
        id="abc-000004-0",
        series="s",
        pairing="abc",
        deal=4,
        rotation=0,
        seats=tuple(f"bot{seat}" for seat in range(seats)),
    )
    settings = Settings(game=game, seats=seats, turn_cap=rules.turn_cap)
    deals = Deals(secret_from_seed("5"))
    referee = Referee(spec, game=rules, deals=deals, settings=settings)
    referee.begin()
    given = iter(moves)
    while asked := referee.asked:
        # The referee names seats in a tee-off in the order of play, as the environment does.
        for seat in asked:
            referee.answer(seat, next(given))
    record = referee.record()
    assert next(given, None) is None
    assert not record.faults
    assert [-total for total in record.totals] == list(rewards.values())


def test_margins_are_the_others_mean_less_the_own_strokes(rl, game, seeded):
    """And sum to zero."""
    both = {}
    for reward in ("strokes", "margin"):
        env = rl.raw_env(game.name, seats=3, holes=1, reward=reward)
        env.reset(seed=1)
        both[reward], _ = play(env, seeded(2).choice)
    strokes = [-score for score in both["strokes"].values()]
    wanted = [(sum(strokes) - mine) / 2 - mine for mine in strokes]
    assert list(both["margin"].values()) == wanted
    assert sum(wanted) == 0


def test_nothing_of_a_tee_off_is_seen_before_all_have_chosen(rl):
    """Whatever the others choose, a seat observes the same until the last has chosen."""
    seen = {}
    for first in (0, 17):
        env = rl.raw_env("play-nine", seats=3, holes=1)
        env.reset(seed=3)
        env.step(first)
        env.step(first)
        seen[first] = [env.observe(agent)["observation"].tolist() for agent in env.agents]
        env.step(1)
        assert env.observe("seat_2")["observation"].tolist() != seen[first][2]
    assert seen[0] == seen[17]


def test_what_a_seat_observes_is_its_view_and_its_mask_is_empty_off_turn(rl, game, seeded):
    """For every agent after every move, over a hole."""
    env = rl.raw_env(game.name, seats=3, holes=1)
    env.reset(seed=8)
    rng = seeded(3)
    while not any(env.terminations.values()):
        hole = env._hole
        for agent in env.agents:
            seat = env.possible_agents.index(agent)
            seen = env.observe(agent)
            view = msgspec.json.decode(msgspec.json.encode(hole.view(seat)))
            assert rl.observe(view) == seen["observation"].tolist()
            legal = hole.legal(seat) if agent == env.agent_selection else ()
            assert rl.mask(game.name, legal) == seen["action_mask"].tolist()
            assert env.observation_space(agent).contains(seen)
        mask = env.observe(env.agent_selection)["action_mask"]
        env.step(rng.choice(mask.nonzero()[0].tolist()))


def test_a_seed_deals_again_and_resets_without_one_go_on(rl):
    """Deal 0 of that seed, then 1, 2, …; options name a deal."""
    env = rl.raw_env("play-nine", seats=2)

    def first(**how):
        env.reset(**how)
        env.step(0)
        env.step(0)
        facts = env.infos["seat_0"]
        return facts["deal"], env.observe("seat_0")["observation"].tolist()

    seeded = first(seed=1)
    following = first()
    assert (seeded[0], following[0]) == (0, 1)
    assert seeded[1] != following[1]
    assert first(options={"deal": 1}) == following
    assert first(seed=1) == seeded
    assert first(seed=2)[1] != seeded[1]
    assert first(seed=1, options={"pairing": "other"})[1] != seeded[1]


def test_infos_tell_deal_hole_and_totals(rl, game, seeded):
    """At the end of a match the totals are those of all holes."""
    env = rl.raw_env(game.name, holes=2)
    env.reset(seed=1)
    assert env.infos["seat_1"] == {"deal": 0, "hole": 1, "totals": (0, 0)}
    rng, holes, gained = seeded(1), set(), [0.0, 0.0]
    while not env.terminations["seat_0"]:
        holes.add(env.infos["seat_0"]["hole"])
        env.step(rng.choice(env.observe(env.agent_selection)["action_mask"].nonzero()[0].tolist()))
        gained = [sum(it) for it in zip(gained, env.rewards.values(), strict=True)]
    assert holes == {1, 2}
    assert [-total for total in env.infos["seat_0"]["totals"]] == gained


def test_an_environment_can_be_copied_and_pickled(rl):
    """As learning libraries do to have many of them."""
    env = rl.env(game="four-card-golf", seats=4, reward="margin")
    for other in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        other.reset(seed=1)
        assert other.max_num_agents == 4


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"game": "golf"}, "no game called 'golf'; there are: play-nine, four-card-golf"),
        ({"seats": 1}, "play-nine has 2 to 6 seats, not 1"),
        ({"holes": 10}, "holes is 10: a match has 1 to 9"),
        ({"reward": "win"}, "reward is 'win'; there are: strokes, margin"),
        ({"turn_cap": -1}, "turn_cap is -1: it must be 1 to 1000"),
        ({"render_mode": "rgb_array"}, "render_mode is 'rgb_array'; there are: human, ansi"),
    ],
)
def test_a_wrong_setting_is_named_in_one_line(rl, wrong, message):
    """What was wrong, and what there is."""
    with pytest.raises(ValueError, match=message):
        rl.raw_env(**wrong)


def test_wrong_use_is_named_in_one_line(rl):
    """Steps and looks before a deal, None from one who is to act, an illegal move."""
    env = rl.raw_env()
    with pytest.raises(ValueError, match="nothing is dealt yet: call reset"):
        env.observe("seat_0")
    env.reset(seed=1)
    with pytest.raises(ValueError, match="seat_0 is to act: None is only for agents that are done"):
        env.step(None)
    with pytest.raises(ValueError, match=r"call reset\(\) first"):
        rl.raw_env().step(0)
    for action in (-1, 99, 1.5):
        with pytest.raises(IllegalMoveError, match="is no action: they are 0 to "):
            env.step(action)
    with pytest.raises(IllegalMoveError, match="'skip' is not legal for seat 0 now"):
        env.step(rl.encode("play-nine", "skip"))
    with pytest.raises(ValueError, match="make the environment with render_mode"):
        env.render()


def test_the_picture_is_what_the_seat_sees_and_at_the_end_all_cards(rl, seeded):
    """Face-down cards are dots until the hole is over."""
    env = rl.raw_env("four-card-golf", holes=1, render_mode="ansi")
    env.reset(seed=1)
    picture = env.render()
    assert picture.splitlines()[0] == "four-card-golf, deal 0, hole 1 of 1: seat_0 to act"
    assert picture.count(" .") == 6
    env.step(rl.encode("four-card-golf", "draw"))
    assert "in hand" in env.render()
    rng = seeded(1)
    while not env.terminations["seat_0"]:
        env.step(rng.choice(env.observe(env.agent_selection)["action_mask"].nonzero()[0].tolist()))
    assert "hole 1 of 1: the end" in env.render()
    assert env.render().count(" .") == 0
    env.close()
