"""What is written: whole without scripts, nothing private, nothing that acts, all of it small."""

import csv
import io
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree as ET

import jsonschema
import msgspec
import pytest

from arena import registry
from arena.event.rerate import RateOptions
from arena.event.results import table_of
from arena.model import Duel, OpenPair, RaceSettings
from arena.registry import GAMES
from arena.replay.steps import unfold
from arena.site.clearance import Clearance
from arena.site.feed import badge
from arena.site.markup import attributes, escaped, tag
from arena.site.match_files import Statistics
from arena.site.pages import ranking, shared, viewer
from arena.site.pages.bot import bot as bot_page
from arena.site.pages.frame import POLICY, Site
from arena.site.pages.method import method
from arena.site.segments import A_SEGMENT, unscript
from arena.site.source import read_source
from arena.site.state import Published, SiteIndex
from arena.site.view import BotView, EventView, bot_slug
from arena.site.words import LANGUAGES
from arena.store import read_event, read_records, secret_of
from tests.site.conftest import HOSTILE, everything, index_of, slug_of

REPOSITORY = Path(__file__).parents[2]
FIRST_LOAD = 300_000
"""Bytes that a page may take with everything that it loads at once."""


class Reader(HTMLParser):
    """Elements, their attributes and texts."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.texts, self.ids = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.ids += [value for name, value in attrs if name == "id"]

    def handle_data(self, data):
        self.texts.append(data)


def html(site):
    return {path: path.read_text("utf-8") for path in sorted(site.rglob("*.html"))}


def test_every_link_and_file_that_a_page_names_is_there_and_relative(site):
    """So a site works from a folder and under any path."""
    for path, text in html(site).items():
        for name, given in Reader(text).tags:
            for attribute in ("href", "src"):
                where = given.get(attribute)
                if where is None or where == "data:,":
                    continue
                assert not re.match(r"[a-z]+:|/", where), (path, where)
                target = where.partition("#")[0]
                if target:
                    assert (path.parent / target).is_file(), (path, name, where)


def test_the_rules_link_of_a_page_opens_the_rules_of_its_game(site):
    """On every page of an event and of a bot, and on the sheets; also where no script runs."""
    games = {slug_of(site, game): game for game in GAMES}
    for event in index_of(site)["events"]:
        games |= {f"{bot_slug(bot['name'])}.html": event["game"] for bot in event["bots"]}
    games |= {path.name: path.name.partition(".")[0] for path in (site / "rules").iterdir()}
    games["index.html"] = "play-nine"  # of events that differ
    for path, text in html(site).items():
        parts = path.relative_to(site).parts
        game = games[parts[1] if parts[0] == "e" else parts[-1]]
        (given,) = (given for _, given in Reader(text).tags if "data-rules" in given)
        assert given["data-rules"] == game, path
        assert (path.parent / given["href"]).resolve() == site / "rules" / f"{game}.en.html", path


def test_a_site_of_one_game_leads_to_its_rules_and_a_game_without_a_sheet_to_none(crowd):
    """On the first page too."""
    event = Published(
        slug="a", name="", game="four-card-golf", seats=2, format="round-robin", matches=2,
        planned=2, finished=True, predictable=False, commitment="", ended=0, replays=0, listed=0,
    )  # fmt: skip
    index = shared.index(Site(), SiteIndex(events=(event,)))
    assert 'href="rules/four-card-golf.en.html"' in index
    table = table_of(crowd)
    other = msgspec.structs.replace(table.event.settings, game="other")
    told = msgspec.structs.replace(table.event, settings=other)
    view = EventView(slug="x", name="", table=msgspec.structs.replace(table, event=told))
    assert "rules/" not in ranking.ranking(Site(), view)


HOLES_IN_ONE = {
    "en": "Holes-in-One",
    "fr": "Trous en un",
    "it": "Buche in uno",
    "es": "Hoyos en uno",
    "ja": "ホールインワン",
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_sheet_says_that_equal_cards_cost_nothing_without_the_exception(site, language):
    """A matched column of Holes-in-One costs -10, and the first sentence on columns says so."""
    sheet = (site / "rules" / f"play-nine.{language}.html").read_text("utf-8")
    scoring = sheet[: sheet.index("−15")].rsplit("<p>", 1)[1]
    assert HOLES_IN_ONE[language] in scoring


def test_pages_have_neither_script_nor_style_within_and_forbid_it(site):
    """Whatever anybody is called, nothing of it can act."""
    for path, text in html(site).items():
        found = Reader(text)
        policies = [g for t, g in found.tags if g.get("http-equiv") == "Content-Security-Policy"]
        assert [given["content"] for given in policies] == [POLICY]
        for name, given in found.tags:
            assert name != "style", path
            assert name != "script" or given.get("src", "").startswith(("assets/", "../")), path
            assert not any(attribute.startswith(("on", "style")) for attribute in given), path
        assert len(found.ids) == len(set(found.ids)), path
    assert "unsafe" not in POLICY
    assert "http" not in POLICY


def test_a_page_and_all_that_it_loads_at_once_is_small(site):
    """With the strings of the largest language."""
    largest = max(path.stat().st_size for path in (site / "assets" / "lang").iterdir())
    english = (site / "assets" / "lang" / "en.js").stat().st_size
    for path, text in html(site).items():
        named = [
            path.parent / (given.get("src") or given.get("href"))
            for name, given in Reader(text).tags
            if name == "script" or given.get("rel") == "stylesheet"
        ]
        whole = len(text.encode()) + sum(each.stat().st_size for each in named)
        assert whole + largest + english < FIRST_LOAD, path


def test_hostile_texts_are_shown_and_never_markup(site):
    """In pages, feed and badges: an author with markup, a message with a script."""
    slug = slug_of(site)
    texts = ""
    for path in (site / "e" / slug / "b").glob("*.html"):
        found = Reader(path.read_text("utf-8"))
        assert not any(name == "img" for name, _ in found.tags)
        texts += "".join(found.texts)
    assert "<img src=x onerror=alert(1)> </script><script>alert(2)</script>" in texts
    assert "\\u202e\\u2066 =HYPERLINK(1)" in texts
    for _, data in everything(site):
        shown = data.decode("utf-8")
        assert "\u202e" not in shown
        assert "<img src=x" not in shown or shown.startswith("arenaData(")
    for path in site.rglob("*.svg"):
        ET.fromstring(path.read_text("utf-8"))
    ET.fromstring((site / "feed.xml").read_text("utf-8"))


def test_a_page_says_how_many_more_deals_tell_neighbours_apart(published, play_event, tmp_path):
    """As the table does: eight pairs, names as text; of an event without any, nothing."""
    played = tmp_path / "event"
    play_event(played, ("ann@1", "bob@1", "cyd@1"), deals=4)
    published(played, "--to", tmp_path / "site")
    page = (tmp_path / "site" / "e" / slug_of(tmp_path / "site") / "index.html").read_text("utf-8")
    table = table_of(played)
    assert table.open_pairs
    for pair in table.open_pairs:
        about = "more than" if pair.at_least else "about"
        assert f"{pair.bots[0]} and {pair.bots[1]}: {about} {pair.deals}" in page
    assert "More deals of each table" in page
    pair = OpenPair(bots=("<img src=x>", "\u202eב@1"), deals=1200, at_least=False)
    racing = msgspec.structs.replace(table.event.settings, racing=RaceSettings())
    event = msgspec.structs.replace(table.event, settings=racing)
    many = msgspec.structs.replace(table, event=event, open_pairs=(pair,) * 10)
    shown = ranking.still_open(EventView(slug="x", name="", table=many))
    found = Reader(shown)
    assert "<img src=x> and \\u202eב@1: about 1200" in found.texts
    assert not any(name == "img" for name, _ in found.tags)
    assert 8 == shown.count("<li>")
    assert "More deals between the two" in shown
    assert "Pairs besides these: 2." in found.texts
    for none in ((), msgspec.UNSET):
        alone = msgspec.structs.replace(many, open_pairs=none)
        assert not ranking.still_open(EventView(slug="x", name="", table=alone))


def test_two_names_of_one_look_have_files_of_their_own():
    """These two have the same 32 bits of a hash: found in a tenth of a second."""
    assert bot_slug("Champion---...--...--_@1") != bot_slug("Champion---._-....___.@1")


def test_names_of_files_are_plain_whatever_a_bot_is_called(site):
    """Letters, digits, hyphens and dots."""
    for path, _ in everything(site):
        assert re.fullmatch(r"[a-zA-Z0-9._-]+", path.name), path
    assert bot_slug("אבג") != bot_slug("דהו")
    assert bot_slug("../../x").startswith("x-")


def test_a_table_is_there_in_the_other_formats_too(site):
    """Markdown to paste, CSV without formulas, JSON for programs."""
    folder = site / "e" / slug_of(site)
    assert "| " in (folder / "table.md").read_text("utf-8")
    rows = list(csv.DictReader(io.StringIO((folder / "table.csv").read_text("utf-8"))))
    assert len(rows) == 3
    table = json.loads((folder / "table.json").read_text("utf-8"))
    assert {row["entrant"] for row in table["rows"]} == {"ann@1", "bob@1", HOSTILE.id}


def test_the_index_keeps_to_its_schema(site):
    """As protocol/schema/site.json says."""
    schema = json.loads((REPOSITORY / "protocol" / "schema" / "site.json").read_text("utf-8"))
    index = index_of(site)
    jsonschema.validate(index, schema)
    assert [event["game"] for event in index["events"]] == ["four-card-golf", "play-nine"] or [
        event["game"] for event in index["events"]
    ] == ["play-nine", "four-card-golf"]
    assert index["title"] == "Ladder <&> `x`"


def test_a_segment_holds_the_steps_of_its_matches(site, event):
    """As `arena replay` shows them, without what only the rules or the pages need."""
    slug = slug_of(site)
    held = read_event(event)
    game, secret = registry.game("play-nine"), secret_of(event, held)
    index = unscript((site / "e" / slug / "m" / "index.js").read_bytes())
    assert [len(part) for part in index["parts"]] == [1]
    shown = unscript((site / "e" / slug / "m" / "s0.js").read_bytes())
    records = {record.id: record for record in read_records(event)}
    assert [match["id"] for match in shown] == sorted(records)
    assert len(shown) <= A_SEGMENT
    for match in shown:
        made = unfold(records[match["id"]], held, game=game, secret=secret)
        steps = msgspec.json.decode(msgspec.json.encode(made))
        assert [index["names"][seat] for seat in match["seats"]] == [
            seat["id"] for seat in steps["seats"]
        ]
        for hole, real in zip(match["holes"], steps["holes"], strict=True):
            del real["deck"]
            if not match["faults"]:
                for step in real["steps"]:
                    del step["turn"]
            assert hole == real


def test_lists_hold_every_match_of_every_bot_once(site, event):
    """By each of its seats."""
    folder = site / "e" / slug_of(site) / "m"
    index = unscript((folder / "index.js").read_bytes())
    for bot, name in enumerate(index["names"]):
        listed = [
            line[0]
            for number in range(index["files"][bot])
            for line in unscript((folder / f"b{bot}-{number}.js").read_bytes())
        ]
        assert listed == sorted(r.id for r in read_records(event) if name in r.seats)


def test_statistics_add_up(event):
    """Every hole that a bot finished itself is counted once by strokes, by seat and by hole."""
    held = read_event(event)
    clearing = Clearance()
    gathered = Statistics(clearing.ids(held.entrants), 2, clearing)
    records = list(read_records(event))
    for record in records:
        gathered.add(record, over=True)
    ann = gathered.bots["ann@1"]
    whole = [r for r in records if "ann@1" in r.seats and not r.faults]
    holes = [r.holes[h].scores[r.seats.index("ann@1")] for r in whole for h in range(9)]
    assert ann.strokes.total() >= len(holes)
    for spreads in (ann.seats, ann.holes):
        assert sum(spread.count for spread in spreads) == ann.strokes.total()
        assert sum(spread.strokes for spread in spreads) == sum(
            k * n for k, n in ann.strokes.items()
        )
    leads = [r.totals[1 - r.seats.index("ann@1")] - r.totals[r.seats.index("ann@1")] for r in whole]
    assert (ann.best.lead, ann.worst.lead) == (max(leads), min(leads))
    assert sum(bot.failed for bot in gathered.bots.values()) == 1


def test_an_event_without_a_log_has_pages_too(event):
    """A table in memory is enough for ranking, matrix and method: what a live server has."""
    view = EventView(slug="live", name="", table=table_of(event))
    site = Site()
    for made in (ranking.ranking(site, view), ranking.matrix(site, view), method(site, view)):
        assert made.startswith("<!doctype html>")
        assert "matches.html" not in made
        assert "replay.html" not in made


def test_the_command_that_verifies_is_whole(event):
    """Also of a table of several events, which has no one commitment."""
    found = table_of(event)
    several = msgspec.structs.replace(
        found, event=msgspec.structs.replace(found.event, commitment="")
    )
    for table, command in (
        (found, f"arena verify FOLDER --commitment {found.event.commitment}<"),
        (several, "arena verify FOLDER<"),
    ):
        view = EventView(slug="live", name="", table=table)
        assert command in method(Site(), view)


def test_pages_of_a_large_field_stay_small(event):
    """Of 500 bots: the first page has the first of them and leads to all; the matrix is left to
    the bots' own pages.
    """
    table = table_of(event)
    held = table.event.entrants[0]
    ids = [f"a-rather-long-name-of-a-bot-{number}@1" for number in range(500)]
    replace = msgspec.structs.replace
    table = replace(
        table,
        event=replace(table.event, entrants=tuple(replace(held, id=bot, name=bot) for bot in ids)),
        rows=tuple(replace(table.rows[0], entrant=bot) for bot in ids),
        duels=tuple(Duel(row=ids[0], column=bot, wins=1, ties=0, losses=3) for bot in ids[1:]),
    )
    bots = {bot: BotView() for bot in ids}
    view = EventView(slug="x", name="", table=table, bots=bots, names=tuple(ids), listed=1)
    site, rest = Site(), 80_000  # more than all scripts, styles and strings of a page
    first = ranking.ranking(site, view)
    assert first.count("<tr>") == ranking.MOST + 1
    assert 'href="ranking.html"' in first
    whole = ranking.ranking(site, view, whole=True)
    assert whole.count("<tr>") == 501
    assert "500 bots are too many for a page" in ranking.matrix(site, view)
    one = bot_page(site, view, ids[0])
    assert one.count("../matches.html#") == 500
    for text in (first, one, viewer.matches(site, view), method(site, view)):
        assert len(text.encode()) + rest < FIRST_LOAD


@pytest.mark.parametrize("text", ["</script>", "\"'><b onmouseover=x", "${x}`", "{{x}}", "&amp;"])
def test_nothing_breaks_out_of_its_place(text):
    """As a text and as an attribute it is what it was."""

    class One(HTMLParser):
        seen = None

        def handle_starttag(self, name, attrs):
            assert name == "p"
            self.seen = dict(attrs)["title"]

        def handle_data(self, data):
            assert data == text

    reader = One()
    reader.feed(tag("p", text, title=text))
    assert reader.seen == text


def test_markup_shows_what_acts():
    """Overrides and control characters."""
    assert escaped("a\u202eb\x00") == "a\\u202eb\\x00"
    assert attributes({"class_": "x", "hidden": True, "id": None, "data_a": "<"}) == (
        ' class="x" hidden data-a="&lt;"'
    )


def test_a_badge_is_a_picture_of_a_rank():
    """Of one, of a range, of none."""
    for ranks, shown in (((1, 1), "1 / 5"), ((2, 4), "2\u20134 / 5"), ((0, 0), "\u2013")):
        found = ET.fromstring(badge("<b>&", *ranks, 5))
        texts = [each.text for each in found.iter("{http://www.w3.org/2000/svg}text")]
        assert texts == ["<b>&", shown]


def test_every_picture_of_a_rating_has_the_error_of_what_is_compared(event, site):
    """That of mu against the field's mean, which matches lower; not sigma, which has a floor."""
    rows = [row for row in table_of(event).rows if row.mu is not None]
    errors = [row.sigma_field for row in rows]
    assert all(error < row.sigma for row, error in zip(rows, errors, strict=True))
    text = (site / "e" / slug_of(site) / "index.html").read_text()
    spans = re.findall(r'<line x1="([\d.]+)" x2="([\d.]+)"[^>]*class="span"', text)
    drawn = [float(right) - float(left) for left, right in spans[: len(rows)]]
    ends = [row.mu + side * 1.96 * row.sigma_field for row in rows for side in (-1, 1)]
    wide = (154 - 6) / (max(ends) - min(ends))
    assert drawn == pytest.approx([2 * error * wide for error in errors], abs=0.2)
    history = read_source(event, RateOptions()).history
    assert errors == [history[row.entrant][-1].error for row in rows]
