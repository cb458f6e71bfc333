"""The games for people who train: a PettingZoo environment and a batch of holes as arrays.

`env(...)` is one match or hole as an AEC environment, `vector_env(...)` many of them at once as
numpy arrays; both show a seat what `observe(view)` makes of its view. So what was trained with
either can play in an event. docs/training.md has examples. Needs the extra `rl`.
"""

from importlib.util import find_spec

if any(find_spec(name) is None for name in ("numpy", "gymnasium", "pettingzoo")):
    raise ImportError(
        "arena.rl needs numpy and PettingZoo, which are not all installed: "
        "pip install 'nine-arena[rl]'"
    )

from arena.rl.aec import Reward, env, raw_env
from arena.rl.observation import MOVES, decode, encode, fields, mask, observe, size
from arena.rl.vector.table import BatchStep, VectorEnv, vector_env
