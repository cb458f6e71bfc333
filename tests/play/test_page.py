"""The page: everything that is sent in whole matches, who may ask, and what comes late or twice."""

import json
import os
import re
import socket
import subprocess
import sys
from contextlib import closing
from http.client import HTTPConnection
from importlib.resources import files
from urllib.parse import urlsplit

import pytest
import trio

from arena import registry
from arena.cli import main
from arena.play.hints import ENGLISH
from arena.play.page import Page
from arena.replay.steps import unfold
from arena.site.words import LANGUAGES, strings
from arena.store import read_event, read_records, secret_of
from arena.verify.whole import verify

PATIENCE_S = 90


class Seat:
    """`arena play --browser`, and somebody who speaks HTTP with it and keeps every byte."""

    def __init__(self, folder, *words):
        self.folder = folder
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "arena", "play", *map(str, words), "--browser"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env={**os.environ, "PYTHONUTF8": "1"},
        )
        self.said = ""
        while not (found := re.search(r"play here: (\S+)", self.said)):
            line = self.process.stderr.readline().decode()
            assert line, self.said
            self.said += line
        self.url = urlsplit(found[1])
        self.host = self.url.netloc
        self.states = []
        self.streams = []

    def open(self, path="events"):
        asking = HTTPConnection(self.url.hostname, self.url.port, timeout=PATIENCE_S)
        asking.request("GET", self.url.path + path)
        answer = asking.getresponse()
        self.streams.append((asking, answer))
        return answer

    def next(self, stream):
        """The next state that wants something, or the event that says that all is over."""
        for line in stream:
            if line.startswith(b"event: elsewhere"):
                return "elsewhere"
            if line.startswith(b"data: ") and line != b"data: {}\n":
                state = json.loads(line[6:])
                assert not self.states or state["number"] >= self.states[-1]["number"]
                self.states.append(state)
                if state["wanted"]:
                    return state
        return None

    def ask(self, method="POST", path="do", body=b"", **headers):
        """Its status, headers and body."""
        with closing(HTTPConnection(self.url.hostname, self.url.port, timeout=PATIENCE_S)) as to:
            base = {"Origin": f"http://{self.host}"} if method == "POST" else {}
            headers = base | {name.replace("_", "-"): value for name, value in headers.items()}
            target = path if path.startswith("/") else self.url.path + path
            to.request(method, target, body=body, headers=headers)
            answer = to.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()

    def do(self, state, what):
        """Its status, and what is said."""
        body = json.dumps({"turn": state["turn"], "do": what}).encode()
        status, _, said = self.ask(body=body)
        return status, json.loads(said)

    def play(self, choose):
        """To the end of the match."""
        stream = self.open()
        while (state := self.next(stream))["wanted"] != "over":
            what = "next" if state["wanted"] == "hole" else choose(state)
            assert (200, {}) == self.do(state, what)
        return state

    def end(self):
        _, errors = self.process.communicate(timeout=PATIENCE_S)
        self.said += errors.decode()
        return self.process.returncode

    def close(self):
        self.process.kill()
        self.process.wait()
        for each in (*self.streams, *((self.process.stdout, self.process.stderr),)):
            for part in reversed(each):
                part.close()


@pytest.fixture
def seat(tmp_path):
    """Sit down at a page."""
    seats = []

    def sit(*words):
        seats.append(Seat(tmp_path, *words))
        return seats[-1]

    yield sit
    for each in seats:
        each.close()


def careless(state):
    """Some legal move, without a look."""
    return state["legal"][state["number"] % len(state["legal"])]


def knows(step_hole, count, phase, seat, seats):
    """(cards, letters) at a moment of a hole, by what a match has on record."""
    cards, known = [list(row) for row in step_hole.cards], list(step_hole.known)
    plays = 0
    for step in step_hole.steps:
        draw = step.move == "draw"
        if plays == count and not (draw and phase == "drawn"):
            break
        if step.cards:
            cards[step.seat] = list(step.cards)
        for other, letters in step.known:
            known[other] = letters
        plays += not draw
        if draw and plays == count:
            break
    return [
        [card if letter == "a" or (letter == "o" and other == seat) else None
         for card, letter in zip(cards[other], known[other], strict=True)]
        for other in range(seats)
    ]  # fmt: skip


STATE = {
    *("number", "match", "commitment", "wanted", "turn", "kept", "game", "about", "names", "seat"),
    *("hole", "holes", "order", "phase", "legal", "cards", "known", "discard", "pile", "stock"),
    *("drawn", "acting", "ended_by", "plays", "totals", "scores", "fallen", "places"),
}
"""All that a page is sent."""


@pytest.mark.process
@pytest.mark.parametrize(("game", "bots", "mine"), [("play-nine", 2, 1), ("four-card-golf", 3, 0)])
def test_nothing_is_sent_that_the_seat_can_t_know(seat, bot_folder, tmp_path, game, bots, mine):
    """Each state of a whole match, held against what the record says who knew at that moment."""
    sat = seat(
        *[bot_folder()] * bots, "--game", game, "--seat", mine, "--turn-cap", 4,
        "--delay", "0", "--out", "kept", "--no-playoff",
    )  # fmt: skip
    last = sat.play(careless)
    assert (200, {}) == sat.do(last, "leave")
    assert 0 == sat.end()
    folder = tmp_path / "kept"
    assert verify(folder, jobs=1).difference is None
    event, (record,) = read_event(folder), read_records(folder)
    steps = unfold(record, event, game=registry.game(game), secret=secret_of(folder, event))
    shown = 0
    for state in sat.states:
        assert state.keys() == STATE
        if not state["hole"] or state["places"]:
            continue
        hole = steps.holes[state["hole"] - 1]
        over = len(state["scores"]) == state["hole"]
        teeing = state["phase"] == "tee" and not over
        if over:
            expected = [list(cards) for cards in _last(hole)]
        else:
            count = 0 if teeing else len(state["plays"])
            expected = knows(hole, count, state["phase"], mine, bots + 1)
        assert expected == state["cards"]
        assert all(
            (letter == "h") == (card is None)
            for row, letters in zip(state["cards"], state["known"], strict=True)
            for card, letter in zip(row, letters, strict=True)
        )
        drawing = state["wanted"] == "move" and state["phase"] == "drawn"
        assert drawing == (state["drawn"] is not None)
        for play in state["plays"]:
            if game == "four-card-golf" and play["seat"] != mine:
                assert ("card" in play) == play["move"].startswith("take")
        shown += 1
    assert shown > 50
    assert record.totals == tuple(last["totals"])
    secret = event.secret.encode()
    assert all(secret not in json.dumps(state).encode() for state in sat.states)


def _last(hole):
    cards = dict(enumerate(hole.cards))
    for step in hole.steps:
        if step.cards:
            cards[step.seat] = step.cards
    return [cards[seat] for seat in sorted(cards)]


@pytest.mark.process
@pytest.mark.parametrize("path", ["*", "", "/", "token", "/token"])
async def test_an_address_that_has_no_token_or_nothing_below_it_is_not_found(path):
    """Also one that is no path at all, as in `GET *`."""
    sent = []

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "path": path, "method": "GET"}
    await Page(0, token="token")(scope, trio.sleep_forever, send)
    assert 404 == sent[0]["status"]


def test_who_may_ask_and_what_for(seat, bot_folder):
    """The token, our own names, pages of ours; late, double, illegal and broken answers."""
    sat = seat(bot_folder(), "--delay", "0")
    stream = sat.open()
    state = sat.next(stream)
    for status, method, path, headers in (
        (404, "GET", "/", {}),
        (404, "GET", "/play.js", {}),
        (404, "GET", "/wrong-token/events", {}),
        (404, "GET", "../../etc/passwd", {}),
        (404, "POST", "events", {}),
        (421, "GET", "", {"Host": "evil.example"}),
        (421, "POST", "do", {"Host": f"evil.example:{sat.url.port}"}),
        (403, "POST", "do", {"Origin": "http://evil.example"}),
        (403, "POST", "do", {"Origin": f"http://127.0.0.1:{sat.url.port + 1}"}),
        (403, "POST", "do", {"Sec_Fetch_Site": "cross-site"}),
        (405, "PUT", "do", {}),
        (400, "POST", "do", {}),
    ):
        assert status == sat.ask(method, path, b"{", **headers)[0], (method, path, headers)
    assert 413 == sat.ask(body=b"x" * 100_000)[0]
    status, headers, body = sat.ask("GET", "")
    assert (200, "no-store") == (status, headers["cache-control"])
    assert "script-src 'self'" in headers["content-security-policy"]
    for path in re.findall(r'(?:src|href)="([\w.]+)"', body.decode()):
        assert 200 == sat.ask("GET", path)[0]
    assert (409, {"key": "tee-first", "values": {}}) == sat.do(state, "take 3")
    assert (200, {}) == sat.do(state, "tee 5 0")
    late = (409, {"key": "too-late", "values": {}})
    assert late == sat.do(state, "tee 5 0")
    now = sat.next(stream)
    assert late == sat.do(state, "draw")
    assert late == sat.do({"turn": ""}, "draw")
    assert [now["turn"], "turn"] == [sat.states[-1]["turn"], now["phase"]]
    # A page that is loaded again has what it had, and the one before is told.
    again = sat.open()
    assert now == sat.next(again)
    assert "elsewhere" == sat.next(stream)
    assert (200, {}) == sat.do(now, "draw")
    assert "drawn" == sat.next(again)["phase"]
    assert (200, {}) == sat.do(now, "leave")
    assert "gone" == sat.next(again)["wanted"]
    assert 0 == sat.end()
    assert "left: the match isn't counted" in sat.said


def test_a_port_in_use_is_told(monkeypatch, capsys, bot_folder):
    """In one line."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        for words, said in (
            (["--browser", port], f"port {port} is in use"),
            (["--browser", "70000"], "70000"),
        ):
            monkeypatch.setattr(sys, "argv", ["arena", "play", str(bot_folder()), *words])
            with pytest.raises(SystemExit) as stopped:
                main()
            assert 2 == stopped.value.code
            told = capsys.readouterr().err
            assert 1 == told.count("\n")
            assert said in told


@pytest.mark.process
def test_without_the_extra_it_says_what_to_install(bot_folder):
    """In one line, before anything else is done."""
    code = (
        "import sys; sys.modules['h11'] = None; from arena.cli import main\n"
        "sys.argv = ['arena', 'play', sys.argv[1], '--browser']; main()"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code, bot_folder()],
        capture_output=True,
        text=True,
        check=False,
    )
    assert 2 == done.returncode
    assert (
        "arena: --browser needs h11, of the extra `live`: pip install 'nine-arena[live]'\n"
        == done.stderr
    )


def test_every_language_has_every_string():
    """The same keys with the same values, all that the script asks for, and each reason; what the
    site says too is the site's.
    """
    assets = files("arena.play") / "assets"
    words = {
        name: json.loads((assets / "strings" / f"{name}.json").read_text("utf-8"))
        for name in LANGUAGES
    }
    values = re.compile(r"\{(\w+)\}")
    for found in words.values():
        assert words["en"].keys() == found.keys()
        for key, text in found.items():
            assert text.strip()
            assert sorted(values.findall(words["en"][key])) == sorted(values.findall(text)), key
    reasons = {f"why_{key.replace('-', '_')}" for key in ENGLISH}
    assert reasons | {"why_too_late", "why_choose_first"} == {
        key for key in words["en"] if key.startswith("why_")
    }
    for key, text in ENGLISH.items():
        shown = words["en"][f"why_{key.replace('-', '_')}"]
        assert set(values.findall(shown)) <= set(values.findall(text))
    script = (assets / "play.js").read_text("utf-8") + (assets / "play.html").read_text("utf-8")
    asked = set(re.findall(r'\bt\("(\w+)"', script)) | set(re.findall(r'data-[ta]="(\w+)"', script))
    asked |= set(re.findall(r'button\("\w+", "(\w+)"', script))
    assert asked <= words["en"].keys() | strings("en").keys()
