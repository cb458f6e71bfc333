"""Draw designs for `bot.py` by lot: honest ones, and ports of them."""

from __future__ import annotations

import copy
import random
from typing import Any

Design = dict[str, Any]

TEES = ("0 4", "0 4", "0 1", "0 5", "3 7", "lot", "0 7", "2 5", "1 6", "0 3")
FLIPS = (
    "first",
    "last",
    "beside-open",
    "beside-hidden",
    "beside-low",
    "beside-high",
    "column",
    "lot",
)
TIES = ("first", "last", "hidden", "open", "column")
SKIPS = (("never", 0), ("above", 3), ("above", 6), ("above", 8), ("above", 10.5), ("above", 14),
         ("behind", 0), ("behind", 1), ("behind", 3), ("behind", -2))  # fmt: skip
FAMILIES = ("edited", "edited", "cards", "saving", "hope", "ahead", "curved")
"""edited: the scaffold with some of its choices replaced; the others are written from the rules."""


def scaffold() -> Design:
    """The policy of `arena new`, as a design."""
    four = {"unknown": 6, "take": 3, "swap": 0, "knock": 8, "blind": 4, "ties": "first",
            "learn": 0, "late": 99, "relax": 0}  # fmt: skip
    return {
        "unknown": 6, "counts": False, "combos": False, "hope": 0.0, "half": 0.0,
        "values": list(range(-5, 13)), "place": "best", "above": 3, "ties": "first", "tee": "lot",
        "take": "saving", "limit": 3, "patience": 1.0, "swap": 0, "flip": "lot",
        "skip": ("never", 0), "rush": -1, "eager": 0, "feed": 0, "four": four,
    }  # fmt: skip


def _changes(rng: random.Random) -> list[Design]:
    """What a student changes, one thing a dict."""
    return [
        {"tee": rng.choice(TEES)},
        {"limit": rng.choice((0, 1, 2, 4, 5, 6))},
        {"unknown": rng.choice((4, 4.5, 5, 5.5, 5.6, 7, 8))},
        {"flip": rng.choice(FLIPS)},
        {"skip": rng.choice(SKIPS)},
        {"combos": True},
        {"counts": True, "unknown": 5.6},
        {"hope": rng.choice((0.5, 1, 1.5, 2, 3, 4))},
        {"half": rng.choice((-0.2, -0.1, 0.1, 0.2, 0.4))},
        {"swap": rng.choice((0.5, 1, 1.5, 2, 3, -1))},
        {"rush": rng.choice((1, 2, 3)), "eager": rng.choice((1, 2, 3))},
        {"feed": rng.choice((1, 2, 3))},
        {"ties": rng.choice(TIES[1:])},
        {"take": "ahead", "limit": 3, "patience": rng.choice((0.7, 1.0, 1.3))},
        {"place": "rules", "above": rng.choice((1, 2, 3, 4, 5)), "flip": rng.choice(FLIPS[:-1])},
        {"take": "card", "limit": rng.choice((1, 2, 3, 4, 5))},
    ]


def _four(rng: random.Random) -> Design:
    return {
        "unknown": rng.choice((5, 5.5, 5.77, 6, 6, 6.5, 7, 4.5)),
        "take": rng.choice((0, 1, 2, 3, 4, 2.5)),
        "swap": rng.choice((0, 0, 0.5, 1, 2)),
        "knock": rng.choice((4, 5, 6, 7, 8, 9, 10, 11, 12)),
        "blind": rng.choice((0, 0, 1, 4)),
        "ties": rng.choice(("first", "last")),
        "learn": rng.choice((0, 0, 2, 3, 4, 5, 6)),
        "late": rng.choice((99, 4, 6, 8, 10)),
        "relax": rng.choice((1, 2, 3, 5)),
    }


def honest(rng: random.Random) -> Design:
    """A program that a student has written alone."""
    family = rng.choice(FAMILIES)
    design = scaffold()
    if family == "edited":
        for change in rng.sample(_changes(rng), rng.choice((1, 2, 2, 3, 3, 4, 5))):
            design |= change
        four = _four(rng)
        keys = rng.sample(sorted(four), rng.choice((1, 2, 3, 4, 5)))
        design["four"] |= {key: four[key] for key in keys}
        return design | {"family": family}
    for change in _changes(rng):
        if rng.random() < 0.5:
            design |= change
    design |= {"tee": rng.choice(TEES), "flip": rng.choice(FLIPS), "skip": rng.choice(SKIPS)}
    design |= {"ties": rng.choice(TIES), "place": "best", "four": _four(rng)}
    design["unknown"] = rng.choice((4, 5, 5.5, 5.6, 6, 7, round(rng.uniform(3.5, 7.5), 1)))
    if family == "cards":
        design |= {"place": "rules", "above": rng.choice((0, 1, 2, 3, 4, 5, 6)), "hope": 0.0}
        design |= {"take": "card", "limit": rng.choice((1, 2, 3, 4, 5)), "half": 0.0}
        design |= {"swap": rng.choice((-2, -1, 0, 0.5, 1, 2))}
        if design["flip"] == "lot":
            design["flip"] = "first"
    elif family == "saving":
        design |= {"take": "saving", "limit": rng.choice((0, 1, 2, 3, 3.5, 4, 5)), "hope": 0.0}
    elif family == "hope":
        design |= {"take": "saving", "limit": rng.choice((1, 2, 3, 4)), "counts": True}
        design |= {"hope": round(rng.uniform(0.5, 5), 1), "combos": rng.random() < 0.7}
    elif family == "ahead":
        design |= {"take": "ahead", "counts": True, "combos": rng.random() < 0.7}
        design |= {
            "limit": 3 + rng.choice((0, 0, 0.5, -0.5, 1)),
            "hope": round(rng.uniform(0, 3), 1),
        }
        design |= {"patience": rng.choice((0.6, 0.8, 1.0, 1.0, 1.2))}
    else:
        power, shift = rng.uniform(0.7, 1.5), rng.uniform(-1, 1)
        curve = [(abs(card) ** power) * (1 if card >= 0 else -1) + shift for card in range(-5, 13)]
        noise = rng.choice((0.0, 0.3, 0.8))
        design["values"] = [round(value + rng.gauss(0, noise), 2) for value in curve]
        design["hope"] = round(rng.uniform(0, 4), 1)
    return design | {"family": family}


def _constants(design: Design) -> list[tuple[str, float]]:
    """Those that the policy uses, each with a step."""
    found = [("limit", 1.0), ("swap", 0.5)]
    if not design["counts"]:
        found.append(("unknown", 0.5))
    found += [(name, step) for name, step in (("hope", 0.5), ("half", 0.1)) if design[name]]
    if design["take"] == "ahead":
        found.append(("patience", 0.1))
    if design["place"] == "rules":
        found.append(("above", 1.0))
    return found


PORTS = ("exact", "ties", "constant", "lot", "constant+ties")


def port(design: Design, rng: random.Random, kind: str) -> Design:
    """The same policy by another hand: what such a port changes without wanting to, or to hide."""
    again = copy.deepcopy(design)
    four = again["four"]
    if "ties" in kind:
        again["ties"] = rng.choice([tie for tie in TIES if tie != design["ties"]])
        four["ties"] = "last" if four["ties"] == "first" else "first"
    if "constant" in kind:
        name, step = rng.choice(_constants(design))
        again[name] += rng.choice((-step, step))
        name = rng.choice(("unknown", "take", "swap", "knock"))
        four[name] += rng.choice((-1, 1)) * (0.5 if name in ("unknown", "swap") else 1)
    if "lot" in kind:
        again["salt"] = rng.randrange(1 << 30)
    return again
