"""The live canary: a confined program looks around and tells what it could reach.

Version numbers and kernel settings say little about whether a sandbox holds; this starts one and
tries. The program is a shell script, because a shell is what every machine has; what a script
can only claim (its namespaces, its uid) is compared with what this process sees from outside.
"""

from __future__ import annotations

import os
import select
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from arena.model import HostError
from arena.sandbox import Exited, Launch, Plan, Started
from arena.sandbox.client import Spawner

DEADLINE_S = 15.0
"""A start takes 10 ms; a machine that needs seconds is in no state to judge."""

OUTPUT_BYTES = 16_384
"""The script prints some 30 lines."""

NAMESPACES = ("net", "pid", "mnt", "ipc", "uts", "user")

_SCRIPT = r"""
for n in net pid mnt ipc uts user; do echo "namespace $n $(readlink /proc/self/ns/$n)"; done
while read -r name rest; do
  case $name in lo:*|Inter-*|face*) ;; *) echo "reach the network interface $name" ;; esac
done </proc/net/dev
for d in / /bot /dev /etc /tmp /usr /proc /proc/sys/kernel; do
  if ( : >"$d/canary" ) 2>/dev/null; then echo "reach write access to $d"; fi
done
if [ -e "$1" ]; then echo "reach a file of the referee"; fi
if ( : <"$1" ) 2>/dev/null; then echo "reach a file of the referee"; fi
if [ -n "$(tr -d '\0' </proc/1/environ 2>/dev/null)" ]; then echo "reach the environment"; fi
for p in /proc/[0-9]*; do
  case ${p#/proc/} in 1|2) ;; *)
    if [ "${p#/proc/}" != "$$" ]; then echo "reach the process ${p#/proc/}"; fi ;;
  esac
done
while read -r key value rest; do
  case $key in
    CapEff:|CapPrm:|CapBnd:|CapAmb:)
      case $value in *[!0]*) echo "reach capabilities ($key $value)" ;; esac ;;
    NoNewPrivs:) if [ "$value" != 1 ]; then echo "reach new privileges" ; fi ;;
  esac
done </proc/self/status
echo done
read -r _
"""


def wrong(plan: Callable[[Launch], Plan]) -> str:
    """What is wrong with the sandbox that `plan` gives; empty when it holds."""
    with tempfile.TemporaryDirectory(prefix="arena-canary-") as folder:
        root = Path(folder, "bot")
        root.mkdir()
        secret = Path(folder, "secret")
        secret.write_text("the referee's own\n")
        launch = Launch(run=("/bin/sh", "-c", _SCRIPT, "canary", str(secret)), root=str(root))
        try:
            with Spawner() as spawner:
                return _look(spawner, plan(launch))
        except HostError as error:
            return str(error)


def _look(spawner: Spawner, plan: Plan) -> str:
    bot = spawner.spawn(plan)
    try:
        output = b""
        pid = 0
        deadline = time.monotonic() + DEADLINE_S
        while not output.endswith(b"done\n"):
            left = deadline - time.monotonic()
            news_fd = spawner.fileno()
            ready, _, _ = select.select([news_fd, bot.stdout], [], [], max(left, 0))
            if not ready:
                return "the canary did not answer in time"
            if news_fd in ready:
                for news in spawner.receive():
                    if isinstance(news, Started):
                        pid = news.pid
                    elif isinstance(news, Exited):
                        return news.host_error or _silent(bot.stderr, news)
            elif chunk := os.read(bot.stdout, OUTPUT_BYTES):
                output += chunk
                if len(output) > OUTPUT_BYTES:
                    return "the canary talks without end"
        return _judged(output.decode(errors="replace"), pid)
    finally:
        for descriptor in (bot.stdin, bot.stdout, bot.stderr):
            os.close(descriptor)


def _silent(stderr: int, exited: Exited) -> str:
    text = os.read(stderr, 500).decode(errors="replace")
    return f"the canary ended early ({exited.code}, {exited.signal}): {' '.join(text.split())}"


def _judged(output: str, pid: int) -> str:
    found = {}
    for line in output.splitlines():
        what, _, rest = line.partition(" ")
        if what == "reach":
            return f"the canary could reach {rest}"
        if what == "namespace":
            name, _, identity = rest.partition(" ")
            found[name] = identity
    for name in NAMESPACES:
        if not found.get(name):
            return f"the canary could not see its {name} namespace"
        if found[name] == str(Path(f"/proc/self/ns/{name}").readlink()):
            return f"the canary shares the {name} namespace with the referee"
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("Uid:") and "0" in line.split():
            return "the canary runs as root"
    return ""
