"""Every table of the page against the types, the engine and the programs that it speaks of."""

import json
import re
import types
import typing
from collections.abc import Sequence

import msgspec
import pytest

from arena.bots import manifest
from arena.deals import Deals
from arena.games import four_card_golf, play_nine
from arena.model import FaultKind, Limits, Play, Settings
from arena.referee import hello
from arena.sandbox import Launch
from arena.sandbox.environment import OPEN_FILES, variables
from arena.wire.session import MAX_BRACKETS

GAMES = {"play-nine": play_nine.GAME, "four-card-golf": four_card_golf.GAME}


def notation(kind):
    """A type as the page writes it."""
    plain = {int: "int", str: "string", bool: "bool", Play: "event", typing.Any: "object"}
    if kind in plain:
        return plain[kind]
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Literal:
        return "string"
    if origin in (tuple, Sequence):
        return f"[{notation(args[0])}]"
    if origin in (types.UnionType, typing.Union):
        return " or ".join("null" if arg is type(None) else notation(arg) for arg in args)
    return "object"


def test_types_have_a_notation():
    """The comparison below can tell types apart."""
    kinds = (tuple[tuple[int | None, ...], ...], Sequence[Play], dict, int | None, str)
    assert ["[[int or null]]", "[event]", "object", "int or null", "string"] == [
        notation(kind) for kind in kinds
    ]


def described():
    """(title, type) of every table of fields."""
    from makers.schemas import MESSAGES, TABLES, message_types

    from arena.wire.messages import BotLimits, Rules

    kinds = {kind.__name__: kind for kind in message_types().values()} | MESSAGES
    found = [(TABLES[kind.__name__], kind) for kind in MESSAGES.values()]
    views = [(TABLES[game.view_type.__name__], game.view_type) for game in GAMES.values()]
    parts = [("`act`", kinds["Act"]), ("Events", Play), ("6.", BotLimits), ("`hello`", Rules)]
    return [*found, *views, *parts]


@pytest.mark.parametrize(("title", "kind"), described())
def test_the_page_has_every_field_with_its_type(page, title, kind):
    """A table of fields has exactly those of the type, in its order, with their types."""
    name = kind.__name__
    fields = page.fields(title, name)
    if name == "FourCardView":
        fields = page.fields("The view of Play Nine") | fields
    hints = typing.get_type_hints(kind)
    expected = {}
    for field in msgspec.structs.fields(kind):
        written = notation(hints[field.name])
        # What has no value is left out, and is never null.
        optional = not field.required and name in {"Play", "Next"}
        expected[field.name] = written.removesuffix(" or null") if optional else written
    found = {field: row.kind or "int" for field, row in fields.items()}
    assert expected == found
    if name not in {"FourCardView", "BotLimits"}:
        assert list(expected) == list(found)


def test_the_table_of_messages_has_all_of_them(page):
    """Each message to a bot is there once, with an answer or none, and so is its section."""
    from makers.schemas import MESSAGES

    to_bot = (set(MESSAGES) | {"act"}) - {"ready", "answer"}
    rows = {row["message"].strip("`"): row for row in page.table("3.", "message")}
    assert to_bot == set(rows)
    for name, row in rows.items():
        assert row["your answer"].startswith("none") == (name not in {"hello", "act", "next"})
        kinds = re.findall(r"`(\w+)`", row["a wrong answer is a fault of kind"])
        assert set(kinds) <= {kind.value for kind in FaultKind}
        assert any(title.startswith(f"`{name}`") for title in page.sections)


def test_limits_are_the_defaults_in_force(page):
    """The one table of limits states what `hello` says when nothing else is asked for."""
    rows = page.table("6.", "field")
    stated = {row["field"].strip("`"): int(row["default"]) for row in rows}
    limits = hello(Settings(game="play-nine")).limits
    assert {name: getattr(limits, name) for name in limits.__struct_fields__} == stated
    assert set(Limits.__struct_fields__) | {"series"} == set(stated)
    (brackets,) = re.findall(r"at most (\d+) opening brackets", page.text)
    assert int(brackets) == MAX_BRACKETS
    (files,) = re.findall(r"At most (\d+) open files", page.text)
    assert int(files) == OPEN_FILES


def test_the_kinds_of_fault_are_those_of_the_record(page):
    """Every FaultKind has its row, in order, and there is no other."""
    kinds = [row["kind"].strip("`") for row in page.table("7.", "kind")]
    assert [kind.value for kind in FaultKind] == kinds


def test_every_mistake_has_the_transcripts_that_it_names(page, transcripts):
    """They end with that kind of fault, in both games; and no bad transcript goes unnamed."""
    named = set()
    for row in page.table("7.", "what you did"):
        kinds = re.findall(r"`(\w+)`", row["kind"])
        ends = set()
        for name in re.findall(r"`([\w.-]+)`", row["transcripts"]):
            whole = [name] if name.startswith("start.") else [f"{game}.{name}" for game in GAMES]
            named.update(whole)
            ends.update(transcripts[one][-1] for one in whole)
        assert {f"! {kind}" for kind in kinds} == ends, row
    assert {name for name in transcripts if ".bad." in name} == named


def test_the_environment_is_the_table(page):
    """A bot's environment has those variables with those values, and nothing else."""
    rows = {row["variable"].strip("`"): row for row in page.table("8.", "variable")}
    launch = Launch(run=("bot",), root="/", scratch_mb=16, memory_mb=512, tasks=64)
    real = variables(launch)
    assert set(rows) == {*real, "PYTHONPATH", "ARENA_PARAM_NAME"}
    for name, value in real.items():
        assert value == rows[name]["value"].strip("`")
    plain = variables(Launch(run=("bot",), root="/", memory_mb=512, tasks=64))
    assert {n for n, row in rows.items() if row["when"].startswith("always")} == set(plain)


def test_the_manifest_s_fields_are_the_table(page):
    """bot.toml may have these fields with these types, and no others."""
    rows = {}
    for row in page.table("`bot.toml`", "field"):
        for name in re.findall(r"`([\w.]+)`", row["field"]):
            rows[name] = row["type"]
    samples = {
        "string": '"a"',
        "[string]": '["a"]',
        "[string] or [[string]]": '[["a"], ["b"]]',
        "bool": "true",
        "int": "5",
        "table": "{ risk = { default = 1, min = 0, max = 2 } }",
    }
    lines = [f"{name} = {samples[kind]}" for name, kind in rows.items()]
    lines[list(rows).index("lock")] = 'lock = "Cargo.lock"'
    read = manifest.parse("\n".join(lines))
    assert (read.run, read.build, read.optional) == (("a",), (("a",), ("b",)), True)
    for kind in ("string", "[string]", "bool", "int", "table"):
        for name in (name for name, of in rows.items() if of == kind):
            with pytest.raises(manifest.BotError):
                manifest.parse(f"{name} = 1.5")
    known = {*manifest.Manifest.__struct_fields__} - {"asked"}
    known |= {f"limits.{name}" for name in manifest.Asked.__struct_fields__}
    assert known == set(rows)


def expanded(text):
    """The moves that a cell of the table of legal moves names, without a condition."""
    moves = []
    for part in re.split(r"[,;] ", text.replace(" … ", "…")):
        codes = re.findall(r"`([^`]+)`", part)
        if "…" in part:
            verb, low = codes[0].rsplit(" ", 1)
            high = codes[1].rsplit(" ", 1)[1]
            moves += [f"{verb} {at}" for at in range(int(low), int(high) + 1)]
        else:
            moves += codes
    return moves


def asked(game):
    """(view, legal) at many decisions of games by lot."""
    import random

    draw = random.Random(2)
    deals = Deals(bytes(32))
    for deal in range(60):
        seats = draw.randint(2, game.max_seats)
        deck = deals.deck("page", deal, 1, game.pack(seats))
        hole = game.start(seats=seats, order=tuple(range(seats)), deck=deck, turn_cap=game.turn_cap)
        while acting := hole.to_act():
            for seat in acting:
                legal = list(hole.legal(seat))
                yield hole.view(seat), legal
                hole.apply(seat, draw.choice(legal))


@pytest.mark.parametrize("game", GAMES.values(), ids=list(GAMES))
def test_legal_lists_what_the_page_says(page, game):
    """By phase: the moves, their order, and how many there are at least and at most."""
    title = "4." if game.name == "play-nine" else "5."
    rows = {row["phase"].strip("`"): row for row in page.table(title, "phase")}
    counts = {}
    for view, legal in asked(game):
        counts.setdefault(view.phase, set()).add(len(legal))
        moves = expanded(rows[view.phase]["moves"])
        if view.phase == "tee":
            expected = [f"tee {a} {b}" for a in range(8) for b in range(a + 1, 8)]
            codes = re.findall(r"`([^`]+)`", rows[view.phase]["moves"])
            assert [*expected[:2], expected[-1]] == codes
        elif game.name == "play-nine" and view.phase == "drawn":
            down = [at for at, card in enumerate(view.grids[view.seat]) if card is None]
            flips = [f"flip {at}" for at in down]
            at = moves.index("flip")
            expected = [*moves[:at], *flips, *(["skip"] if len(down) == 1 else [])]
            assert moves[at:] == ["flip", "skip"]
        else:
            knocked = view.ended_by is not None
            expected = [move for move in moves if move != "knock" or not knocked]
        assert expected == legal
    assert set(rows) == set(counts)
    for phase, found in counts.items():
        low, _, high = rows[phase]["how many"].partition(" to ")
        assert (int(low), int(high or low)) == (min(found), max(found))


def test_the_values_of_every_field_hold_in_every_transcript(page, messages):
    """Where the page lists the strings that a field may have, no other is ever sent."""
    listed = 0
    for title in ("`hello`", "The view of Play Nine", "The view of four-card golf"):
        for name, field in page.fields(title).items():
            values = re.findall(r"`([^`]+)`", field.values)
            if field.kind != "string" or not values:
                continue
            listed += 1
            views = [
                message["view"]
                for game, message in messages
                if message["type"] == "act" and (game == "play-nine") == ("Play" in title)
            ]
            sent = [m for _, m in messages if m["type"] == "hello"] if name == "game" else views
            assert set(values) == {one[name] for one in sent}
    assert listed == 3


def test_ids_are_short_ascii_that_can_be_copied(messages):
    """Turn ids, moves and names have at most 32 ASCII characters without quotes or backslashes."""
    for _, message in messages:
        texts = [message.get("turn", ""), message.get("match", ""), *message.get("legal", ())]
        for text in texts:
            assert re.fullmatch(r"[ !#-\[\]-~]{0,32}", text)
        assert len(json.dumps(message)) < 32_768


def test_searching_a_line_finds_what_the_page_says(transcripts):
    """What a bot without a JSON reader searches for stands at most once in a line to it."""
    for lines in transcripts.values():
        for line in lines:
            if line.startswith("> "):
                marks = ('"type":"act"', '"turn":"', '"legal":["', '"type":"hello"')
                assert all(line.count(mark) <= 1 for mark in marks)
                assert line.startswith('> {"type":"')


def test_what_the_page_says_of_packs_and_points(page):
    """Sizes of packs, the mean of a card, the price of matched columns, players, turn caps."""
    nine, four = page.section("4."), page.section("5.")
    pack = play_nine.GAME.pack(2)
    assert f"**Pack**: {len(pack)} cards" in nine
    mean = sum(pack) / len(pack)
    assert f"**Count an unknown card as {mean:.1f}**" in page.section("Playing Play Nine")
    ranks = four_card_golf.GAME.pack(2)
    assert f"**Pack**: {len(ranks)} cards, two packs from five" in four
    assert 2 * len(ranks) == len(four_card_golf.GAME.pack(5))
    mean = sum(four_card_golf.score_grid([rank]) for rank in ranks) / len(ranks)
    assert f"**Count an unknown card as {mean:.1f}**" in page.section("Playing four-card golf")
    prices = re.search(r"strokes for these cards \|(.*)\|", nine)[1].replace("−", "-")
    for columns, price in enumerate(map(int, prices.split("|")), 1):
        row = [7] * columns + [1, 2, 3, 4][columns:]
        other = [7] * columns + [5, 6, 8, 9][columns:]
        rest = sum(row[columns:] + other[columns:])
        assert play_nine.score_grid(row + other) == price + rest
    for text, game in ((nine, play_nine.GAME), (four, four_card_golf.GAME)):
        assert f"Nine holes, {game.min_seats} to {game.max_seats} players" in text
        assert re.search(rf"`turn_cap` turns \(default\s+{game.turn_cap}\)", text)
