"""JSON Schemas: types from the code, descriptions and ranges from the tables of SPEC.md.

What a bot sends and receives is described by SPEC.md, whose tables have a row for each field; the
log's types have docstrings. Nothing forbids a field that isn't known, but in an event file.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
from collections.abc import Iterator
from typing import Any

import click
import msgspec
from makers.log_words import WORDS
from makers.page import Field, Page
from makers.transcripts import GAMES

from arena.audit import report as audit_report
from arena.check import report
from arena.cli.event_file import NOT_IN_FILES
from arena.cli.flags import TIME, Megabytes
from arena.cli.prepare import prepare
from arena.cli.run import run
from arena.model import Event, MatchRecord, event, records, settings, standings
from arena.regret import summary
from arena.replay import steps
from arena.site import state
from arena.wire.messages import (
    Act,
    Answer,
    Bye,
    Hello,
    HoleEnd,
    MatchEnd,
    MatchStart,
    Next,
    Ready,
)

DRAFT = "https://json-schema.org/draft/2020-12/schema"

MESSAGES: dict[str, Any] = {
    "hello": Hello,
    "ready": Ready,
    "match": MatchStart,
    "next": Next,
    "answer": Answer,
    "hole_end": HoleEnd,
    "match_end": MatchEnd,
    "bye": Bye,
}
RECORDS: dict[str, Any] = {
    "match-record": MatchRecord,
    "event": Event,
    "audit-report": audit_report.Audit,
    "check-report": report.CheckReports,
    "match-steps": steps.MatchSteps,
    "site": state.SiteIndex,
    "regret": summary.RegretReport,
}
DOCUMENTED = (event, records, settings, standings, audit_report, report, state, steps, summary)
"""Where the types of the log, and of what is printed as JSON, are."""

# Where SPEC.md describes the fields of a type: the table under this heading.
TABLES = {
    "Hello": "`hello`",
    "Rules": "`hello`",
    "BotLimits": "6. Limits and time",
    "Limits": "6. Limits and time",
    "Ready": "`ready`",
    "MatchStart": "`match`",
    "Act": "`act`",
    "Next": "`next`",
    "Answer": "The answer",
    "Play": "Events",
    "HoleEnd": "`hole_end`",
    "MatchEnd": "`match_end`",
    "Bye": "`bye`",
    "PlayNineView": "The view of Play Nine",
    "FourCardView": "The view of four-card golf",
}


def pretty(value: Any) -> str:
    """JSON for people."""
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def message_types() -> dict[str, Any]:
    """Name of the schema -> type, of all that is said between referee and bot."""
    types = dict(MESSAGES)
    for game in GAMES:
        fields = [
            (field.name, game.view_type if field.name == "view" else field.type)
            for field in msgspec.structs.fields(Act)
        ]
        types[f"act.{game.name}"] = msgspec.defstruct(
            "Act", fields, frozen=True, tag_field="type", tag="act"
        )
    return types


def schemas(page: Page) -> Iterator[tuple[str, str]]:
    """(file name, text) of each JSON Schema."""
    views = [game.view_type.__name__ for game in GAMES]
    for name, kind in (message_types() | RECORDS).items():
        schema = msgspec.json.schema(kind)
        schema["$schema"] = DRAFT
        for title, part in schema["$defs"].items():
            if "description" in part:
                part["description"] = inspect.cleandoc(part["description"])
            if title in TABLES:
                fields = page.fields(TABLES[title], title)
                if title in views[1:]:  # SPEC.md says only what differs from the first
                    fields = page.fields(TABLES[views[0]]) | fields
                from_page(part, fields)
            else:
                from_docstrings(part, title)
        yield f"schema/{name}.json", pretty(schema)
    yield "schema/event-file.json", pretty(event_file())


def from_page(part: dict[str, Any], fields: dict[str, Field]) -> None:
    """Describe an object's properties as SPEC.md does."""
    for name, place in part.get("properties", {}).items():
        if name == "type":
            place["description"] = "Which message this is."
        elif name in fields:
            field = fields[name]
            if field.low is not None or field.high is not None:
                bound(place, field.low, field.high)
            place["description"] = field.meaning


def bound(place: dict[str, Any], low: int | None, high: int | None) -> None:
    """Put a range on every integer in a schema."""
    if place.get("type") == "integer":
        limits = {"minimum": low, "maximum": high}
        place.update({key: value for key, value in limits.items() if value is not None})
    for inner in (place.get("items"), *place.get("anyOf", ())):
        if isinstance(inner, dict):
            bound(inner, low, high)


def from_docstrings(part: dict[str, Any], title: str) -> None:
    """Describe the properties of a type of the log by its source's docstrings, or by our words."""
    for name, text in WORDS.get(title, {}).items():
        part["properties"][name]["description"] = text
    kind = next(getattr(module, title) for module in DOCUMENTED if hasattr(module, title))
    source = inspect.getsource(kind)
    (body,) = ast.parse(source).body
    assert isinstance(body, ast.ClassDef)
    for at, text in zip(body.body, [*body.body[1:], None], strict=True):
        if (
            not isinstance(at, ast.AnnAssign)
            or not isinstance(at.target, ast.Name)
            or at.target.id not in part["properties"]
        ):
            continue
        place = part["properties"][at.target.id]
        _, _, note = source.splitlines()[at.lineno - 1].partition("  # ")
        if note:  # a short docstring, behind its field
            place["description"] = f"{note[0].upper()}{note[1:]}."
        elif isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant):
            words = inspect.cleandoc(str(text.value.value))
            place["description"] = re.sub(r"\s+", " ", words)


def event_file() -> dict[str, Any]:
    """The schema of an event file, from the flags of `arena run`."""
    properties: dict[str, Any] = {
        "bots": {
            "type": "array",
            "items": {"type": "string"},
            "minItems": 1,
            "description": "Paths of the bots, relative to this file; * and ? match.",
        }
    }
    # `arena prepare` has one more; the others are the same.
    for option in {option.name: option for option in (*prepare.params, *run.params)}.values():
        if isinstance(option, click.Option) and option.opts[0] not in NOT_IN_FILES:
            key = next(name for name in option.opts if name.startswith("--")).removeprefix("--")
            properties[key] = {**kind_of(option), "description": option.help or ""}
    return {
        "$schema": DRAFT,
        "title": "An event of arena: arena run --event FILE",
        "type": "object",
        "additionalProperties": False,
        "properties": properties,
    }


def kind_of(option: click.Option) -> dict[str, Any]:  # noqa: PLR0911 - one a kind
    """What a flag takes, as a schema."""
    kind = option.type
    if option.multiple:
        return {"type": "array", "items": {"type": "string"}}
    if option.is_flag:
        return {"type": "boolean"}
    if kind is TIME:
        return {"type": "string", "pattern": r"^\s*\d+(\.\d+)?\s*(ms|s|m|h)\s*$"}
    if isinstance(kind, Megabytes):
        # The pattern is for text alone, the bounds are for numbers alone.
        return {
            "type": ["integer", "string"],
            "minimum": kind.least,
            "maximum": kind.most,
            "pattern": r"^\s*\d+(\.\d+)?\s*([MmGg]([Ii]?[Bb])?)?\s*$",
        }
    if isinstance(kind, click.Choice):
        return {"enum": list(kind.choices)}
    if isinstance(kind, click.IntRange | click.FloatRange):
        bounds = {"minimum": kind.min, "maximum": kind.max}
        type_ = "integer" if isinstance(kind, click.IntRange) else "number"
        return {"type": type_} | {k: v for k, v in bounds.items() if v is not None}
    return {"type": "string"}
