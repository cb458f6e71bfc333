"""A match by clicking in a real browser, at a desk and on a phone."""

import json
import subprocess
import sys
from urllib.parse import urlsplit

import pytest

from arena.store import read_records

PATIENCE_MS = 90_000

pytestmark = pytest.mark.process


class Hand:
    """Somebody who clicks, and notes what a page shouldn't do."""

    def __init__(self, browser, url, **options):
        self.context = browser.new_context(**options)
        self.page = self.context.new_page()
        self.page.set_default_timeout(PATIENCE_MS)
        self.wrong = []
        host = urlsplit(url).netloc
        self.page.on("console", lambda said: self.wrong.append(said.text))
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on(
            "request",
            lambda asked: (
                urlsplit(asked.url).netloc == host
                or asked.url.startswith("data:")
                or self.wrong.append(asked.url)
            ),
        )
        self.page.goto(url)
        self.number = -1

    def wanted(self):
        """What the page waits for, when it has something new."""
        self.page.wait_for_function(
            "last => document.body.dataset.wanted && Number(document.body.dataset.number) > last",
            arg=self.number,
        )
        data = self.page.evaluate("({...document.body.dataset})")
        self.number = int(data["number"])
        return data["wanted"]

    def click(self, key):
        self.page.locator(f'[data-key="{key}"]').first.click()

    def has(self, key):
        return self.page.locator(f'[data-key="{key}"]').count() > 0

    def mine(self):
        """The person's own cards, as the page shows them: a number, or None for a back."""
        cards = self.page.locator("#mine .card").evaluate_all("all => all.map(c => c.dataset.card)")
        return [None if card is None else int(card) for card in cards]

    def turn(self):
        """One decision; what was done."""
        if self.has("draw"):
            self.click("draw")
        elif self.has("away"):
            self.click("away")
            if self.has("back"):  # one is to be turned over
                self.page.locator("#mine .card.lit").first.click()
        else:
            self.click("card 0")
            self.click("card 5")


@pytest.fixture
def sat(chromium, bot_folder, tmp_path):
    """Start a match and open its page: `sat("--game", …, options={…})`."""
    started = []

    def start(*words, bots=1, options=None):
        process = subprocess.Popen(
            [
                *(sys.executable, "-P", "-m", "arena", "play", *[bot_folder()] * bots),
                *("--browser", "--delay", "0", "--out", "kept", *words),
            ],
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
        )
        said = process.stderr.readline()
        assert said.startswith("play here: "), said
        hand = Hand(chromium, said.split()[2], locale="en-US", **(options or {}))
        started.append((process, hand))
        return process, hand

    yield start
    for process, hand in started:
        hand.context.close()
        process.kill()
        process.communicate()


@pytest.mark.parametrize("game", ["play-nine", "four-card-golf"])
@pytest.mark.long("every browser case")
def test_nine_holes_by_clicking(sat, tmp_path, game):
    """No error, nothing from elsewhere; the score card is the record's; then it is over."""
    process, hand = sat("--game", game, "--turn-cap", "1", "--no-playoff")
    holes = 0
    while (wanted := hand.wanted()) != "over":
        if wanted == "hole":
            holes += 1
            assert None not in hand.mine()
            hand.click("next")
        else:
            hand.turn()
    assert 9 == holes
    (record,) = read_records(tmp_path / "kept")
    rows = hand.page.locator("#score tbody tr").evaluate_all(
        "rows => rows.map(row => [...row.cells].slice(1).map(cell => cell.textContent))"
    )
    by_seat = [
        [*(hole.scores[seat] for hole in record.holes), record.totals[seat]] for seat in (0, 1)
    ]
    assert by_seat == [[int(text.replace("\u2212", "-")) for text in row] for row in rows]
    assert "Kept in kept." in hand.page.locator("#prompt").text_content()
    hand.click("enough")
    hand.page.get_by_text("this page can be closed").wait_for()
    assert 0 == process.wait(60)
    assert [] == hand.wrong


@pytest.mark.long("every browser case")
def test_a_page_that_is_loaded_again_and_one_that_is_opened_twice(sat):
    """The state is there again; the seat goes to the window that was opened last, and back."""
    process, hand = sat()
    assert "move" == hand.wanted()
    hand.turn()
    assert "move" == hand.wanted()
    cards, prompt = hand.mine(), hand.page.locator("#prompt").text_content()
    assert 2 == sum(card is not None for card in cards)
    hand.page.reload()
    hand.page.wait_for_selector("#mine .card")
    assert (cards, prompt) == (hand.mine(), hand.page.locator("#prompt").text_content())
    other = hand.context.new_page()
    other.goto(hand.page.url)
    other.wait_for_selector("#mine .card")
    hand.page.get_by_text("in another window").wait_for()
    hand.click("here")
    hand.page.get_by_text("Your turn").first.wait_for()
    other.get_by_text("in another window").wait_for()
    other.close()
    hand.page.click("#leave")
    hand.click("really")
    hand.page.get_by_text("this page can be closed").wait_for()
    assert 0 == process.wait(60)
    assert [] == hand.wrong


@pytest.mark.long("every browser case")
def test_keys_reasons_and_languages(sat):
    """Without a mouse; what can't be played is said, in the language that was chosen."""
    _, hand = sat()
    page = hand.page
    hand.wanted()
    page.keyboard.press("3")
    assert "true" == page.locator('[data-key="card 3"]').get_attribute("aria-pressed")
    page.keyboard.press("4")
    hand.wanted()
    page.keyboard.press("x")
    page.locator("#why").get_by_text("That is for a card that you have drawn").wait_for()
    page.keyboard.press("t")
    assert 8 == page.locator("#mine .card.lit").count()
    page.keyboard.press("Escape")
    assert 0 == page.locator("#mine .card.lit").count()
    page.keyboard.press("d")
    hand.wanted()
    page.keyboard.press("f")
    assert 6 == page.locator("#mine .card.lit").count()
    page.keyboard.press("3")
    page.locator("#why").get_by_text("Card 3 is face up already").wait_for()
    for language, said in (("ja", "3 はもう表です"), ("fr", "La carte 3 est déjà visible")):
        page.select_option("#language", language)
        page.locator("#why").get_by_text(said).wait_for()
        assert language == page.locator("html").get_attribute("lang")
    page.reload()
    page.locator("#prompt").get_by_text("Vous avez pioché").wait_for()
    # The browser itself notes in its console that a move was refused.
    assert all("409" in said for said in hand.wrong)


@pytest.mark.parametrize("game", ["play-nine", "four-card-golf"])
@pytest.mark.long("every browser case")
def test_a_phone_in_the_dark(sat, game):
    """Eight or six at the table: nothing wider than the screen, nothing that moves."""
    bots = {"play-nine": 5, "four-card-golf": 7}[game]
    _, hand = sat(
        *("--game", game),
        bots=bots,
        options={
            "viewport": {"width": 320, "height": 640},
            "color_scheme": "dark",
            "reduced_motion": "reduce",
            "has_touch": True,
        },
    )
    hand.wanted()
    hand.turn()
    hand.wanted()
    assert 320 >= hand.page.evaluate("document.documentElement.scrollWidth")
    names = hand.page.locator(".seat .name").all_text_contents()
    assert bots + 1 == len(names)
    moving = "document.getAnimations().filter(a => a.playState === 'running').length"
    assert 0 == hand.page.evaluate(moving)
    assert [] == [json.dumps(each) for each in hand.wrong]
