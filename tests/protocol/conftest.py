"""The contract as the tests read it: the page, its parts, the transcripts, the schemas."""

import json
import sys
from pathlib import Path

import jsonschema
import pytest

PROTOCOL = Path(__file__).parents[2] / "protocol"

# The generator's parts are no package: a script finds them beside itself.
sys.path.insert(0, str(PROTOCOL))


@pytest.fixture(scope="session")
def protocol():
    """The folder of the contract."""
    return PROTOCOL


@pytest.fixture(scope="session")
def page():
    """SPEC.md as data."""
    from makers.page import PATH, Page

    return Page(PATH.read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def transcripts():
    """Name -> lines of every golden transcript."""
    return {
        path.stem: path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
        for path in sorted((PROTOCOL / "transcripts").glob("*.txt"))
    }


@pytest.fixture(scope="session")
def schema():
    """A validator for one message, by the name of its schema."""
    made = {}

    def validator(name):
        if name not in made:
            text = (PROTOCOL / "schema" / f"{name}.json").read_text(encoding="utf-8")
            made[name] = jsonschema.Draft202012Validator(json.loads(text))
        return made[name]

    return validator


@pytest.fixture(scope="session")
def messages(transcripts):
    """(game, message) for every line to a bot in the transcripts."""
    found = []
    for lines in transcripts.values():
        spoken = [json.loads(line[2:]) for line in lines if line.startswith("> ")]
        found += [(spoken[0]["game"], message) for message in spoken]
    return found
