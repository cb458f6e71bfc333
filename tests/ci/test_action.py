"""The action for GitHub, its workflow, and the container image, as far as they run without either.

Each step of the action is run as a runner would: its script in a file, bash with the runner's
flags, inputs in the environment, the files that a runner reads afterwards. Arena itself is a
stand-in where the step is about its flags, and the real one where it is about an event.
"""

import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import yaml

REPOSITORY = Path(__file__).parents[2]
ACTION = yaml.safe_load((REPOSITORY / "action.yml").read_text())
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"]}
WORKFLOW = yaml.safe_load((REPOSITORY / "docs" / "pages.yml").read_text())
DOCS = (REPOSITORY / "docs" / "ci.md").read_text()
GIVEN = re.compile(r"\$\{\{\s*(\S+)\s*\}\}")
# As GitHub documents `shell: bash`.
BASH = ["bash", "--noprofile", "--norc", "-eo", "pipefail"]

STAND_IN = """#!/bin/sh
printf '%s\\n' "$*" >> "$RUNNER_TEMP/said"
for word in "$@"; do printf '<%s>' "$word" >> "$RUNNER_TEMP/words"; done
case "$1" in
  prepare) echo 0123abcd ;;
  table) echo "| rank |" ;;
  doctor) exit "${DOCTOR:-0}" ;;
  compare)
    while [ "$1" != --summary ]; do shift; done
    if [ -n "$ANSWER" ]; then printf '%s\n' "$ANSWER" > "$2"; fi
    echo "::error::a bot's name"
    exit "${COMPARED:-0}" ;;
esac
"""


class Runner:
    """A runner of steps."""

    def __init__(self, folder):
        self.folder = folder
        self.workspace = folder / "workspace"
        self.temp = folder / "temp"
        for path in (self.workspace, self.temp):
            path.mkdir()

    def stand_in(self):
        """A program in arena's place that notes what it is told."""
        arena = self.temp / "arena-venv" / "bin" / "arena"
        arena.parent.mkdir(parents=True)
        arena.write_text(STAND_IN)
        arena.chmod(0o755)

    def run(self, name, inputs=None, **environment):
        """(exit code, output, outputs of the step)."""
        step = STEPS[name]
        values = {f"inputs.{key}": each["default"] for key, each in ACTION["inputs"].items()}
        values |= {f"inputs.{key}": value for key, value in (inputs or {}).items()}
        values["github.action_path"] = str(self.folder / "action")
        given = {
            key: GIVEN.sub(lambda found: values[found[1]], value)
            for key, value in step.get("env", {}).items()
        }
        files = {
            key: self.temp / key for key in ("GITHUB_OUTPUT", "GITHUB_PATH", "GITHUB_STEP_SUMMARY")
        }
        for path in files.values():
            path.touch()
        script = self.temp / "step.sh"
        script.write_text(step["run"])
        home = {key: os.environ[key] for key in ("HOME", "PATH") if key in os.environ}
        pip = {key: value for key, value in os.environ.items() if key.startswith("PIP_")}
        done = subprocess.run(
            [*BASH, str(script)],
            cwd=self.workspace,
            env={
                **home,
                **pip,
                "XDG_CACHE_HOME": str(self.folder / "cache"),
                "RUNNER_TEMP": str(self.temp),
                **{key: str(path) for key, path in files.items()},
                **given,
                **environment,
            },
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        lines = files["GITHUB_OUTPUT"].read_text().splitlines()
        outputs = dict(line.split("=", 1) for line in lines)
        return done.returncode, done.stdout + done.stderr, outputs

    def said(self):
        """What arena was told, a call a line."""
        path = self.temp / "said"
        return path.read_text().splitlines() if path.exists() else []


@pytest.fixture
def runner(tmp_path):
    """A runner, with a workspace of its own."""
    return Runner(tmp_path)


def test_every_input_is_text_with_a_default_and_is_used():
    """A runner hands on nothing but text; one that is forgotten would be silently ignored."""
    used = set()
    for step in STEPS.values():
        for value in step.get("env", {}).values():
            used |= {name.removeprefix("inputs.") for name in GIVEN.findall(value)}
    assert ACTION["inputs"].keys() == used - {"github.action_path"}
    for name, each in ACTION["inputs"].items():
        assert isinstance(each["default"], str), name
        assert each["description"]
        assert f"| `{name}` |" in DOCS
    for name in ACTION["outputs"]:
        assert f"`{name}`" in DOCS


def test_no_input_becomes_a_part_of_a_script():
    """They come by the environment: the text of a script is ours alone."""
    for step in STEPS.values():
        assert step["shell"] == "bash"
        assert "${{" not in step["run"]


def test_outputs_are_those_of_steps_that_there_are():
    """Each is written by the step that it is taken from."""
    by_id = {step["id"]: step for step in STEPS.values() if "id" in step}
    for each in ACTION["outputs"].values():
        (name,) = GIVEN.findall(each["value"])
        _, step, _, output = name.split(".")
        assert f'echo "{output}=' in by_id[step]["run"]


def test_scripts_are_bash():
    """As far as bash says without running them."""
    for step in STEPS.values():
        subprocess.run(["bash", "-n"], input=step["run"], text=True, check=True)


def test_the_workflow_names_only_what_the_action_has():
    """Its inputs and outputs; it can write to Pages in one job alone, and to the code nowhere."""
    steps = WORKFLOW["jobs"]["play"]["steps"]
    (ours,) = (step for step in steps if "REPOSITORY" in step.get("uses", ""))
    assert ours["with"].keys() <= ACTION["inputs"].keys()
    for step in steps:
        for name in GIVEN.findall(str(step.get("with", ""))):
            assert name.removeprefix(f"steps.{ours['id']}.outputs.") in ACTION["outputs"]
    assert WORKFLOW["permissions"] == {"contents": "read"}
    assert WORKFLOW["jobs"]["deploy"]["permissions"] == {"pages": "write", "id-token": "write"}
    assert "permissions" not in WORKFLOW["jobs"]["play"]


PYTHON = """#!/bin/sh
shift 2; [ "$1" = --clear ] && shift
mkdir -p "$1/bin"
for name in pip arena; do
  printf '#!/bin/sh\\necho %s "$*" >> "$RUNNER_TEMP/said"\\n' $name > "$1/bin/$name"
  chmod +x "$1/bin/$name"
done
"""


def test_it_is_installed_from_the_actions_own_checkout(runner):
    """From a copy, since builds write beside their sources; later steps find it on the path."""
    (runner.folder / "action").mkdir()
    (runner.folder / "action" / "pyproject.toml").touch()
    python = runner.folder / "python"
    python.write_text(PYTHON)
    python.chmod(0o755)
    code, out, _ = runner.run("Install arena", {"python": str(python)})
    assert code == 0, out
    source = runner.temp / "arena-source"
    assert runner.said() == [f"pip install --quiet {source}", "arena --version"]
    assert (source / "pyproject.toml").exists()
    path = (runner.temp / "GITHUB_PATH").read_text()
    assert path == f"{runner.temp}/arena-venv/bin\n"


def test_a_job_that_uses_it_twice_gets_the_second_reference(runner):
    """Nothing of the first one's sources is left."""
    action, python = runner.folder / "action", runner.folder / "python"
    python.write_text(PYTHON)
    python.chmod(0o755)
    for reference in ("one", "two"):
        action.mkdir()
        (action / reference).touch()
        code, out, _ = runner.run("Install arena", {"python": str(python)})
        assert code == 0, out
        shutil.rmtree(action)
    assert ["two"] == [path.name for path in (runner.temp / "arena-source").iterdir()]


def test_preparing_takes_patterns_and_flags_apart(runner):
    """Lines or spaces between patterns, quotes in flags; nothing is run that an input names."""
    runner.stand_in()
    for bot in ("bots/a b", "bots/c", "more/d"):
        (runner.workspace / bot).mkdir(parents=True)
    code, out, outputs = runner.run(
        "Prepare the event",
        {
            "bots": "bots/*\nmore/* nothing/*",
            "options": "--seats 2 --gauntlet 'my bot' $(touch ran) `touch ran` ;touch",
            "seed": "a b",
        },
    )
    assert code == 0, out
    assert outputs == {"commitment": "0123abcd"}
    words = (runner.temp / "words").read_text()
    assert words.startswith("<prepare><--game><play-nine><--deals><10><--sandbox><auto>")
    assert "<--gauntlet><my bot><$(touch>" in words
    assert words.endswith("<--seed=a b><--out><arena-results/event><--><bots/a b><bots/c><more/d>")
    assert not (runner.workspace / "ran").exists()


def test_preparing_refuses_what_is_not_what_was_published(runner):
    """No bots; another commitment. Then nothing is played, since the step fails."""
    runner.stand_in()
    code, out, _ = runner.run("Prepare the event")
    assert (code, runner.said()) == (2, [])
    assert "::error::no bots" in out
    (runner.workspace / "bots" / "a").mkdir(parents=True)
    code, out, _ = runner.run("Prepare the event", {"commitment": "ffff"})
    assert code == 2
    assert "::error::the commitment that was published is ffff" in out
    assert runner.run("Prepare the event", {"commitment": "0123abcd"})[0] == 0
    code, out, _ = runner.run("Prepare the event", {"options": "--seats 'unended"})
    assert code not in (0, 2), "words that can't be told apart are no words"


@pytest.mark.parametrize(
    ("kept", "wanted", "asked"), [("1", "true", True), ("1", "false", False), ("0", "true", False)]
)
def test_user_namespaces_are_allowed_where_apparmor_keeps_them(runner, kept, wanted, asked):
    """By sudo, if that is wanted and needed; without sudo it goes on, to Landlock."""
    runner.stand_in()
    setting = runner.folder / "sys" / "kernel" / "apparmor_restrict_unprivileged_userns"
    setting.parent.mkdir(parents=True)
    setting.write_text(f"{kept}\n")
    tools = runner.folder / "tools"
    tools.mkdir()
    (tools / "sudo").write_text('#!/bin/sh\necho "sudo $*" >> "$RUNNER_TEMP/sudo"; exit 1\n')
    (tools / "sudo").chmod(0o755)
    path = f"{tools}:{os.environ['PATH']}"
    code, out, _ = runner.run(
        "See that bots can be confined",
        {"userns": wanted},
        ARENA_SYSCTL=str(runner.folder / "sys"),
        PATH=path,
    )
    assert code == 0, out
    called = runner.temp / "sudo"
    command = "sudo -n sysctl -w kernel.apparmor_restrict_unprivileged_userns=0\n"
    assert (called.read_text() if called.exists() else "") == (command if asked else "")
    assert ("::warning::" in out) == asked
    assert runner.said() == ["doctor"]


def test_without_a_sandbox_the_step_fails(runner):
    """With the code of the machine's trouble, and where to read on."""
    runner.stand_in()
    code, out, _ = runner.run("See that bots can be confined", DOCTOR="4")
    assert code == 4
    assert "::error::no sandbox works on this runner" in out


def test_playing_and_publishing(runner):
    """The table goes into the summary, the folders into the outputs."""
    runner.stand_in()
    code, out, outputs = runner.run("Play it", {"results": "friday"})
    assert (code, outputs) == (0, {"results": "friday"}), out
    assert (runner.temp / "GITHUB_STEP_SUMMARY").read_text() == "| rank |\n"
    code, out, outputs = runner.run(
        "Make the site", {"results": "friday", "to": "out", "publish": '--title "Our bots"'}
    )
    assert (code, outputs["site"]) == (0, "out"), out
    assert runner.said() == [
        "run --sandbox auto -- friday",
        "table --format md -- friday",
        "publish --title Our bots --to out -- friday",
    ]
    assert "<publish><--title><Our bots><--to>" in (runner.temp / "words").read_text()


class GitHub(http.server.BaseHTTPRequestHandler):
    """An API with a token's rights; comments are kept by the server."""

    def do_GET(self):
        self.answer(200, self.server.comments)

    def do_POST(self):
        """A check, or a comment."""
        size = int(self.headers["Content-Length"])
        body = json.loads(self.rfile.read(size))
        self.server.asked.append((self.command, self.path, body))
        if self.headers["Authorization"] != "Bearer writes":
            self.answer(403, {})
            return
        if self.command == "POST" and self.path.endswith("/comments"):
            number = len(self.server.comments)
            self.server.comments.append({"id": number, "user": {"type": "Bot"}, **body})
        self.answer(200, {})

    do_PATCH = do_POST  # noqa: N815 - the library calls it so

    def answer(self, status, value):
        """With JSON."""
        text = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *words):
        """Nothing."""


@pytest.fixture
def github():
    """A server of GitHub's API, as far as the action asks for it."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), GitHub)
    server.asked, server.comments = [], [{"id": 7, "user": {"type": "User"}, "body": "<!-- me -->"}]
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def compared(runner, github):
    """Runs the step that compares; (exit code, output, outputs)."""
    runner.stand_in()
    (runner.temp / "arena-venv" / "bin" / "python").symlink_to(sys.executable)
    script = runner.temp / "arena-source" / "docs" / "tell_github.py"
    script.parent.mkdir(parents=True)
    shutil.copy(REPOSITORY / "docs" / "tell_github.py", script)
    event = runner.folder / "event.json"
    event.write_text(json.dumps({"pull_request": {"number": 3, "head": {"sha": "abc"}}}))

    def run(token, code=0, answer="### No worse", **environment):
        return runner.run(
            "Compare two bots",
            {"old": "before/bot", "bots": "bots/mine", "no-worse": "2", "token": token},
            **{
                "COMPARED": str(code),
                "ANSWER": answer,
                "GITHUB_API_URL": f"http://127.0.0.1:{github.server_port}",
                "GITHUB_REPOSITORY": "us/bots",
                "GITHUB_SHA": "merge",
                "GITHUB_EVENT_PATH": str(event),
                **environment,
            },
        )

    return run


def test_a_comparison_writes_a_check_and_one_comment(runner, github, compared):
    """The check of the branch's head; a second run changes the comment of the first."""
    for title in ("### No worse", "### Worse"):
        code, out, outputs = compared("writes", answer=f"{title}\n\n`mine`: and a table")
        assert (code, outputs) == (0, {"code": "0"}), out
    assert (runner.temp / "GITHUB_STEP_SUMMARY").read_text().startswith("### No worse\n")
    first, second = (
        [(method, path) for method, path, _ in github.asked[at : at + 2]] for at in (0, 2)
    )
    assert [
        ("POST", "/repos/us/bots/check-runs"),
        ("POST", "/repos/us/bots/issues/3/comments"),
    ] == (first)
    assert ("PATCH", "/repos/us/bots/issues/comments/1") == second[1]
    check = github.asked[0][2]
    assert ("abc", "success", "No worse") == (
        check["head_sha"],
        check["conclusion"],
        check["output"]["title"],
    )
    assert "### Worse\n" in github.asked[3][2]["body"]
    words = (runner.temp / "words").read_text()
    assert "<--no-worse=2><--out><arena-results/event>" in words
    assert words.endswith("<--><before/bot><bots/mine>")


@pytest.mark.parametrize(("code", "ends"), [(0, 0), (6, 6), (7, 7), (8, 0), (4, 4)])
def test_the_token_of_a_fork_fails_no_job(github, compared, code, ends):
    """What it may not write is said; the job ends as the comparison did."""
    found, out, outputs = compared("reads", code)
    assert (ends, {"code": str(code)}) == (found, outputs)
    assert out.count("::notice::no ") == 2
    assert {6: "failure", 7: "neutral", 4: "failure"}.get(code, "success") == (
        github.asked[0][2]["conclusion"]
    )


def test_without_token_network_or_answer_the_job_goes_on(runner, github, compared):
    """Nothing is written without a token; an API that isn't there is a warning."""
    assert compared("")[0] == 0
    code, out, _ = compared("writes", 2, answer="", GITHUB_API_URL="http://127.0.0.1:9")
    assert (2, 2) == (code, out.count("::warning::no "))
    assert [] == github.asked
    summary = (runner.temp / "GITHUB_STEP_SUMMARY").read_text()
    assert "`arena compare` ended with code 2" in summary


def test_a_bot_s_name_is_no_command_to_the_runner(compared):
    """What arena prints stands between a word that nobody knows and the same word again."""
    _, out, _ = compared("")
    lines = out.splitlines()
    word = lines[0].removeprefix("::stop-commands::")
    assert len(word) == 32
    assert [lines[0], "::error::a bot's name", f"::{word}::"] == lines[:3]


@pytest.mark.process
@pytest.mark.long("the action, run whole")
def test_a_real_event_in_a_checkout(runner):
    """Prepared, played and published by the real arena, step by step."""
    arena = runner.temp / "arena-venv" / "bin" / "arena"
    arena.parent.mkdir(parents=True)
    arena.write_text(f'#!/bin/sh\nexec {sys.executable} -P -m arena "$@"\n')
    arena.chmod(0o755)
    for bot in ("greedy", "matcher"):
        shutil.copytree(REPOSITORY / "example_bots" / bot, runner.workspace / "bots" / bot)
    inputs = {"deals": "1", "seed": "ci", "to": "public"}
    first = runner.run("Prepare the event", {**inputs, "results": "elsewhere"})
    inputs["commitment"] = first[2]["commitment"]
    for name in ("Prepare the event", "Play it"):
        code, out, outputs = runner.run(name, inputs)
        assert code == 0, out
    assert outputs["commitment"] == inputs["commitment"]
    assert "greedy" in (runner.temp / "GITHUB_STEP_SUMMARY").read_text()
    code, out, outputs = runner.run("Make the site", inputs)
    assert code == 0, out
    assert (runner.workspace / outputs["site"] / "index.html").is_file()


def test_the_containers_parts_are_there():
    """What is copied exists, is in the source distribution, and packages have names."""
    text = (REPOSITORY / "Containerfile").read_text()
    lines = [line for line in re.sub(r"\\\n", " ", text).splitlines() if line[:1] not in ("", "#")]
    known = {"ARG", "FROM", "RUN", "WORKDIR", "COPY", "ENV", "USER", "EXPOSE", "ENTRYPOINT", "CMD"}
    assert {line.split()[0] for line in lines} <= known
    stages = re.findall(r"^FROM \S+ AS (\S+)$", text, re.MULTILINE)
    for line in lines:
        if line.startswith("COPY --from="):
            assert line.split()[1].removeprefix("--from=") in stages
        elif line.startswith("COPY"):
            for source in line.split()[1:-1]:
                assert (REPOSITORY / source).exists(), source
        elif "apt-get install" in line:
            wanted = line.split("apt-get install")[1].split("&&")[0].split()
            assert all(re.fullmatch(r"-?-?[a-z0-9][a-z0-9+.-]*", word) for word in wanted)
            assert "--no-install-recommends" in wanted
            assert "rm -rf /var/lib/apt/lists/*" in line
    users = [line for line in lines if line.startswith("USER")]
    assert users == ["USER arena"], "bots of root would need rights that a container lacks"
    assert "useradd --create-home --uid 1000 arena" in text


def test_the_wheels_sources_are_all_copied():
    """What the build needs besides the package: its metadata names it."""
    import tomllib

    content = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
    project, targets = content["project"], content["tool"]["hatch"]["build"]["targets"]
    folders = {path.split("/")[0] for path in targets["wheel"]["force-include"]}
    copied = (REPOSITORY / "Containerfile").read_text()
    for file in (project["readme"], *project["license-files"], "pyproject.toml", *folders):
        assert re.search(rf"^COPY .*\b{re.escape(file)}\b", copied, re.MULTILINE)
