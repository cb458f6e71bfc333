"""Bots of the examples as functions, for whole matches in this process."""

import importlib.util
from pathlib import Path

import msgspec
import pytest

BOTS = Path(__file__).parents[2] / "example_bots"


@pytest.fixture(scope="session")
def policy():
    """The policy of an example bot, which reads what a bot reads: JSON."""

    def load(name):
        spec = importlib.util.spec_from_file_location(f"bot_{name}", BOTS / name / "bot.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return lambda view, legal: module.choose(
            msgspec.json.decode(msgspec.json.encode(view)), list(legal)
        )

    return load
