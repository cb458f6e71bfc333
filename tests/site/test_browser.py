"""Sites in a real browser: sorted, clicked, stepped through, in every language, on a phone.

Whatever a page does here it may not complain on its console, nor ask for anything outside the site:
`browse` sees to that in every test.
"""

import json

import pytest

from arena import registry
from arena.replay.steps import unfold
from arena.reports.cards import Face
from arena.site.view import bot_slug
from arena.site.words import LANGUAGES, strings
from arena.store import read_event, read_records, secret_of
from arena.terminal.moments import Album
from tests.site.conftest import HOSTILE, slug_of

LETTERS = {Face.ALL: "a", Face.OWNER: "o", Face.NOBODY: "n", Face.HIDDEN: "h"}


def column(page, number):
    """The texts of a column of the ranking, the tags beside names left out."""
    return page.eval_on_selector_all(
        "#ranking tbody tr",
        f"rows => rows.map(row => row.cells[{number}].querySelector('bdi')?.textContent "
        f"?? row.cells[{number}].textContent)",
    )


def test_the_ranking_sorts_by_every_heading_with_the_keyboard(browse, site):
    """Up, down, and said to those who can't see it."""
    page = browse(f"e/{slug_of(site)}/index.html")
    names = column(page, 1)
    button = page.locator("#ranking th[data-sort=text] button")
    button.focus()
    page.keyboard.press("Enter")
    assert column(page, 1) == sorted(names)
    assert page.get_attribute("#ranking th[data-sort=text]", "aria-sort") == "ascending"
    page.keyboard.press("Enter")
    assert column(page, 1) == sorted(names, reverse=True)
    assert page.get_attribute("#ranking th[data-sort=text]", "aria-sort") == "descending"
    skill = page.locator("#ranking th", has_text="μ").locator("button")
    skill.click()
    assert column(page, 1) == names[::-1]
    skill.click()
    assert column(page, 1) == names
    assert page.locator("#ranking th[aria-sort]").count() == 1


@pytest.mark.long("every browser case")
def test_a_cell_of_the_matrix_leads_to_its_matches_and_these_to_the_viewer(
    browse, site, event, hosted
):
    """Both bots sit in each of them; one is opened and is the one that was chosen."""
    page = browse(f"e/{slug_of(site)}/matrix.html", at=hosted)
    page.locator("#matrix tbody tr").nth(0).locator("a").nth(0).click()
    page.wait_for_selector("#matches tbody tr")
    pair = {page.input_value("#bot"), page.input_value("#with")}
    listed = page.eval_on_selector_all("#matches tbody th", "all => all.map(h => h.textContent)")
    assert listed == sorted(r.id for r in read_records(event) if set(r.seats) == pair)
    page.locator("#matches tbody a").nth(1).click()
    page.wait_for_selector("#felt .card")
    assert listed[1] in page.text_content("#moment")


# What the table shows, as data: by seat its cards, then pile, stock and hand.
TABLE = """() => {
  const cards = [...document.querySelectorAll("#felt .seat")].map(seat =>
    [...seat.querySelectorAll(".card")].map(card => [card.dataset.face, card.textContent]));
  const text = selector => document.querySelector(`#felt ${selector}`)?.textContent ?? "";
  const acting = [...document.querySelectorAll("#felt .seat")]
    .flatMap((seat, number) => seat.classList.contains("acting") ? [number] : []);
  return {
    cards, acting,
    pile: text(".pile .card"), piled: text(".pile figcaption"), stock: text(".stock figcaption"),
    hand: text(".hand .card"),
    scores: [...document.querySelectorAll("#felt .seat h3 b")].map(b => b.textContent),
  };
}"""


def drawn(album, at, watcher):
    """The same from the pictures of `arena replay`."""
    shown = album.picture(at, watcher)
    in_words = strings("en")

    def text(card):
        return card.label.strip().replace("-", "\u2212") if card.face is not Face.HIDDEN else ""

    return {
        "cards": [
            [[LETTERS[card.face], text(card)] for row in player.rows for card in row]
            for player in shown.players
        ],
        "acting": sorted(shown.acting),
        "pile": shown.pile.replace("-", "\u2212"),
        "piled": in_words["card_pile"].format(n=shown.piled) if shown.pile else "",
        "stock": in_words["card_stock"].format(n=shown.stock) if shown.pile else "",
        "hand": shown.drawn.replace("-", "\u2212"),
        "scores": [str(player.total).replace("-", "\u2212") for player in shown.players],
    }


def album_of(folder, match):
    event = read_event(folder)
    record = next(record for record in read_records(folder) if record.id == match)
    game = registry.game(event.settings.game)
    return Album(unfold(record, event, game=game, secret=secret_of(folder, event)))


@pytest.mark.parametrize("which", ["event", "crowd"])
@pytest.mark.long("every browser case")
def test_every_moment_is_that_of_arena_replay_card_by_card(browse, site, which, request):
    """Of a whole match of three, of the last hole at a table of eight, and of the match with a
    fault; as those in the first and the last seat see it, the last hole.
    """
    folder = request.getfixturevalue(which)
    held = read_event(folder)
    records = sorted(read_records(folder), key=lambda record: record.id)
    last = len(records[0].seats) - 1
    # A record, who watches it, and from which hole on; no hole: from the first.
    wanted = [(records[0], seat, 9) for seat in (0, last)]
    if which == "event":
        wanted += [(records[0], None, 0), (next(r for r in records if r.faults), None, 0)]
    else:
        wanted += [(records[0], None, 9)]
    slug = slug_of(site, held.settings.game)
    page = browse(f"e/{slug}/replay.html")
    for record, watcher, hole in wanted:
        album = album_of(folder, record.id)
        seat = "" if watcher is None else f"&seat={watcher}"
        hole = hole or album.moments[0].hole
        begin = album.first_of(hole)
        # Another query, so that it is another page.
        asked = f"?{watcher}#m={record.id}&h={hole}&s=0{seat}"
        page.goto(f"{site.as_uri()}/e/{slug}/replay.html{asked}")
        page.wait_for_selector(f"#felt[data-moment='{begin}']")
        assert record.id in page.text_content("#moment")
        # One call for all moments: forward by the key, reading the table after each.
        seen = page.evaluate(
            f"""(count) => {{
              const read = {TABLE};
              const found = [read()];
              for (let at = 1; at < count; at += 1) {{
                document.body.dispatchEvent(
                  new KeyboardEvent("keydown", {{ key: "ArrowRight", bubbles: true }}));
                found.push(read());
              }}
              return found;
            }}""",
            len(album.moments) - begin,
        )
        assert len(seen) > 3
        for at, shown in enumerate(seen, begin):
            expected = drawn(album, at, watcher)
            if watcher is not None:  # a hand that isn't seen is a card's back here
                assert shown["hand"] in ("", expected["hand"])
            assert {**shown, "hand": expected["hand"]} == expected, (record.id, watcher, at)
            if watcher is None:
                assert shown["hand"] == expected["hand"]


@pytest.mark.long("every browser case")
def test_the_viewer_steps_back_plays_jumps_and_lists_its_moves(browse, site, event):
    """By keys and buttons; playing by itself it stops at the end."""
    record = min((r for r in read_records(event) if not r.faults), key=lambda each: each.id)
    album = album_of(event, record.id)
    page = browse(f"e/{slug_of(site)}/replay.html#m={record.id}")
    page.wait_for_selector("#felt .card")
    at = "document.querySelector('#felt').dataset.moment"
    page.click("#next")
    page.click("#next")
    page.keyboard.press("ArrowLeft")
    assert page.evaluate(at) == "1"
    page.select_option("#hole", "4")
    assert page.evaluate(at) == str(album.first_of(4))
    page.keyboard.press("[")
    assert page.evaluate(at) == str(album.first_of(3))
    page.keyboard.press("End")
    assert page.evaluate(at) == str(len(album.moments) - 1)
    assert page.is_disabled("#next")
    steps = len(album.match.holes[-1].steps)
    assert page.locator("#moves li").count() == steps + 2  # the deal and the reveal
    page.locator("#moves li button").nth(steps - 2).click()
    assert page.evaluate(at) == str(album.first_of(9) + steps - 2)
    page.select_option("#pace", "0.2")
    page.click("#play")
    page.wait_for_selector("#next[disabled]")
    page.wait_for_selector("#play[aria-pressed=false]")
    assert page.evaluate(at) == str(len(album.moments) - 1)


@pytest.mark.long("every browser case")
def test_a_link_to_a_moment_shows_that_moment_to_those_eyes(browse, site, event):
    """From a folder; the address follows each step, so it can be shared at any time."""
    record = min((r for r in read_records(event) if not r.faults), key=lambda each: each.id)
    album = album_of(event, record.id)
    page = browse(f"e/{slug_of(site)}/replay.html?lang=en#m={record.id}&h=3&s=7&seat=1")
    page.wait_for_selector("#felt .card")
    expected = drawn(album, album.first_of(3) + 7, 1)
    assert page.evaluate(f"({TABLE})()")["cards"] == expected["cards"]
    told = page.locator("#moves li")
    assert told.count() == 8  # the deal and seven moves: what is to come nobody could know
    page.keyboard.press("ArrowRight")
    assert told.count() == 9
    assert page.evaluate("location.hash") == f"#m={record.id}&h=3&s=8&seat=1"
    page.reload()
    page.wait_for_selector("#felt .card")
    expected = drawn(album, album.first_of(3) + 8, 1)
    assert page.evaluate(f"({TABLE})()")["cards"] == expected["cards"]


@pytest.mark.long("every browser case")
def test_a_page_speaks_the_language_that_is_asked_for(browse, site):
    """By ?lang=; every string of ours in it, numbers and times too."""
    page = browse("index.html")
    for language in LANGUAGES:
        page.goto(f"{site.as_uri()}/e/{slug_of(site)}/index.html?lang={language}")
        page.wait_for_selector("html[data-ready]", state="attached")
        words = strings(language)
        assert page.evaluate("document.documentElement.lang") == language
        found = page.eval_on_selector_all(
            "[data-t]", "all => all.map(e => [e.dataset.t, e.dataset.v ?? '', e.textContent])"
        )
        assert len(found) > 20
        for key, values, text in found:
            expected = words[key].format(**json.loads(values or "{}"))
            assert text == expected, (language, key)
        if language in ("fr", "it", "es"):
            assert "," in column(page, 4)[0]


@pytest.mark.long("every browser case")
def test_the_language_is_the_browsers_until_one_is_chosen_and_that_is_kept(browse, site, hosted):
    """On other pages too; and a sheet of rules is in the language that was chosen."""
    page = browse("index.html", at=hosted, language="it-IT")
    assert page.evaluate("document.documentElement.lang") == "it"
    page.select_option("#language", "ja")
    page.wait_for_selector("html[lang=ja]")
    page.goto(f"{hosted}/e/{slug_of(site)}/matrix.html")
    page.wait_for_selector("html[data-ready][lang=ja]")
    page.click("a[data-rules]")
    page.wait_for_url("**/rules/play-nine.ja.html")


@pytest.mark.long("every browser case")
def test_the_rules_of_four_card_golf_are_opened_from_each_page_of_its_event(browse, site, crowd):
    """In the page's language, and by a click."""
    slug = slug_of(site, "four-card-golf")
    bot = bot_slug(read_event(crowd).entrants[0].id)
    page = browse(f"e/{slug}/index.html?lang=fr")
    for name in ("index", "matrix", "matches", "method", "replay", f"b/{bot}"):
        page.goto(f"{site.as_uri()}/e/{slug}/{name}.html?lang=fr")
        page.wait_for_selector("html[data-ready]")
        page.click("a[data-rules]")
        page.wait_for_url("**/rules/four-card-golf.fr.html")
        assert page.text_content("h1") == "Four-Card Golf"


@pytest.mark.long("every browser case")
def test_the_theme_is_the_systems_until_it_is_toggled_and_that_is_kept(browse, hosted):
    """Light, then dark, and dark after a reload."""
    page = browse("index.html", at=hosted)
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    light = page.evaluate(ground)
    page.click("#theme")
    dark = page.evaluate(ground)
    assert dark != light
    page.reload()
    page.wait_for_selector("html[data-ready]")
    assert page.evaluate(ground) == dark


def test_hostile_names_and_messages_are_text(browse, site, event):
    """On the page of the bot that failed, and in the viewer at its fault."""
    record = next(record for record in read_records(event) if record.faults)
    failed = record.seats[record.faults[0].seat]
    slug = slug_of(site)
    page = browse(f"e/{slug}/b/{bot_slug(failed)}.html")
    assert "<img src=x onerror=alert(1)>" in page.text_content("td.wide")
    hole = record.faults[0].hole
    at = album_of(event, record.id)
    moment = at.fault_after(-1) - at.first_of(hole)
    page.goto(f"{site.as_uri()}/e/{slug}/replay.html#m={record.id}&h={hole}&s={moment}")
    page.wait_for_selector("#fault .note")
    shown = page.text_content("#fault")
    assert "<img src=x onerror=alert(1)>" in shown
    assert "\\u202e" in shown
    assert page.locator("#fault img").count() == 0
    page.goto(f"{site.as_uri()}/e/{slug}/index.html")
    page.wait_for_selector("html[data-ready]")
    assert HOSTILE.id in column(page, 1)


PAGES = ("index", "ranking", "matrix", "matches", "replay", "bot", "method", "career", "rules")


@pytest.mark.parametrize(
    ("phone", "dark"), [(True, False), (False, True)], ids=["light-phone", "dark-desktop"]
)
@pytest.mark.long("every browser case", quick=("light-phone",))
def test_every_page_is_accessible_and_fits(browse, site, axe, *, phone, dark):
    """axe-core finds nothing, and nothing but tables scrolls sideways."""
    slug = slug_of(site)
    places = {
        "index": "index.html",
        "ranking": f"e/{slug}/index.html",
        "replay": f"e/{slug}/replay.html#h=2&s=5",
        "bot": f"e/{slug}/b/{bot_slug('ann@1')}.html",
        "career": f"bots/{bot_slug('ann')}.html",
        "rules": "rules/four-card-golf.ja.html",
        **{name: f"e/{slug}/{name}.html" for name in ("matrix", "matches", "method")},
    }
    page = browse("index.html", phone=phone, dark=dark, bypass_csp=True)
    for name in PAGES:
        page.goto(f"{site.as_uri()}/{places[name]}")
        page.wait_for_selector("html[data-ready]")
        if name == "replay":
            page.wait_for_selector("#felt .card")
        if name == "matches":
            page.wait_for_selector("#matches tbody tr")
        over = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert over <= 0, name
        page.evaluate(f"{axe};0")
        found = page.evaluate(
            "axe.run({ preload: false, resultTypes: ['violations'] }).then(all => all.violations)"
        )
        told = [(each["id"], each["nodes"][0]["html"][:200]) for each in found]
        assert told == [], name


@pytest.mark.long("every browser case")
def test_what_a_reader_looks_for_is_seen_without_scrolling(browse, site, event):
    """On a phone why a bot failed, its whole name, and its rank and rating in each event; on a desk
    the strokes of the ranking and the ratings of a career.
    """
    cell = "(rows, [row, n]) => rows[row].cells[n].getBoundingClientRect().right"
    slug = slug_of(site)
    record = next(record for record in read_records(event) if record.faults)
    failed = record.seats[record.faults[0].seat]
    page = browse(f"e/{slug}/b/{bot_slug(failed)}.html", phone=True)
    assert page.eval_on_selector("h2 .name", "name => name.scrollWidth <= name.clientWidth")
    faults = ".stack tbody tr:has(> :nth-child(4))"  # its dearest moves have three columns
    assert page.eval_on_selector_all(faults, cell, [0, 3]) < 390
    page.goto(f"{site.as_uri()}/bots/{bot_slug('ann')}.html")
    heads = page.eval_on_selector_all("thead th", "heads => heads.map(head => head.innerText)")
    assert ["rank", "μ"] == [head.split()[0] for head in heads[1:3]]
    assert page.eval_on_selector_all("tbody tr", cell, [0, 2]) < 390
    page.set_viewport_size({"width": 1440, "height": 900})
    assert page.eval_on_selector_all("tbody tr", cell, [0, len(heads) - 1]) < 1440 - 32
    page.goto(f"{site.as_uri()}/e/{slug}/index.html")
    head = page.locator("#ranking thead th").nth(7).inner_text()
    assert head.startswith("Δ")
    assert page.eval_on_selector_all("#ranking tbody tr", cell, [0, 7]) < 1440 - 32


@pytest.mark.long("every browser case")
def test_a_page_can_be_used_with_the_keyboard_alone(browse, site):
    """The first stop skips to the content; each stop shows that it has the focus."""
    page = browse(f"e/{slug_of(site)}/index.html")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    for _ in range(12):
        page.keyboard.press("Tab")
        style = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert style != "none", page.evaluate("document.activeElement.outerHTML")


def test_labels_are_those_of_the_terminal_and_a_match_that_is_not_there_is_said(browse, site):
    """Cards of both games, drawn by the script, have the signs that `arena replay` prints; another
    match is not an error.
    """
    page = browse(f"e/{slug_of(site)}/replay.html#m=ffffffffffff-000009-0")
    page.get_by_text("There is no such match in this event.").wait_for()
    for game, cards in (("play-nine", (-5, *range(13))), ("four-card-golf", tuple(range(1, 14)))):
        about = registry.game(game).about
        shown = page.evaluate(
            "([game, cards]) => cards.map(c => Cards.label(game, c))",
            [about.for_scripts(tuple(cards)), cards],
        )
        assert shown == [about.label(card).replace("-", "\u2212") for card in cards]
