"""Every fenced block and every piece of JSON on the page is run, filled in or checked."""

import itertools
import json
import random
import re
import subprocess
import sys

import msgspec
import pytest

from arena.bots import manifest
from arena.deals import Deals
from arena.games import four_card_golf, play_nine
from arena.model import Play
from arena.wire.messages import Answer, Ready

GAMES = {"play-nine": play_nine, "four-card-golf": four_card_golf}


def number(text):
    """A number as people write it."""
    return int(text.replace("−", "-"))


def fed(program, lines, **how):
    """What a program answers to the lines to it."""
    asked = [line[2:] for line in lines if line.startswith("> ")]
    done = subprocess.run(
        program,
        input="\n".join(asked) + "\n",
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        **how,
    )
    assert done.stderr == ""
    return done.stdout


def check_bot(program, transcripts, games=tuple(GAMES)):
    """A program answers what a bot is asked, legally, and leaves at the end."""
    played = 0
    for name, lines in transcripts.items():
        if ".bad." in name or ".lean" in name or not name.startswith(games):
            continue
        ready, *answers = map(json.loads, fed(program, lines).splitlines())
        spoken = [json.loads(line[2:]) for line in lines if line.startswith("> ")]
        questions = [message for message in spoken if message["type"] == "act"]
        assert {"type": "ready"} == ready
        assert [q["turn"] for q in questions] == [a["turn"] for a in answers]
        assert all(a["move"] in q["legal"] for q, a in zip(questions, answers, strict=True))
        played += 1
    assert played >= 8


def check_python(block, transcripts, tmp_path):
    """The first bot plays every transcript."""
    (tmp_path / "bot.py").write_text(block.body)
    check_bot([sys.executable, tmp_path / "bot.py"], transcripts)


def check_bash(block, transcripts, tmp_path):
    """The bot without a JSON reader does too."""
    (tmp_path / "bot.sh").write_text(block.body)
    check_bot(["bash", tmp_path / "bot.sh"], transcripts)


def check_decent(block, page, transcripts, tmp_path):
    """The bot that knows what a card is worth plays its game's transcripts, and plays well."""
    (tmp_path / "bot.py").write_text(block.body)
    check_bot([sys.executable, tmp_path / "bot.py"], transcripts, ("play-nine",))
    names = {}
    exec(block.body[: block.body.index("for line in")], names)
    draw = random.Random(1)
    for _ in range(300):
        cards = [draw.choice((-5, 0, 3, 12)) for _ in range(8)]
        assert play_nine.score_grid(cards) == names["strokes"](cards)
    deals, scores = Deals(bytes(32)), []
    for deal in range(200):
        deck = deals.deck("page", deal, 1, play_nine.GAME.pack(2))
        hole = play_nine.GAME.start(seats=2, order=(0, 1), deck=deck, turn_cap=60)
        while seats := hole.to_act():
            for seat in seats:
                view = msgspec.json.decode(msgspec.json.encode(hole.view(seat)))
                hole.apply(seat, names["choose"](view))
        scores += hole.scores()
    (claim,) = re.findall(r"it needs about (\d+\.\d)", page.text)
    assert abs(sum(scores) / len(scores) - float(claim)) < 0.5


def check_manifest(block, tmp_path):
    """A bot.toml is read as it stands by who reads them."""
    (tmp_path / "bot.toml").write_text(block.body)
    assert manifest.of_folder(tmp_path).run


def check_score(block):
    """A grid costs what stands beside it."""
    game = GAMES[block.info.split()[-1]]
    for grid in block.body.strip().split("\n\n"):
        cards, total = [], None
        for line in grid.split("\n"):
            row = re.match(r"( *-?\d+){2,4}(?=  )", line)
            cards += map(int, row[0].split())
            if match := re.search(r"total (−?\d+)", line):
                total = number(match[1])
        assert len(cards) == game.CARDS
        assert total == game.score_grid(cards), cards


def check_positions(block):
    """Positions are numbered by rows; the layout is that by which the engine scores."""
    found = [
        [int(n) for n in re.match(r"(\d ?)+", line)[0].split()] for line in block.body.splitlines()
    ]
    size = sum(map(len, found))
    assert [list(range(size // 2)), list(range(size // 2, size))] == found
    for column in range(4) if size == 8 else ():
        cards = [1, 2, 3, 4, 5, 6, 7, 8]
        cards[column + 4] = cards[column]
        # A matched column costs nothing.
        assert sum(cards) - 2 * cards[column] == play_nine.score_grid(cards)


def shape(event):
    """What kind of event it is: its verb, its fields, and whether somebody's secret is told."""
    return event["move"].split()[0], frozenset(event)


def check_events(block, messages):
    """Every event on the page is one that the wire can carry, of a shape that was really sent."""
    sent = {shape(e) for _, message in messages for e in message.get("events", ())}
    shown = set()
    for line in block.body.splitlines():
        text = re.match(r"\{.*?\}(?=  |$)", line)[0]
        assert text.encode() == msgspec.json.encode(msgspec.json.decode(text, type=Play))
        shown.add(shape(json.loads(text)))
    assert shown <= sent
    # Each kind of move is shown, with all the fields that it can have but for reshuffles.
    usual = {(verb, fields) for verb, fields in sent if "reshuffled" not in fields}
    assert usual <= shown


TOKENS = re.compile(r"<?\w+>?")


def check_order(block, transcripts):
    """All good transcripts follow the grammar, and the lean ones too."""
    rules = dict(line.split(" = ") for line in block.body.splitlines())
    rules = {name.strip(): text for name, text in rules.items()}

    def pattern(match):
        name = match[0]
        if name in rules:
            return f"(?:{TOKENS.sub(pattern, rules[name])})"
        return f"(?:{name};)"

    grammar = re.compile(TOKENS.sub(pattern, rules["conversation"]).replace(" ", ""))
    for name, lines in transcripts.items():
        said = "".join(token(line) for line in lines)
        assert (grammar.fullmatch(said) is None) == (".bad." in name), name


def token(line):
    """The word of the grammar that a line of a transcript is."""
    if line.startswith("> "):
        return json.loads(line[2:])["type"] + ";"
    if line.startswith("< "):
        return "<ready>;" if '"type":"ready"' in line else "<answer>;"
    return ""


FILLED = ("text transcript", "json view", "text grids")
CHECKS = {
    "python": check_python,
    "python decent": check_decent,
    "bash": check_bash,
    "toml": check_manifest,
    "text score": check_score,
    "text positions": check_positions,
    "text events": check_events,
    "text order": check_order,
}


def blocks():
    """Every block of the page, and how many there are."""
    from makers.page import PATH, Page

    return Page(PATH.read_text(encoding="utf-8")).blocks()


@pytest.mark.parametrize("block", blocks(), ids=lambda block: f"line-{block.line}")
def test_every_block_of_the_page_holds(block, request):
    """A block is filled in by the generator, or has a check for the first words of its info."""
    words = block.info.split()
    if " ".join(words[:2]) in FILLED:
        return
    kinds = [kind for kind in CHECKS if words == kind.split() or words[:2] == kind.split()]
    assert kinds, f"SPEC.md line {block.line}: no test knows a block of kind {block.info!r}"
    check = CHECKS[kinds[-1]]
    names = check.__code__.co_varnames[1 : check.__code__.co_argcount]
    check(block, *(request.getfixturevalue(name) for name in names))


def test_a_block_that_nothing_fills_in_is_noticed(page):
    """The parts of a line that begins with a mark stand only in blocks that are filled in."""
    for block in page.blocks():
        if " ".join(block.info.split()[:2]) != "text transcript":
            assert not re.search(r"^[<>] ", block.body, re.MULTILINE), block.line


def spans(page):
    """Every piece of code within the words."""
    words = re.sub(r"^```.*?^```$", "", page.text, flags=re.MULTILINE | re.DOTALL)
    return set(re.findall(r"(?<!`)`([^`\n]+)`(?!`)", words))


def test_json_within_the_words_is_what_it_says(page, transcripts):
    """A whole object among the words is a message; a part of one stands in a transcript."""
    said = "\n".join(itertools.chain(*transcripts.values()))
    found = 0
    for span in spans(page):
        if re.match(r"\{.+\}$", span):
            fields = json.loads(span)
            msgspec.json.decode(span, type=Ready if "type" in fields else Answer)
            found += 1
        elif span[0] == chr(34):
            assert span in said, span
            found += 1
    assert found >= 7


def test_the_readme_s_bot_is_the_page_s(page, protocol):
    """There is one first bot."""
    (bot,) = [block.body for block in page.blocks() if block.info == "python"]
    assert f"```python\n{bot}```" in (protocol.parent / "README.md").read_text(encoding="utf-8")


def test_questions_are_as_long_as_the_page_says(page, transcripts):
    """The bytes of a question, whole and lean, are those of the two transcripts by lot."""
    means = []
    for name in ("play-nine.2.lean", "play-nine.2.good"):
        asked = [line[2:] for line in transcripts[name] if line.startswith("> ")]
        sizes = [len(line) + 1 for line in asked if '"turn":' in line]
        means.append(round(sum(sizes) / len(sizes)))
    told = re.findall(r"questions\s+have (\d+) bytes instead of (\d+)", page.text)
    assert [tuple(map(str, means))] == told


def test_links_lead_somewhere(page, protocol):
    """Each link's file exists, and so does each heading that is linked to."""
    heads = re.findall(r"^#+ (.*)$", page.text, re.MULTILINE)
    anchors = {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}
    for target in re.findall(r"\]\(([^)]+)\)", page.text):
        if target.startswith("#"):
            assert target[1:] in anchors, target
        else:
            assert (protocol / target).exists(), target


def test_sections_keep_their_numbers(page):
    """Tools and messages refer to sections by number: these ten, in this order."""
    heads = re.findall(r"^## (.*)$", page.text, re.MULTILINE)
    assert [
        "1. A first bot",
        "2. The conversation",
        "3. Messages",
        "4. Play Nine",
        "5. Four-card golf",
        "6. Limits and time",
        "7. Faults",
        "8. Where your program runs",
        "9. What may change",
        "10. What the rule sheets leave open",
    ] == heads
