"""Sites of small events, and a browser to look at them with.

Theory of operation. One site for most tests. A page is opened either from its
folder or from a server of this process under a sub-path; whatever else it asks for is refused and
remembered, and so is every line on its console.
"""

import functools
import http.server
import json
import os
import re
import shutil
import subprocess
import threading
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from arena.cli import commands
from arena.model import Entrant, Fault, FaultKind
from arena.site.segments import unscript

HOSTILE = Entrant(
    id="x-אבג@1",
    name="x-אבג",
    version="1",
    author="<b>&\u202egro.live`${1}`</script>",
    hash="a" * 64,
)


def told(kind=FaultKind.ILLEGAL):
    """A fault with every text in it that a bot has a say in, and none of it harmless."""
    return Fault(
        kind=kind,
        seat=0,
        hole=1,
        turn=1,
        message="<img src=x onerror=alert(1)> </script><script>alert(2)</script>",
        line="`${alert(3)}` \u202e\u2066 =HYPERLINK(1) ann " + "w" * 300,
        stderr="secret of ann: /home/ann/bot.py",
        status="exit 1",
    )


@pytest.fixture(scope="session")
def published():
    """`arena publish`, which has to succeed. Regrets take longer than all else: few are enough."""

    def run(*words):
        if "--regret" not in words:
            words += ("--regret", 2)
        done = CliRunner().invoke(commands, ["publish", *map(str, words)])
        assert done.exit_code == 0, (done.output, done.exception)
        return done

    return run


@pytest.fixture(scope="session")
def event(tmp_path_factory, play_event):
    """Three bots, one of them hostile and with a fault, at play-nine."""
    return play_event(
        tmp_path_factory.mktemp("event") / "nine",
        ("ann@1", "bob@1", HOSTILE),
        faults={3: told()},
        deals=2,
        evaluator="play-nine/1-a404a132d272",
    )


@pytest.fixture(scope="session")
def crowd(tmp_path_factory, play_event):
    """Eight bots at one table of four-card golf."""
    return play_event(
        tmp_path_factory.mktemp("event") / "four",
        tuple(f"bot{number}@1" for number in range(8)),
        game="four-card-golf",
        seats=8,
        turn_cap=30,
    )


@pytest.fixture(scope="session")
def site(tmp_path_factory, published, event, crowd):
    """Both events in a site."""
    path = tmp_path_factory.mktemp("site") / "site"
    title = ("--title", "Ladder <&> `x`")
    published(event, crowd, "--to", path, *title, "--regret", 50, "--jobs", 1)
    return path


def index_of(site):
    """What a site says of itself."""
    return json.loads((site / "arena-site.json").read_bytes())


def slug_of(site, game="play-nine"):
    """The folder of the event of that game."""
    return next(event["slug"] for event in index_of(site)["events"] if event["game"] == game)


def everything(site):
    """All bytes of a site by file; what its files of data hold is inflated."""
    for path in sorted(site.rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            if data.startswith(b"arenaData("):
                head = data.partition(b",")[0]
                data = head + msgspec.json.encode(unscript(data))
            yield path.relative_to(site), data


# ---------------------------------------------------------------------------------- browsing


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A static host that says nothing."""

    def log_message(self, *_):
        pass


@pytest.fixture(scope="session")
def hosted(site):
    """The site under a sub-path of a static host."""
    folder = site.parent
    handler = functools.partial(Quiet, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/{site.name}"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def browse(chromium, site):
    """Open a page of the site; in the end nothing may have gone wrong, nor left the machine."""
    contexts, wrong = [], []

    def open_page(path, *, at=None, phone=False, dark=False, language="en-GB", **context):
        opened = chromium.new_context(
            viewport={"width": 390, "height": 844} if phone else {"width": 1280, "height": 900},
            color_scheme="dark" if dark else "light",
            locale=language,
            **context,
        )
        opened.set_default_timeout(90_000)
        contexts.append(opened)
        base = at or site.as_uri()

        def see(route):
            url = route.request.url
            if url.startswith((base, "data:")):
                route.continue_()
            else:
                wrong.append(f"asked for {url}")
                route.abort()

        opened.route(re.compile(".*"), see)
        page = opened.new_page()
        page.on(
            "console",
            lambda line: line.type in ("error", "warning") and wrong.append(line.text),
        )
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("dialog", lambda dialog: (wrong.append(dialog.message), dialog.dismiss()))
        page.goto(f"{base}/{path}")
        page.wait_for_selector("html[data-ready]", state="attached")
        return page

    yield open_page
    for opened in contexts:
        opened.close()
    assert wrong == []


@pytest.fixture(scope="session")
def axe(tmp_path_factory):
    """The accessibility checker's script; skipped where npm can't get it."""
    kept = os.environ.get("ARENA_AXE")
    if kept:
        return Path(kept).read_text(encoding="utf-8")
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("there is no npm to get axe-core with; or name its file in ARENA_AXE")
    folder = tmp_path_factory.mktemp("axe")
    got = subprocess.run(
        [npm, "pack", "--silent", "axe-core@4"],
        cwd=folder, capture_output=True, timeout=120, check=False,
    )  # fmt: skip
    if got.returncode:
        pytest.skip("npm can't get axe-core here")
    packed = next(folder.glob("axe-core-*.tgz"))
    shutil.unpack_archive(packed, folder, "gztar", filter="data")
    return (folder / "package" / "axe.min.js").read_text(encoding="utf-8")
