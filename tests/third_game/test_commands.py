"""Every command with a game that the arena has never seen, and that lacks all that is optional."""

import json
import re
import signal
import subprocess
import sys
import time
import urllib.request

import pytest

from arena.registry import REPORTS

pytestmark = pytest.mark.process

NO_LUCK = "note: open-six has no measure of luck: strokes stay as they are played\n"


def first_match(third, folder):
    """The id of an event's first match."""
    return third("replay", folder, "--json").stdout.partition('"id":"')[2].partition('"')[0]


def settings_of(folder):
    """What event.json says of the settings."""
    return json.loads((folder / "event.json").read_text())["settings"]


def test_run_says_that_luck_is_not_measured(third, event):
    """In one line; the ratings are those of the game's descriptor."""
    folder, done = event
    assert done.stderr.count(NO_LUCK) == 1
    settings = settings_of(folder)
    assert ("open-six", 8, "") == tuple(settings[k] for k in ("game", "turn_cap", "evaluator"))
    rating = settings["rating"]
    assert (0.02, 90.0, 15.0) == tuple(
        rating[k] for k in ("draw_probability", "forfeit_margin", "event_sd")
    )
    assert "keen@1" in done.stdout


def test_regret_is_refused_in_a_line(third, event):
    """No evaluator judges its moves."""
    folder, _ = event
    done = third("log", folder, "--regret", code=2)
    assert "open-six has no evaluator of moves, so there is no regret" in done.stderr


def test_run_without_luck_says_nothing_of_it(third):
    """Nothing is said of it where nobody asks for it."""
    folder, done = third.run("unmeasured", "--deals", "1", "--no-luck")
    assert "measure of luck" not in done.stderr
    assert "" == settings_of(folder)["evaluator"]


def test_what_needs_a_measure_of_luck_is_refused_in_a_line(third):
    """Ratings without luck can't be had."""
    _, done = third.run("refused", "--rate-on", "adjusted", code=2)
    assert "--rate-on adjusted takes the luck off, and open-six has no measure of it" in done.stderr


def test_seats_are_the_games(third):
    """Five are too many, for this game."""
    _, done = third.run("seats", "--seats", "5", code=2)
    assert "--seats 5: open-six is for 2 to 4 players" in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("--gauntlet", "keen", "--deals", "1"),
        ("--until-resolved", "--deals", "2", "--budget", "12", "--option", "spread=1"),
        ("--playoff", "--deals", "1"),
    ],
    ids=["gauntlet", "race", "playoff"],
)
@pytest.mark.long("every command with a third game", quick=("gauntlet",))
def test_other_formats_and_playoffs_are_played_and_verified(third, words):
    """A race rates on results, since there is no luck to take off."""
    name = words[0].strip("-")
    folder, done = third.run(name, *words)
    assert "results" == settings_of(folder)["rate_on"]
    assert "verified" in third("verify", folder).stdout
    assert ("many more matches" in done.stderr) == (name == "until-resolved")


def test_dry_run_says_what_would_be_played(third):
    """And plays nothing."""
    _, done = third.run("dry", "--deals", "2", "--dry-run")
    assert "4 matches" in done.stdout + done.stderr


def test_verify_proves_it_and_reruns_it(third, event):
    """By the game's own rules, and by its bots."""
    folder, _ = event
    assert "played again by the rules of open-six" in third("verify", folder).stdout
    again = third("verify", folder, "--rerun", "2", "--sandbox", "none").stdout
    assert "as recorded" in again


def test_a_move_that_was_changed_is_found(third, event, tmp_path):
    """Not only true events verify: a pass that was none is named."""
    folder, _ = event
    forged = tmp_path / "forged"
    subprocess.run(["cp", "-r", folder, forged], check=True)
    (log,) = forged.glob("matches*.jsonl")
    text = log.read_text()
    log.write_text(text.replace(",pass,", ",take 0,", 1))
    assert "line 1 (byte 0)" in third("verify", forged, code=5).stderr


def test_tables_and_ratings_in_each_format(third, event):
    """One event, and two together."""
    folder, _ = event
    other, _ = third.run("other", "--deals", "1", "--seed", "other")
    for kind in REPORTS:
        assert "keen@1" in third("table", folder, "--format", kind).stdout
        assert "keen@1" in third("rate", folder, other, "--format", kind).stdout


def test_replay_shows_the_cards_and_exports_them(third, event):
    """Three cards in a row, its own labels, its own move in words; steps without luck."""
    folder, _ = event
    match = first_match(third, folder)
    text = third("replay", folder, match).stdout
    assert "┌────┬────┬────┐\n" in text.replace(" ┌", "\n┌").replace("┐ ", "┐\n")
    assert "lets the turn pass" in text
    assert "│  W │" in text
    assert "luck" not in text
    steps = json.loads(third("replay", folder, match, "--export", "-").stdout)
    assert 6 == len(steps["holes"][0]["cards"][0])
    assert all("luck" not in step for hole in steps["holes"] for step in hole["steps"])
    assert third("replay", folder, match, "--as", "keen", "--hole", "1").stdout


def test_log_and_audit(third, event):
    """The records, a transcript, and a report whose capped holes the game tells."""
    folder, _ = event
    match = first_match(third, folder)
    records = [json.loads(line) for line in third("log", folder).stdout.splitlines()]
    assert 6 == len(records)
    assert not any(record.get("luck") for record in records)
    assert (
        '"game":"open-six"' in third("log", folder, "--transcript", match, "--bot", "keen").stdout
    )
    audit = json.loads(third("audit", folder, "--json").stdout)
    capped = sum(min(hole["scores"]) > 12 for record in records for hole in record["holes"][:9])
    assert capped
    assert capped == audit["capped"]["count"]
    assert "Ties and the turn cap" in third("audit", folder).stdout


def test_twins_of_a_game_that_was_not_measured(third, event):
    """It has no evaluator, and nobody knows how alike honest bots of it are."""
    folder, _ = event
    found = json.loads(third("twins", folder, "--sandbox", "none", "--json").stdout)
    assert (None, None, []) == (found["first_bar"], found["chance"], found["pairs"])
    assert 1 == found["skipped"]
    assert found["questions"] == found["bots"][0]["answered"]
    assert "No pair can be judged." in third("twins", folder, "--sandbox", "none").stdout


def test_feed_says_a_match_again(third, event):
    """To the bot that played it: the same answers."""
    folder, _ = event
    match = first_match(third, folder)
    third("feed", third.bots / "keen", folder, "--match", match, "--bot", "keen",
          "--sandbox", "none")  # fmt: skip


@pytest.mark.long("every command with a third game")
def test_prepare_shards_and_merge(third):
    """Prepared for two machines, played in parts, put together, verified."""
    third("prepare", *sorted(third.bots.iterdir()), "--game", "open-six", "--deals", "2",
          "--sandbox", "none", "--out", third.folder / "whole")  # fmt: skip
    for part in ("1", "2"):
        folder = third.folder / f"part{part}"
        subprocess.run(["cp", "-a", third.folder / "whole", folder], check=True)
        third("run", folder, "--shard", f"{part}/2", "--sandbox", "none")
    merged = third.folder / "merged"
    parts = [third.folder / "part1", third.folder / "part2"]
    assert "keen@1" in third("merge", *parts, "--out", merged).stdout
    assert "verified" in third("verify", merged).stdout


@pytest.mark.long("every command with a third game")
def test_an_event_that_was_stopped_goes_on(third):
    """After a time that is too short, and then to its end."""
    flags = ("--deals", "8", "--series", "2", "--max-time", "1ms", "--jobs", "1")
    folder, done = third.run("stopped", *flags)
    assert "go on with: arena resume" in done.stderr
    assert "keen@1" in third("resume", folder, "--sandbox", "none").stdout
    assert "verified" in third("verify", folder).stdout


@pytest.mark.long("every command with a third game")
def test_bots_are_added_to_an_event(third):
    """An epoch of it, under the same settings."""
    folder, _ = third.run("epochs", "--deals", "1")
    late = third.bots.parent / "late"
    subprocess.run(["cp", "-r", third.bots / "careless", late], check=True)
    (late / "bot.py").write_text((late / "bot.py").read_text() + "# late\n")
    done = third("run", late, "--into", folder, "--sandbox", "none")
    assert "late@1" in done.stdout
    assert "verified" in third("verify", folder).stdout


def test_match_is_shown_move_by_move(third):
    """With the game's own words, and recorded."""
    words = ("match", *sorted(third.bots.iterdir()), "--game", "open-six", "--sandbox", "none")
    watched = third(*words, "--watch", "--delay", "0s").stdout
    assert "lets the turn pass" in watched
    assert re.search(r"1\. keen@1: \d+ strokes", watched)
    assert 2 == len(json.loads(third(*words, "--json").stdout)["totals"])


@pytest.mark.long("every command with a third game")
def test_compare_rates_results(third):
    """The default takes luck off, where there is a measure of it; here there is none."""
    folder = third.folder / "comparison"
    done = third("compare", third.bots / "careless", third.bots / "keen", "--game", "open-six",
                 "--sandbox", "none", "--seed", "1", "--effect", "20", "--budget", "40",
                 "--out", folder, code=7)  # fmt: skip
    assert "keen@1 against careless@1: no decision" in done.stdout
    assert "results" == settings_of(folder)["rate_on"]
    assert NO_LUCK in done.stderr
    third("compare", third.bots / "careless", third.bots / "keen", "--game", "open-six",
          "--sandbox", "none", "--rate-on", "adjusted", code=2)  # fmt: skip
    margins = third("compare", "--help").stdout
    assert "open-six 90" in " ".join(margins.split())


@pytest.mark.long("every command with a third game")
def test_check_plays_every_game(third):
    """A bot of this game alone is no worse for it."""
    done = third("check", third.bots / "keen", "--game", "open-six", "--quick",
                 "--sandbox", "none")  # fmt: skip
    assert "0 failed" in done.stdout or "passed" in done.stdout


@pytest.mark.parametrize("language", ["python", "bash"])
@pytest.mark.long("every command with a third game", quick=("python",))
def test_a_new_bot_plays_it(third, language):
    """A scaffold knows no strategy for it, and no move that is wrong."""
    folder = third.folder / f"new-{language}"
    third("new", language, folder)
    done = third("match", folder, third.bots / "keen", "--game", "open-six",
                 "--sandbox", "none")  # fmt: skip
    assert re.search(rf"2\. new-{language}@1: \d+ strokes", done.stdout)


def test_a_person_plays_it_line_by_line(third):
    """Rules, offers in the game's words, reasons for what is no move of it, a kept match."""
    folder = third.folder / "seat"
    said = "?\nknock\nflip 1\ntee 0 1\nskip\ntake 6\ndiscard\nfly\n" + "pass\n" * 60
    done = third("play", third.bots / "keen", "--game", "open-six", "--sandbox", "none", "--lines",
                 "--turn-cap", "3", "--seed", "1", "--out", folder, stdin=said)  # fmt: skip
    text = done.stdout
    assert "Six open cards in two rows of three" in text
    assert "pass     no card at all" in text
    assert "there are: take, draw, pass, swap, discard" in text
    assert "there is no position 6: yours are 0 to 5" in text
    assert "that is for a card that you have drawn" in text
    assert "you let the turn pass" in text
    assert "The match is over" in text
    assert "verified" in third("verify", folder).stdout


def test_publish_makes_pages_without_dead_links(third, event):
    """Its sheet of rules is there in one language, and linked in that one alone."""
    folder, _ = event
    site = third.folder / "site"
    third("publish", folder, "--to", site)
    sheets = sorted(path.name for path in (site / "rules").glob("open-six.*"))
    assert ["open-six.en.html"] == sheets
    for page in site.rglob("*.html"):
        text = page.read_text("utf-8")
        for target in re.findall(r'href="([^"#?]+)', text):
            if not target.startswith(("http", "data:")):
                assert (page.parent / target).exists(), (page, target)
    ranking = (site / "index.html").read_text("utf-8")
    assert 'data-languages="en"' in ranking
    assert "Open Six" in ranking
    (replay,) = site.glob("e/*/replay.html")
    shown = re.search(r'data-cards="([^"]*)"', replay.read_text("utf-8"))[1].replace("&quot;", '"')
    cards = json.loads(shown.replace("&#39;", "'"))
    assert (3, {"0": "W"}, ["pass"]) == (
        cards["across"], cards["labels"], list(cards["sentences"])
    )  # fmt: skip


def test_without_any_sheet_no_page_links_one(third, event):
    """Rules pages are optional."""
    folder, _ = event
    site = third.folder / "site-without"
    sheet = third.folder / "arena" / "games" / "sheets" / "open-six.en.html"
    text = sheet.read_text("utf-8")
    sheet.unlink()
    try:
        # What was loaded while it was there knows of it.
        subprocess.run(
            [sys.executable, "-P", "-m", "arena", "publish", folder, "--to", site],
            cwd=third.folder,
            env=third.environment(),
            check=True,
        )
    finally:
        sheet.write_text(text, "utf-8")
    assert not list(site.glob("rules/open-six.*"))
    assert not any("open-six" in path.read_text("utf-8") for path in (site / "rules").iterdir())
    (ranking,) = site.glob("e/*/index.html")
    assert "data-rules" not in ranking.read_text("utf-8")


@pytest.mark.long("every command with a third game")
def test_live_shows_it(third):
    """The ranking, a match's page, the sheet that there is, and none that there isn't."""
    process = subprocess.Popen(
        [
            *(sys.executable, "-P", "-m", "arena", "run", *map(str, sorted(third.bots.iterdir()))),
            *("--game", "open-six", "--deals", "1", "--sandbox", "none", "--live", "0"),
            *("--live-stay", "--out", str(third.folder / "live")),
        ],
        cwd=third.folder,
        env=third.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        address = next(
            found[0] for line in process.stderr if (found := re.search(r"http://\S+/", line))
        )

        def get(path):
            try:
                with urllib.request.urlopen(address + path) as answer:
                    return answer.status, answer.read().decode()
            except urllib.error.HTTPError as error:
                return error.code, ""

        assert 200 == get("rules/open-six.en.html")[0]
        assert 404 == get("rules/open-six.fr.html")[0]
        pages = re.findall(r'href="(e/[^"]+)"', get("")[1]) or ["index.html"]
        until = time.monotonic() + 60
        while "keen" not in get(pages[0])[1]:
            assert time.monotonic() < until
            time.sleep(0.1)
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)


def test_commands_that_ask_no_game(third):
    """They work beside a third one as before."""
    assert "open-six" in third("run", "--help").stdout
    assert third("spec").stdout
    assert third("completion", "bash").stdout
    third("clean", "--help")
    third("fetch", "--help")
    third("doctor", "--help")
    third("stop", third.folder / "nowhere", code=2)
