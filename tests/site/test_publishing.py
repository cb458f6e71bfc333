"""`arena publish`: what it refuses, what it keeps, what it leaves out, and what it never tells."""

import hashlib
import json
import shutil

import msgspec
import pytest
from click.testing import CliRunner

from arena.cli import commands
from arena.event.results import table_of
from arena.model import Entrant, Machine, NotRun, UserError, pairing_id
from arena.site import match_files, publish
from arena.site.clearance import Clearance
from arena.site.folder import SiteFolder
from arena.site.segments import unscript
from arena.store import log_reader, read_event, read_records
from arena.store.folder import write_event
from tests.site.conftest import everything, index_of, slug_of, told


def refused(*words):
    """Refused with one line, which is returned."""
    done = CliRunner().invoke(commands, ["publish", *map(str, words)])
    assert done.exit_code == 2, done.output
    assert not isinstance(done.exception, (UserError, KeyError))
    (line,) = done.stderr.strip().splitlines()
    return line


def contents(site):
    return {str(path): hashlib.sha256(data).hexdigest() for path, data in everything(site)}


def altered(folder, **changes):
    """Change event.json."""
    write_event(folder, msgspec.structs.replace(read_event(folder), **changes))


def copy(event, to):
    return shutil.copytree(event, to)


def text_of(site, page="index.html"):
    (slug,) = [event["slug"] for event in index_of(site)["events"]]
    return (site / "e" / slug / page).read_text("utf-8")


def test_a_folder_that_is_no_site_of_ours_is_left_alone(tmp_path, event):
    """One line, and nothing in it has changed."""
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.txt").write_text("years of work")
    assert "neither empty nor a site" in refused(event, "--to", mine)
    assert [path.name for path in mine.iterdir()] == ["thesis.txt"]
    (mine / "arena-site.json").write_text("[]")
    assert "arena-site.json" in refused(event, "--to", mine)
    assert "it is no folder" in refused(event, "--to", mine / "thesis.txt")


@pytest.mark.parametrize("name", ["assets", "assets/lang", "bots", "rules", "e", "e/event"])
def test_nothing_is_written_or_removed_through_a_link(tmp_path, published, event, name):
    """Another user who can write to a site could have it lead anywhere; what lies there stays."""
    site, mine = tmp_path / "site", tmp_path / "mine"
    published(event, "--to", site)
    mine.mkdir()
    (mine / "thesis.html").write_text("years of work")
    place = site / (f"e/{slug_of(site)}" if name == "e/event" else name)
    shutil.rmtree(place)
    place.symlink_to(mine)
    assert "a link" in refused(event, "--to", site)
    assert [path.name for path in mine.iterdir()] == ["thesis.html"]


def test_of_bots_pages_those_that_nothing_leads_to_are_removed(tmp_path, published, event):
    """And no other file."""
    site = tmp_path / "site"
    published(event, "--to", site)
    first = contents(site)
    (site / "bots" / "left.html").write_text("of a bot that was in an event once")
    (site / "bots" / "robots.txt").write_text("somebody's own")
    published(event, "--to", site)
    assert contents(site).keys() - first.keys() == {"bots/robots.txt"}


def test_wrong_paths_and_flags_are_one_line(tmp_path, event):
    """And no site is begun."""
    site = tmp_path / "site"
    assert "no such folder" in refused(tmp_path / "nowhere", "--to", site)
    assert "--name" in refused(event, event, "--to", site, "--name", "x")
    assert "--alias-key" in refused(event, "--to", site, "--alias-key", tmp_path / "k")
    other = copy(event, tmp_path / "copy")
    assert "the same event" in refused(event, other, "--to", site)
    altered(other, shard="1/2")
    assert "merge" in refused(other, "--to", site)
    assert not site.exists()


def test_published_again_it_is_the_same_and_others_stay(tmp_path, published, event, crowd):
    """The same bytes; a second event comes beside the first, and the first page knows both."""
    site = tmp_path / "site"
    regret = ("--regret", 5)
    published(event, "--to", site, "--name", "Friday", *regret, "--jobs", 1)
    first = contents(site)
    segment = next(site.rglob("s0.js")).stat().st_ino
    published(event, "--to", site, *regret)
    assert contents(site) == first
    assert next(site.rglob("s0.js")).stat().st_ino == segment  # not made again
    published(crowd, "--to", site)
    assert {event["name"] for event in index_of(site)["events"]} == {"Friday", ""}
    home = (site / "index.html").read_text("utf-8")
    assert "Friday" in home
    assert "Four-Card Golf" in home


def test_a_part_of_the_bots(tmp_path, published, event):
    """Pages and matches of the others are left out; a wrong name is refused."""
    site = tmp_path / "site"
    assert "no bot is called so" in refused(event, "--to", site, "--only", "zed")
    assert not site.exists()
    published(event, "--to", site)
    whole = index_of(site)["events"][0]
    published(event, "--to", site, "--without", "x-*")
    part = index_of(site)["events"][0]
    assert ["ann@1", "bob@1"] == sorted(bot["id"] for bot in part["bots"])
    assert (12, 4) == (whole["listed"], part["listed"])
    assert "without x-" in text_of(site)
    hidden = tmp_path / "hidden"
    published(event, "--to", hidden, "--without", "x-*", "--anonymous")
    assert "without some bots" in text_of(hidden)


def test_who_is_who_is_printed_for_the_publisher_alone(tmp_path, published, event):
    """As text or JSON; each alias is one of the site, which has no name."""
    site, words = tmp_path / "site", ("--anonymous", "--print-aliases")
    for flags in (("--print-aliases",), ("--anonymous", "--json")):
        assert "goes with" in refused(event, "--to", site, *flags)
    lines = published(event, "--to", site, *words).stdout.splitlines()
    known = [
        json.loads(x) for x in published(event, "--to", site, *words, "--json").stdout.splitlines()
    ]
    assert {"ann@1", "bob@1"} < {each["bot"] for each in known}
    ids = {bot["id"] for bot in index_of(site)["events"][0]["bots"]}
    assert ids == {each["alias"] for each in known} == {line.split(" = ")[0] for line in lines}
    assert any("\u202e" in each["author"] for each in known)
    assert not any("\u202e" in line for line in lines)
    assert published(event, "--to", tmp_path / "named").stdout.endswith("index.html\n")


def test_an_event_that_has_a_name_is_called_so(tmp_path, published, play_event):
    """Unless it is given another for the site, which stays."""
    folder = play_event(tmp_path / "cup", name="Cup <2026>", derivation=2, predictable=True)
    site = tmp_path / "site"
    for words, name in (((), "Cup <2026>"), (("--name", "x"), "x"), ((), "x")):
        published(folder, "--to", site, *words)
        assert name == index_of(site)["events"][0]["name"]
    published(folder, "--to", tmp_path / "other")
    assert "<h1>Cup &lt;2026&gt;</h1>" in text_of(tmp_path / "other")


def test_a_bot_is_known_across_events(tmp_path, published, play_event):
    """By its name; and the same content under another name is told."""
    same = "b" * 64
    folders = [
        play_event(
            tmp_path / name,
            (Entrant(id=f"{name}@1", name=name, version="1", hash=same), "bob@1"),
        )
        for name in ("ann", "zoe")
    ]
    site = tmp_path / "site"
    published(*folders, "--to", site)
    bob = next((site / "bots").glob("bob-*.html")).read_text("utf-8")
    assert bob.count("../e/") == 2
    ann = next((site / "bots").glob("ann-*.html")).read_text("utf-8")
    assert "zoe-" in ann


def test_a_killed_publisher_leaves_a_site_that_can_be_published_to(tmp_path, published, event):
    """Half an event beside its place is removed, a whole one that was moved aside comes back."""
    site = tmp_path / "site"
    published(event, "--to", site)
    whole = contents(site)
    slug = slug_of(site)
    (site / "e" / f".{slug}.new").mkdir()
    (site / "e" / slug).rename(site / "e" / f".{slug}.old")
    folder = SiteFolder(site)
    folder.begin(folder.index)
    folder.close()
    assert contents(site) == whole
    assert [path.name for path in (site / "e").iterdir()] == [slug]
    published(event, "--to", site)
    assert contents(site) == whole


@pytest.mark.process
def test_there_is_one_publisher_at_a_time(tmp_path, published, event):
    """Another is told so in a line, and the first one's work is left alone."""
    site = tmp_path / "site"
    published(event, "--to", site)
    held = SiteFolder(site)
    refused = CliRunner().invoke(commands, ["publish", str(event), "--to", str(site)])
    assert refused.exit_code == 2
    assert f"arena: {site}: another arena is publishing there; wait for it\n" == refused.stderr
    held.close()
    published(event, "--to", site)


def test_no_event_takes_the_place_of_another(tmp_path, published, event, crowd, monkeypatch):
    """Even if somebody has found a commitment that begins alike."""
    monkeypatch.setattr(publish, "event_slug", lambda _: "same")
    site = tmp_path / "site"
    published(event, "--to", site)
    refused = CliRunner().invoke(commands, ["publish", str(crowd), "--to", str(site)])
    assert refused.exit_code == 2
    assert "publish it to a site of its own" in refused.stderr
    assert ["play-nine"] == [each["game"] for each in index_of(site)["events"]]


def test_processes_change_nothing(tmp_path, published, play_event, monkeypatch):
    """Segments made by two processes are those of one."""
    monkeypatch.setattr(match_files, "ALONE", 0)
    event = play_event(tmp_path / "event", ("ann@1", "bob@1", "cat@1"), deals=8)
    for jobs in (1, 2):
        published(event, "--to", tmp_path / f"site{jobs}", "--regret", 3, "--jobs", jobs)
    one, two = contents(tmp_path / "site1"), contents(tmp_path / "site2")
    differ = {name for name in one if one[name] != two[name]}
    assert sum(name.endswith("s1.js") for name in one) == 1
    assert differ <= {"arena-site.json", "feed.xml"}  # each site has an id of its own


def test_neither_stderr_nor_hosts_nor_paths_are_published_unless_asked_for(
    tmp_path, published, play_event
):
    """All bytes of a site are looked through."""
    event = play_event(tmp_path / "event-of-secret-project", faults={0: told()})
    altered(
        event,
        machine=Machine(system="host-of-ann", cpu="rare cpu"),
        not_run=(NotRun(name="/home/ann/eve@1", reason="/home/ann/eve: no compiler"),),
    )
    private = [b"secret of ann", b"host-of-ann", b"rare cpu", b"/home/ann", b"secret-project"]
    published(event, "--to", tmp_path / "site")
    everywhere = b"".join(data for _, data in everything(tmp_path / "site"))
    assert [text for text in private if text in everywhere] == []
    assert b"eve@1" in everywhere
    published(event, "--to", tmp_path / "open", "--with-stderr", "--with-host")
    everywhere = b"".join(data for _, data in everything(tmp_path / "open"))
    assert [text for text in private[:4] if text not in everywhere] == []


@pytest.fixture
def class_event(tmp_path, play_event):
    """Of people who must not be known, with a secret that nobody can guess."""

    def play(folder, names=("Jonas@jb1", "Amélie@2", "kimberley@7")):
        entrants = tuple(
            Entrant(
                id=name,
                name=name.partition("@")[0],
                version=name.partition("@")[2],
                author=f"{name.partition('@')[0]} Zampel",
                hash=hashlib.sha256(name.encode()).hexdigest(),
            )
            for name in names
        )
        fault = msgspec.structs.replace(
            told(), message="Jonas has failed", line="i am jonas", stderr="/home/Jonas"
        )
        event = play_event(tmp_path / folder, entrants, faults={1: fault}, deals=2)
        altered(event, predictable=False)
        return event

    return play


def test_an_anonymous_site_names_nobody(tmp_path, published, class_event):
    """No name, author, version, content hash or true pairing in any byte, file names included; and
    no secret, from which pairings follow.
    """
    event = class_event("one")
    held = read_event(event)
    key = tmp_path / "aliases.key"
    flags = ("--anonymous", "--alias-key", key, "--regret", 50)
    published(event, "--to", tmp_path / "site", *flags)
    ids = [entrant.id for entrant in held.entrants]
    private = [held.secret, *ids, "jb1", "Zampel"]
    for entrant in held.entrants:
        private += [entrant.name, entrant.author, entrant.hash, entrant.hash[:12]]
    private += [pairing_id([one, two]) for one in ids for two in ids if one < two]
    everywhere = [(str(path), data) for path, data in everything(tmp_path / "site")]
    for text in private:
        low = text.casefold()
        escaped = json.dumps(text)[1:-1].casefold()
        for path, data in everywhere:
            shown = data.decode("utf-8").casefold()
            assert low not in shown, (text, path)
            assert escaped not in shown, (text, path)
            assert low not in path.casefold(), (text, path)
    assert oct(key.stat().st_mode & 0o777) == "0o600"
    index = index_of(tmp_path / "site")
    assert index["events"][0]["replays"] == 12
    assert "named" not in index


def test_aliases_are_the_same_in_a_site_and_others_in_another(tmp_path, published, class_event):
    """Across publishes and events; two sites can't be laid side by side."""
    key = tmp_path / "aliases.key"
    one, two = class_event("one"), class_event("two", names=("kimberley@7", "Jonas@jb2"))
    published(one, "--to", tmp_path / "site", "--anonymous", "--alias-key", key)
    first = {bot["name"] for bot in index_of(tmp_path / "site")["events"][0]["bots"]}
    published(two, "--to", tmp_path / "site", "--anonymous", "--alias-key", key)
    names = [
        {bot["name"] for bot in event["bots"]} for event in index_of(tmp_path / "site")["events"]
    ]
    assert first in names
    assert sorted(map(len, names)) == [2, 3]
    assert min(names, key=len) < first
    published(one, "--to", tmp_path / "other", "--anonymous", "--alias-key", key)
    others = {bot["name"] for bot in index_of(tmp_path / "other")["events"][0]["bots"]}
    assert first.isdisjoint(others)


def test_a_site_is_anonymous_or_it_is_not(tmp_path, published, class_event, event):
    """Names never come beside aliases, and another key's aliases don't either."""
    key, site = tmp_path / "aliases.key", tmp_path / "site"
    one = class_event("one")
    published(one, "--to", site, "--anonymous", "--alias-key", key)
    assert "add --anonymous" in refused(one, "--to", site)
    other = tmp_path / "other.key"
    assert "another key" in refused(one, "--to", site, "--anonymous", "--alias-key", other)
    assert "within the site" in refused(one, "--to", site, "--anonymous", "--alias-key", site / "k")
    key.write_text("abc")
    assert "no key of aliases" in refused(one, "--to", site, "--anonymous", "--alias-key", key)
    named = tmp_path / "named"
    published(event, "--to", named)
    assert "a folder of its own" in refused(event, "--to", named, "--anonymous")
    both = ("--anonymous", "--alias-key", other, "--with-stderr")
    assert "may hold names" in refused(one, "--to", tmp_path / "new", *both)


def test_the_default_key_is_kept_with_the_users_own_state(
    tmp_path, published, class_event, monkeypatch
):
    """Not in the site, and not beside it."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    published(class_event("one"), "--to", tmp_path / "site", "--anonymous")
    assert (tmp_path / "state" / "nine-arena" / "aliases.key").is_file()


def test_cards_that_can_be_guessed_are_not_shown_under_aliases(tmp_path, published, event):
    """From a seed and two names follow their deals: so no replays, and the page says so."""
    key = tmp_path / "aliases.key"
    published(event, "--to", tmp_path / "site", "--anonymous", "--alias-key", key)
    assert index_of(tmp_path / "site")["events"][0]["replays"] == 0
    assert not list(tmp_path.rglob("s0.js"))
    assert "can be guessed" in text_of(tmp_path / "site")


def test_the_order_of_matches_tells_nothing(class_event):
    """Under aliases they are sorted by what is published, not by ids that a list of names gives."""
    clearing = Clearance(key=b"k" * 32)
    ids = [f"{number:012x}-000000-0" for number in range(50)]
    shown = [clearing.match(match) for match in ids]
    assert shown != sorted(shown)
    assert len(set(shown)) == 50
    assert all(match.endswith("-000000-0") for match in shown)


def test_an_alias_of_who_was_withdrawn_before_an_epoch_is_not_undone(event):
    """Its settings name it though it isn't among the entrants."""
    table = table_of(event)
    settings = msgspec.structs.replace(table.event.settings, withdrawn=("paula@1",))
    shown = msgspec.structs.replace(
        table, event=msgspec.structs.replace(table.event, settings=settings)
    )
    for key, named in ((b"", True), (b"k" * 32, False)):
        made = msgspec.json.encode(Clearance(key=key).table(shown))
        assert named == (b"paula" in made)


def test_the_order_of_a_table_tells_nothing(event):
    """Rows of the same rating, pairs and bots are in the order of what is published."""
    table = table_of(event)
    replace = msgspec.structs.replace
    rows = [replace(row, mu=25.0, rank=1, note="") for row in table.rows]
    rows.sort(key=lambda row: row.entrant)
    for number in range(20):  # by one key alone they could be in order by chance
        shown = Clearance(key=bytes([number]) * 32).table(replace(table, rows=tuple(rows)))
        for ids in (
            [row.entrant for row in shown.rows],
            [(duel.row, duel.column) for duel in shown.duels],
            [entrant.id for entrant in shown.event.entrants],
        ):
            assert ids == sorted(ids)


def unfinished(event, folder, *, private=True):
    """The same event, stopped before its end."""
    copy(event, folder)
    held = read_event(folder)
    if private:
        content = {"secret": held.secret, "sources": {}, "cache": ""}
        (folder / "private.json").write_text(json.dumps(content))
    altered(folder, finished=False, secret="")
    return folder, held.secret


def test_of_an_event_that_is_not_over_no_card_is_published(tmp_path, published, event):
    """Its table is, and the page says why there are no replays."""
    folder, secret = unfinished(event, tmp_path / "event")
    published(folder, "--to", tmp_path / "site")
    assert "is over" not in text_of(tmp_path / "site").partition("nav")[2]
    assert "be looked at card by card yet" in text_of(tmp_path / "site")
    assert "ann@1" in text_of(tmp_path / "site")
    everywhere = b"".join(data for _, data in everything(tmp_path / "site"))
    assert secret.encode() not in everywhere
    assert not list((tmp_path / "site").rglob("s[0-9]*.js"))
    assert b'"known"' not in everywhere
    assert not list((tmp_path / "site").rglob("replay.html"))


def test_of_an_event_that_is_not_over_no_word_of_a_bot_is_published(tmp_path, published, event):
    """A line that was no legal move can hold its cards, and so can stderr; the kind is told."""
    folder, _ = unfinished(event, tmp_path / "event")
    published(folder, "--to", tmp_path / "site", "--with-stderr")
    everywhere = b"".join(data for _, data in everything(tmp_path / "site"))
    for text in (b"HYPERLINK", b"secret of ann", b"alert(", b"exit 1"):
        assert text not in everywhere
    assert b"illegal" in everywhere


def test_without_its_secret_an_event_has_no_table_yet(tmp_path, published, event):
    """A copy without private.json: what it is can be told, how it stands can't."""
    folder, _ = unfinished(event, tmp_path / "event", private=False)
    done = published(folder, "--to", tmp_path / "site")
    assert "Only how it was run is shown" in text_of(tmp_path / "site")
    assert "the secret has not been revealed yet" in done.stderr
    assert "play-nine" in text_of(tmp_path / "site", "method.html")


def test_a_log_is_read_once_and_then_where_its_records_are(tmp_path, published, event, monkeypatch):
    """One pass for count, history and places; each record that counts once more, as the newest are
    for their regret.
    """
    passes, looked_up = 0, 0
    lines, line_at = log_reader.read_lines, log_reader.line_at

    def counted(*words):
        nonlocal passes
        passes += 1
        return lines(*words)

    def noted(*words):
        nonlocal looked_up
        looked_up += 1
        return line_at(*words)

    folder = copy(event, tmp_path / "event")
    matches = len(list(read_records(folder)))
    monkeypatch.setattr(log_reader, "read_lines", counted)
    monkeypatch.setattr(log_reader, "line_at", noted)
    published(folder, "--to", tmp_path / "site", "--regret", 2)
    assert (1, matches + 2) == (passes, looked_up)


def test_what_is_wrong_with_the_arena_is_not_told_of_the_log(tmp_path, event, monkeypatch):
    """A match is shown as one that its deals don't make only where they don't."""

    def no_measure(*_words, **_named):
        raise UserError("there is no measure of luck for 'bridge'")

    monkeypatch.setattr("arena.site.match_files.unfold", no_measure)
    folder = copy(event, tmp_path / "event")
    done = CliRunner().invoke(commands, ["publish", str(folder), "--to", str(tmp_path / "site")])
    assert done.exit_code == 2
    assert "no measure of luck" in done.stderr


def test_a_damaged_log_is_published_as_far_as_it_is_whole(tmp_path, published, event):
    """The table; and the page says what is missing."""
    folder = copy(event, tmp_path / "event")
    log = folder / "matches.jsonl"
    data = bytearray(log.read_bytes())
    data[200] ^= 1
    log.write_bytes(data)
    (folder / "matches.index").unlink(missing_ok=True)
    published(folder, "--to", tmp_path / "site")
    assert "is damaged" in text_of(tmp_path / "site")
    assert "bob@1" in text_of(tmp_path / "site")


def test_matches_that_are_missing_are_told(tmp_path, published, event):
    """The log was cut at a line."""
    folder = copy(event, tmp_path / "event")
    log = folder / "matches.jsonl"
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:-2]))
    (folder / "matches.index").unlink(missing_ok=True)
    published(folder, "--to", tmp_path / "site")
    assert "missing from its log" in text_of(tmp_path / "site")
    log.write_bytes(b"")
    (folder / "matches.index").unlink(missing_ok=True)
    published(folder, "--to", tmp_path / "bare")
    assert "missing from its log" in text_of(tmp_path / "bare")
    assert "No match has been played yet" not in text_of(tmp_path / "bare"), "they were played"


def test_an_event_without_a_match_and_one_without_an_opponent(tmp_path, published, event):
    """Both have pages that say so."""
    empty, _ = unfinished(event, tmp_path / "empty")
    (empty / "matches.jsonl").write_bytes(b"")
    (empty / "matches.index").unlink(missing_ok=True)
    published(empty, "--to", tmp_path / "site1")
    assert "No match has been played yet" in text_of(tmp_path / "site1")
    alone, _ = unfinished(event, tmp_path / "alone")
    (alone / "matches.jsonl").write_bytes(b"")
    (alone / "matches.index").unlink(missing_ok=True)
    altered(alone, entrants=read_event(alone).entrants[:1])
    published(alone, "--to", tmp_path / "site2")
    assert "only one bot" in text_of(tmp_path / "site2")
    assert "met nobody" in text_of(tmp_path / "site2", "matrix.html")


def test_a_record_that_the_deals_do_not_make_is_not_shown(tmp_path, published, event):
    """A forged secret: the table stands, no match can be looked at, and the page says so."""
    folder = copy(event, tmp_path / "event")
    altered(folder, secret="ab" * 32)
    done = published(folder, "--to", tmp_path / "site")
    slug = slug_of(tmp_path / "site")
    told_of = index_of(tmp_path / "site")["events"][0]["missing"]
    assert told_of, done.output
    for path in (tmp_path / "site" / "e" / slug).rglob("s0.js"):
        assert all(match.get("unshown") for match in unscript(path.read_bytes()))
