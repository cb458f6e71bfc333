"""A real event, looked at over real sockets while it is played."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from arena.deals import secret_from_seed
from arena.event.results import table_of
from arena.store import read_event, read_records

pytestmark = pytest.mark.process

SECRET = secret_from_seed("live")
MATCHES = 16
PARTS = "head:index.html progress ranking matches notes"


def event_path(look):
    """Where the event's pages lie."""
    status, _ = look.get("/")
    assert status == 302
    return re.search(rb"location: (\S+)/index.html", look.bytes)[1].decode()


def address(event, record):
    """Of a match's cards."""
    return f"{event}/m/{record.id}.json"


def assert_untold(seen, records):
    """Nothing of the secret, and of these matches no hole's moves."""
    assert SECRET.hex().encode() not in seen
    assert SECRET not in seen
    for record in records:
        for hole in record.holes:
            moves = hole.moves.split(",")
            spelled = (hole.moves, ", ".join(moves), json.dumps(moves))
            assert not any(text.encode() in seen for text in spelled)


def done_of(fragments):
    """How many matches a progress fragment tells."""
    return int(re.search(r'data-done="(\d+)"', fragments["progress"])[1])


def test_viewers_see_progress_and_the_final_table(running, viewer):
    """From the middle of the event to the table that `arena table` prints; then they are let go."""
    look = viewer(running.start())
    while len(list(read_records(running.results))) < 6:
        running.until("match")
    done, rankings, commitments = [], [], []
    for kind, _, data in look.messages(f"/live?parts={PARTS.replace(' ', '%20')}"):
        if kind == "hello":
            commitments.append(data)
        if kind != "message":
            continue
        fragments = json.loads(data)
        assert fragments.keys() <= set(PARTS.split())
        rankings += [fragments["ranking"]] if "ranking" in fragments else []
        if "progress" in fragments:
            done.append(done_of(fragments))
            for gate in running.gates:
                gate.touch()
    assert done == sorted(done)
    assert 6 <= done[0] < MATCHES == done[-1]
    code, _ = running.end()
    assert code == 0
    assert commitments == [read_event(running.results).commitment]
    for row in table_of(running.results).rows:
        assert f'data-n="{row.mu:.2f}"' in rankings[-1]
    assert len(rankings) > 1


def test_no_card_of_a_deal_is_sent_before_it_is_over(running, viewer):
    """Neither on a page nor at an address that is guessed; then the match can be opened."""
    look = viewer(running.start())
    event = event_path(look)
    while len(list(read_records(running.results))) < 6:
        running.until("match")
    pages = [f"{event}/{name}" for name in ("index.html", "matrix.html", "method.html")]
    pages += [f"{event}/{name}" for name in ("replay.html", "table.json", "m/index.json")]
    records = list(read_records(running.results))

    def look_at_all():
        for path in pages:
            assert look.get(path)[0] == 200
        asked = look.messages(f"/live?parts={'%20'.join(PARTS.split())}%20matrix%20method")
        next(asked)
        next(asked)

    look_at_all()
    # The first rotation of four deals is over, and the second waits in its second match.
    assert {record.deal for record in records} == {0, 1, 2, 3}
    assert [look.get(address(event, record))[0] for record in records] == [403] * 6
    assert_untold(look.bytes, records)
    running.pass_gate()
    while len(list(read_records(running.results))) < 10:
        running.until("match")
    records = list(read_records(running.results))
    over, secret = records[:8], records[8:]
    assert not {record.deal for record in over} & {record.deal for record in secret}
    look_at_all()
    assert [look.get(address(event, record))[0] for record in secret] == [403] * len(secret)
    assert_untold(look.bytes, secret)
    for record in over:
        status, body = look.get(address(event, record))
        assert status == 200
        (shown,) = json.loads(body)
        assert shown["id"] == record.id
        assert [[step["move"] for step in hole["steps"]] for hole in shown["holes"]] == [
            hole.moves.split(",") for hole in record.holes
        ]
    assert_untold(look.bytes, secret)
    for wrong in ("m/x.json", f"m/{'0' * 12}-000000-0.json", "m/..%2f..%2fprivate.json", "x"):
        assert look.get(f"{event}/{wrong}")[0] in (403, 404)
    assert b"private" not in look.bytes
    assert running.end()[0] == 0


@pytest.mark.long("a live event to its end")
def test_what_is_asked_for_is_read_alone(running, viewer):
    """Other methods, another host's name, no other address of this machine."""
    look = viewer(running.start(gated=False))
    port = look.url.port
    assert look.get("/", Host="evil.example")[0] == 421
    # A sheet of rules leads to those of the other games.
    for game in ("play-nine", "four-card-golf"):
        assert look.get(f"/rules/{game}.ja.html")[0] == 200
    assert look.get("/rules/other.ja.html")[0] == 404
    with socket.create_connection(("127.0.0.1", port)) as client:
        client.sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n")
        assert client.recv(100).startswith(b"HTTP/1.1 405")
    tables = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
    lines = [line.split() for table in tables for line in table.read_text().splitlines()[1:]]
    listening = [line[1] for line in lines if line[3] == "0A" and line[1].endswith(f":{port:04X}")]
    assert listening == [f"0100007F:{port:04X}"]
    assert running.end()[0] == 0


@pytest.mark.long("a live event to its end")
def test_slow_and_vanished_viewers_hold_up_nothing(running, viewer):
    """One never reads, one is reset, one hangs up in the middle: the event ends, so does arena."""
    look = viewer(running.start())
    with ExitStack() as stack:
        stuck = [
            stack.enter_context(socket.create_connection(("127.0.0.1", look.url.port)))
            for _ in range(5)
        ]
        for client in stuck:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
            client.sendall(b"GET /live?parts=ranking HTTP/1.1\r\nHost: localhost\r\n\r\n")
        linger = (1).to_bytes(4, "little") + bytes(4)
        stuck[1].setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        stuck[1].close()
        stuck[2].close()
        rest = look.messages("/live?parts=progress")
        assert next(rest)[0] == "hello"
        next(rest)
        code, errors = running.end()
    assert (code, "live page" in errors) == (0, False)
    assert [kind for kind, _, _ in rest][-1] == "end"


@pytest.mark.long("a live event to its end")
def test_who_comes_back_gets_what_is_new(running, viewer):
    """By the last id that it got, or that its page had; an id of another run says nothing."""
    look = viewer(running.start())
    while len(list(read_records(running.results))) < 6:
        running.until("match")
    stream = look.messages("/live?parts=progress%20method")
    next(stream)
    _, last, data = next(stream)
    assert json.loads(data).keys() == {"progress", "method"}
    again = look.messages("/live?parts=progress%20method", **{"Last-Event-ID": last})
    assert next(again)[0] == "hello"
    running.pass_gate()
    _, _, data = next(again)
    assert json.loads(data).keys() == {"progress"}
    other = look.messages("/live?parts=progress%20method", **{"Last-Event-ID": "0badcafe-1"})
    next(other)
    assert json.loads(next(other)[2]).keys() == {"progress", "method"}
    running.end()


@pytest.mark.long("a live event to its end")
def test_ctrl_c_ends_it_cleanly_and_a_resume_is_the_same_event(running, viewer):
    """Viewers are told that it has stopped; the same port can be taken at once by who goes on."""
    look = viewer(running.start())
    while len(list(read_records(running.results))) < 6:
        running.until("match")
    stream = look.messages("/live?parts=progress")
    next(stream)
    next(stream)
    running.process.send_signal(signal.SIGINT)
    running.until("note")
    code, errors = running.end()
    assert code == 130
    assert "Traceback" not in errors
    kinds = [(kind, data) for kind, _, data in stream]
    assert kinds[-1] == ("end", "stopped")
    url = running.start(running.results, command="resume", live=("--live", str(look.url.port)))
    assert url == look.url.geturl()
    stream = look.messages("/live?parts=progress")
    assert [kind for kind, _, _ in stream][-1] == "end"
    assert running.end()[0] == 0


@pytest.mark.long("a live event to its end")
def test_twice_is_at_once(running, viewer):
    """Two signals end an event with viewers as fast as one without."""
    look = viewer(running.start())
    stream = look.messages("/live?parts=progress")
    next(stream)
    running.process.send_signal(signal.SIGUSR1)
    _, errors = running.process.communicate(timeout=90)
    assert running.process.returncode == 143
    assert "Traceback" not in errors


@pytest.mark.long("a live event to its end")
def test_it_stays_when_that_is_asked_for(running, viewer):
    """The final page, with everything open, until Ctrl-C; the exit code is the event's."""
    look = viewer(running.start(live=("--live", "--live-stay"), gated=False))
    event = event_path(look)
    assert running.until("end")["finished"]
    running.until("note")
    records = list(read_records(running.results))
    assert [look.get(address(event, record))[0] for record in records] == [200] * MATCHES
    page = look.get(f"{event}/method.html")[1]
    assert SECRET.hex() in page
    assert "&lt;b&gt;bob&lt;/b&gt;" in page
    assert b"<b>bob" not in look.bytes
    kinds = [kind for kind, _, _ in look.messages("/live?parts=progress")]
    assert kinds == ["hello", "message", "end"]
    running.process.send_signal(signal.SIGINT)
    assert running.end()[0] == 0


@pytest.fixture
def arena(warm):
    """Run a command that ends at once."""
    return warm


def test_a_port_in_use_is_one_line(arena, tmp_path):
    """Before anything else is begun."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = arena("run", tmp_path, "--live", port, "--out", tmp_path / "event")
    assert done.returncode == 2
    assert done.stderr == (
        f"arena: port {port} is in use; name another, or none: then one that is free is taken\n"
    )
    assert not (tmp_path / "event").exists()


def test_flags_that_belong_to_it(arena, tmp_path):
    """Are refused without it."""
    done = arena("run", tmp_path, "--live-stay")
    assert (done.returncode, done.stderr) == (2, "arena: --live-stay goes with --live\n")


def test_what_follows_live_is_its_port_only_if_it_is_a_number(arena, tmp_path):
    """`arena run --live bots/*` doesn't take the first bot for a port."""
    done = arena("run", "--live", tmp_path / "bot")
    assert "does not exist" in done.stderr
    assert "--live" not in done.stderr


def test_without_the_extra_it_says_what_to_install(tmp_path):
    """One line, and nothing is begun."""
    (tmp_path / "sitecustomize.py").write_text("import sys; sys.modules['h11'] = None\n")
    done = subprocess.run(
        [sys.executable, "-P", "-m", "arena", "run", str(tmp_path), "--live"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    assert done.returncode == 2
    assert done.stderr == (
        "arena: --live needs h11, of the extra `live`: pip install 'nine-arena[live]'\n"
    )
