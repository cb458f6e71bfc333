"""What lies in protocol/ is what the generator writes, and the schemas say what the types say."""

import importlib.util
import json

import jsonschema
import pytest

from arena.games.four_card_golf import GAME as FOUR_CARD_GOLF
from arena.games.play_nine import GAME as PLAY_NINE


@pytest.fixture(scope="module")
def generate(protocol):
    """The generator, loaded from its path: the folder is no package."""
    spec = importlib.util.spec_from_file_location("generate", protocol / "generate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def expected(generate):
    """What the generator writes."""
    return generate.files()


def test_generated_files_have_not_drifted(expected, protocol):
    """What lies in the folder is what the generator writes, and nothing else lies there."""
    for name, content in expected.items():
        assert content == (protocol / name).read_bytes(), name
    by_hand = {"transcripts/README.md", "transcripts/feed.pl"}
    found = {
        str(path.relative_to(protocol))
        for folder in ("schema", "vectors", "transcripts")
        for path in (protocol / folder).iterdir()
    }
    assert set(expected) - {"SPEC.md"} == found - by_hand


def test_the_check_finds_a_line_that_was_never_said(generate, expected, monkeypatch, tmp_path):
    """A conversation on the page that is changed by hand is put right, and --check says so."""
    from makers import page

    wrong = expected["SPEC.md"].replace(b'"move":"knock"', b'"move":"draw"')
    assert wrong != expected["SPEC.md"]
    (tmp_path / "SPEC.md").write_bytes(wrong)
    monkeypatch.setattr(page, "PATH", tmp_path / "SPEC.md")
    text = generate.files()["SPEC.md"].decode()
    assert '< {"turn":"4-q6f1","move":"knock"}' in text


def properties(schema):
    """(title, name, schema) of each property in a schema file."""
    for title, part in schema.get("$defs", {"": schema}).items():
        for name, place in part.get("properties", {}).items():
            yield title, name, place


def test_every_field_is_described(protocol):
    """A schema says of each field what it is; those of messages and records let others be."""
    for path in (protocol / "schema").iterdir():
        text = path.read_text(encoding="utf-8")
        for title, field, place in properties(json.loads(text)):
            assert place.get("description"), (path.name, title, field)
        closed = path.name in {"event.json", "event-file.json", "match-steps.json", "regret.json"}
        assert ("additionalProperties" in text) == closed


def test_our_words_are_for_fields_that_have_no_docstring():
    """Where the source explains a field, the schema has its words and not a second version."""
    import ast
    import inspect

    from makers.log_words import WORDS
    from makers.schemas import DOCUMENTED

    for title, fields in WORDS.items():
        kind = next(getattr(module, title) for module in DOCUMENTED if hasattr(module, title))
        (body,) = ast.parse(inspect.getsource(kind)).body
        names = [at.target.id if isinstance(at, ast.AnnAssign) else "" for at in body.body]
        assert set(fields) <= set(names)
        for name in fields:
            follows = body.body[names.index(name) + 1 : names.index(name) + 2]
            assert not any(isinstance(line, ast.Expr) for line in follows), (title, name)


def test_every_schema_is_one(protocol):
    """Each file is a valid schema of the draft that it names."""
    for path in (protocol / "schema").iterdir():
        jsonschema.Draft202012Validator.check_schema(json.loads(path.read_text(encoding="utf-8")))


def places(value):
    """Every object within a message, itself included."""
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value:
        if isinstance(inner, dict | list):
            yield from places(inner)


@pytest.mark.parametrize("game", [PLAY_NINE, FOUR_CARD_GOLF], ids=lambda game: game.name)
def test_schemas_allow_more_fields_but_not_fewer(game, messages, schema):
    """A message with an unknown field in every object is valid; without a required one it isn't."""
    seen = {}
    for name, message in messages:
        if name == game.name:
            seen[message["type"]] = message
    assert {"hello", "match", "act", "next", "hole_end", "match_end", "bye"} == set(seen)
    for kind, message in seen.items():
        validator = schema(f"act.{game.name}" if kind == "act" else kind)
        grown = json.loads(json.dumps(message))
        for place in list(places(grown)):
            place["x-new"] = [1, {"y": None}]
        validator.validate(grown)
        for field in message:
            if field != "drawn":
                less = {key: value for key, value in message.items() if key != field}
                assert not validator.is_valid(less), (kind, field)


def test_schemas_refuse_a_wrong_type(schema):
    """A number in place of a string, and a card that no pack has, are refused."""
    assert schema("answer").is_valid({"turn": "1-k3x9", "move": "draw"})
    assert not schema("answer").is_valid({"turn": "1-k3x9", "move": 3})
    event = {"seat": 0, "move": "take 3", "card": 14, "out": 9}
    end = {"type": "hole_end", "hole": 1, "scores": [], "totals": [], "grids": []}
    assert not schema("hole_end").is_valid({**end, "events": [event]})
    assert schema("hole_end").is_valid({**end, "events": [{**event, "card": 13}]})
    assert not schema("hole_end").is_valid({**end, "hole": 19, "events": []})
