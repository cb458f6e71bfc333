"""The live pages in a real browser: Debian's Chromium, driven by Playwright."""

import signal

import pytest

from arena.event.results import table_of
from arena.store import read_records

pytestmark = pytest.mark.process

PATIENCE_MS = 90_000
MATCHES = 16


class Browser:
    """A browser's page that notes what goes wrong."""

    def __init__(self, browser, url):
        self.url = url
        self.errors = []
        self.elsewhere = []
        self.page = browser.new_page()
        self.page.set_default_timeout(PATIENCE_MS)
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", self._request)

    def _console(self, message):
        if message.type in ("error", "warning"):
            self.errors.append(message.text)

    def _request(self, request):
        if not request.url.startswith((self.url, "data:", "blob:")):
            self.elsewhere.append(request.url)

    def done(self):
        """How many matches the page says are over."""
        return int(self.page.get_attribute("progress", "data-done"))

    def until_done(self, number):
        """Wait until it says so, by itself."""
        # By a selector: what waits for a function evaluates text in the page, and ours allow none.
        wanted = ", ".join(f"progress[data-done='{n}']" for n in range(number, MATCHES + 1))
        self.page.wait_for_selector(wanted, state="attached")


def names(page):
    """The bots, in the order in which the table shows them."""
    return page.eval_on_selector_all(
        "#ranking tbody tr", "rows => rows.map(row => row.querySelector('th').dataset.k)"
    )


@pytest.mark.long("every browser case")
def test_the_ranking_updates_itself_and_keeps_what_a_reader_did(chromium, running):
    """Matches, table and progress during a real event; sorting and focus stay; then it is over."""
    browser = Browser(chromium, running.start())
    page = browser.page
    while len(list(read_records(running.results))) < 6:
        running.until("match")
    page.goto(browser.url)
    page.wait_for_selector("#connection:has-text('live')")
    before = browser.done()
    assert page.locator("#last tbody tr").count() == before
    # By name, downwards; the focus is on the head that was clicked.
    heading = page.locator("#ranking th[data-sort='text'] button")
    heading.click()
    heading.click()
    assert names(page) == sorted(names(page), reverse=True)
    running.pass_gate()
    browser.until_done(before + 4)
    page.wait_for_selector("#last a")
    page.wait_for_selector("#ranking td span:text-is('8')")
    assert names(page) == sorted(names(page), reverse=True)
    assert page.get_attribute("#ranking th[aria-sort]", "aria-sort") == "descending"
    focused = "document.activeElement.closest('th')?.getAttribute('aria-sort')"
    assert page.evaluate(focused) == "descending"
    running.pass_gate()
    page.wait_for_selector("#connection:has-text('the event is over')")
    browser.until_done(MATCHES)
    code, _ = running.end()
    assert code == 0
    for row in table_of(running.results).rows:
        shown = page.locator(f"#ranking tr:has(th[data-k='{row.entrant}'])").inner_text()
        assert f"{row.mu:.2f}" in shown
        assert f"{row.wins}–{row.ties}–{row.losses}" in shown
    assert (browser.errors, browser.elsewhere) == ([], [])
    page.close()


@pytest.mark.long("every browser case")
def test_a_match_is_opened_when_its_deal_is_over(chromium, running):
    """From the list to its cards; another one, asked for by its address, says why not yet."""
    browser = Browser(chromium, running.start())
    page = browser.page
    running.pass_gate()
    while len(list(read_records(running.results))) < 10:
        running.until("match")
    records = list(read_records(running.results))
    page.goto(browser.url)
    page.click(f"#last a:has-text('{records[0].id}')")
    page.wait_for_selector("#felt .seat")
    first = records[0].holes[0].moves.split(",")
    assert page.locator("#moves li").count() >= len(first)
    page.click("#next")
    assert "s=1" in page.url
    page.goto(f"{page.url.partition('#')[0]}#m={records[-1].id}")
    page.wait_for_selector("#unopened:not([hidden])")
    assert not page.is_visible("#viewer")
    assert browser.elsewhere == []
    # A browser says of an answer 403 that it was one.
    assert [error for error in browser.errors if "403" not in error] == []
    running.end()
    page.close()


@pytest.mark.long("every browser case")
def test_a_lost_connection_is_said_and_found_again(chromium, running):
    """Ctrl-C, and a resume at the same port: the page goes on by itself."""
    browser = Browser(chromium, running.start())
    page = browser.page
    page.goto(browser.url)
    page.wait_for_selector("#connection:has-text('live')")
    running.process.send_signal(signal.SIGINT)
    running.until("note")
    running.pass_gate()
    page.wait_for_selector("#connection:has-text('waiting')")
    assert running.end()[0] == 130
    port = browser.url.rsplit(":", 1)[1].rstrip("/")
    # It stays, or it may be over before the page asks again.
    running.start(running.results, command="resume", live=("--live", port, "--live-stay"))
    page.wait_for_selector("#connection:has-text('the event is over')")
    browser.until_done(MATCHES)
    assert browser.elsewhere == []
    running.process.send_signal(signal.SIGINT)
    running.end()
    page.close()


@pytest.mark.long("every browser case")
def test_it_speaks_the_readers_language(chromium, running):
    """What is replaced while it is played, too."""
    browser = Browser(chromium, running.start())
    page = browser.page
    page.goto(browser.url)
    page.select_option("#language", "fr")
    page.wait_for_selector("#connection:has-text('en direct')")
    before = browser.done()
    running.pass_gate()
    browser.until_done(before + 2)
    assert page.inner_text("h2:near(progress)") == "En cours"
    assert (browser.errors, browser.elsewhere) == ([], [])
    running.end()
    page.close()
