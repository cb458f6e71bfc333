"""One match, or one hole, as a PettingZoo AEC environment.

Theory of operation. The environment deals holes, asks the first seat that is to act by the rules of
`arena.games`, and gives every seat its reward when a hole is over. A simultaneous tee-off is asked
one seat after the other; no observation shows it before the last has chosen. Nine holes are dealt
as in an event's match: the last seat deals the first, the deal goes on clockwise, and hole h has
the deck of (pairing, deal, h).

Invariant: what an observation holds is a function of the view of its seat.
"""

import os
import sys
from collections.abc import Mapping
from typing import Any, Literal

import msgspec
import numpy as np
from gymnasium.spaces import Box, Dict, Discrete
from gymnasium.utils import EzPickle
from numpy.typing import NDArray
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

from arena import registry
from arena.deals import Deals, secret_from_seed
from arena.games import Game, Hole, IllegalMoveError
from arena.referee import HOLES
from arena.rl.observation import MOVES, decode, mask, observe, size

PAIRING = "practice"  # the default pairing under which decks are dealt

Reward = Literal["strokes", "margin"]
"""What a seat gets when a hole is over, and never before: minus its strokes; or the others' mean
less its strokes, which sums to zero over the seats."""

Observation = dict[str, NDArray[Any]]


def chosen_game(name: str, seats: int, holes: int, reward: str, turn_cap: int | None) -> Game:
    """The game of that name; ValueError says which of the settings it does not have."""
    if name not in MOVES:
        what = "training for" if name in registry.GAMES else "game called"
        raise ValueError(f"there is no {what} {name!r}; there are: {', '.join(MOVES)}")
    game = registry.game(name)
    if not game.min_seats <= seats <= game.max_seats:
        raise ValueError(f"{name} has {game.min_seats} to {game.max_seats} seats, not {seats}")
    if not 1 <= holes <= HOLES:
        raise ValueError(f"holes is {holes}: a match has 1 to {HOLES}")
    if reward not in ("strokes", "margin"):
        raise ValueError(f"reward is {reward!r}; there are: strokes, margin")
    if turn_cap is not None and not 1 <= turn_cap <= 1000:
        raise ValueError(f"turn_cap is {turn_cap}: it must be 1 to 1000")
    return game


def env(**settings: Any) -> Any:  # noqa: ANN401 - PettingZoo's wrappers have no types
    """`raw_env` in PettingZoo's wrappers that catch calls in the wrong order."""
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(raw_env(**settings)))


class raw_env(AECEnv, EzPickle):  # noqa: N801 - PettingZoo's name for it
    """See the module's docstring.

    `holes`: 9 for a match, 1 for single holes (seat 0 plays first). `reset(seed=s)` deals from the
    secret of `arena run --seed s`, deal 0 first and the next with every reset that names no seed;
    `options` may name the `deal` (a number) and the `pairing`.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 - PettingZoo's own form
        "name": "nine_arena_v1",
        "render_modes": ["human", "ansi"],
        "is_parallelizable": False,
    }

    def __init__(
        self,
        game: str = registry.DEFAULT_GAME,
        *,
        seats: int = 2,
        holes: int = HOLES,
        reward: Reward = "strokes",
        turn_cap: int | None = None,
        render_mode: Literal["human", "ansi"] | None = None,
    ) -> None:
        own = {"seats": seats, "holes": holes, "reward": reward, "turn_cap": turn_cap}
        EzPickle.__init__(self, game, **own, render_mode=render_mode)
        super().__init__()
        self._game = chosen_game(game, seats, holes, reward, turn_cap)
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise ValueError(f"render_mode is {render_mode!r}; there are: human, ansi")
        self.render_mode = render_mode
        self._seats = seats
        self._holes = holes
        self._reward = reward
        self._turn_cap = turn_cap or self._game.turn_cap
        self.possible_agents = [f"seat_{seat}" for seat in range(seats)]
        self._seat_of = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self.moves = MOVES[game]
        actions = len(self.moves)
        # No count of cards is above 108, and one turn more than the cap can be begun.
        high = max(127, self._turn_cap + 1)
        self.observation_spaces, self.action_spaces = {}, {}
        for agent in self.possible_agents:
            numbers = Box(0, high, (size(game, seats),), np.int16)
            legal = Box(0, 1, (actions,), np.int8)
            self.observation_spaces[agent] = Dict({"observation": numbers, "action_mask": legal})
            self.action_spaces[agent] = Discrete(actions)
        self._deals = Deals(os.urandom(32))
        self._next_deal = 0
        self._hole: Hole | None = None
        self.agent_selection = self.possible_agents[0]

    def observation_space(self, agent: str) -> Dict:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Discrete[np.int64]:
        """The moves by number; `decode` says which is which."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Deal anew; see the class for `seed` and `options`, of which others are ignored."""
        if seed is not None:
            self._deals = Deals(secret_from_seed(str(seed)))
            self._next_deal = 0
        asked = options or {}
        self._deal = int(asked.get("deal", self._next_deal))
        self._pairing = str(asked.get("pairing", PAIRING))
        self._next_deal = self._deal + 1
        self.agents = self.possible_agents.copy()
        self._totals = (0,) * self._seats
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self._start(1)
        if self.render_mode == "human":
            self.render()

    def observe(self, agent: str) -> Observation:
        """What the agent may know now; its mask is empty while it isn't to act."""
        seat, hole = self._seat_of[agent], self._in_play()
        # After the end of a match, too, no agent is to act.
        legal = hole.legal(seat) if agent == self.agent_selection else ()
        view = msgspec.structs.asdict(hole.view(seat))
        return {
            "observation": np.array(observe(view), np.int16),
            "action_mask": np.array(mask(self._game.name, legal), np.int8),
        }

    def step(self, action: int | None) -> None:
        agent, hole = self.agent_selection, self._in_play()
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        if action is None:
            raise ValueError(f"{agent} is to act: None is only for agents that are done")
        if action not in self.action_spaces[agent]:
            raise IllegalMoveError(f"{action!r} is no action: they are 0 to {len(self.moves) - 1}")
        hole.apply(self._seat_of[agent], decode(self._game.name, int(action)))
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        if acting := hole.to_act():
            self.agent_selection = self.possible_agents[acting[0]]
        else:
            self._end_hole(hole)
        self._accumulate_rewards()
        if self.render_mode == "human":
            self.render()

    def render(self) -> str | None:
        """The table as the seat that is to act sees it: returned, or written to stdout."""
        if self.render_mode is None:
            raise ValueError("to render, make the environment with render_mode='human' or 'ansi'")
        picture = self._picture()
        if self.render_mode == "ansi":
            return picture
        sys.stdout.write(picture)
        return None

    def close(self) -> None:
        """Nothing is held open."""

    def _in_play(self) -> Hole:
        if self._hole is None:
            raise ValueError("nothing is dealt yet: call reset() first")
        return self._hole

    def _start(self, number: int) -> None:
        """Deal hole `number`; the seat after its dealer's plays first."""
        first = (number - 1) % self._seats
        order = (*range(first, self._seats), *range(first))
        pack = self._game.pack(self._seats)
        self._number = number
        self._hole = self._game.start(
            seats=self._seats,
            order=order,
            deck=self._deals.deck(self._pairing, self._deal, number, pack),
            turn_cap=self._turn_cap,
        )
        self.agent_selection = self.possible_agents[order[0]]
        facts = {"deal": self._deal, "hole": number, "totals": self._totals}
        self.infos = {agent: facts.copy() for agent in self.agents}

    def _end_hole(self, hole: Hole) -> None:
        scores = hole.scores()
        self._totals = tuple(map(sum, zip(self._totals, scores, strict=True)))
        for agent, mine in zip(self.agents, scores, strict=True):
            others = 0.0 if self._reward == "strokes" else (sum(scores) - mine) / (self._seats - 1)
            self.rewards[agent] = others - mine
        if self._number < self._holes:
            self._start(self._number + 1)
            return
        self.terminations = dict.fromkeys(self.agents, True)
        for facts in self.infos.values():
            facts["totals"] = self._totals
        self.agent_selection = self.agents[0]

    def _picture(self) -> str:
        hole, agent = self._in_play(), self.agent_selection
        view = hole.view(self._seat_of.get(agent, 0))
        over = not hole.to_act()
        hand = "" if view.drawn is None else f", {view.drawn} in hand"
        doing = "the end" if over else f"{agent} to act{hand}"
        lines = [
            f"{self._game.name}, deal {self._deal}, hole {self._number} of {self._holes}: {doing}",
            f"discard {view.discard}, stock {view.stock}",
        ]
        across = self._game.about.across
        for seat, grid in enumerate(hole.grids() if over else view.grids):
            cards = [f"{'.' if card is None else card:>3}" for card in grid]
            starts = range(0, len(cards), across)
            rows = " /".join("".join(cards[at : at + across]) for at in starts)
            lines.append(f"{self.possible_agents[seat]} {rows}   total {self._totals[seat]}")
        return "\n".join(lines) + "\n"
