import os
import stat
import sys
from pathlib import Path
from time import monotonic

import pytest

from arena.bots import BuildLimits, build, load
from arena.bots.build import run_plan
from arena.model import HostError, NotRun
from arena.sandbox import Launch

pytestmark = pytest.mark.process

C = '#include <stdio.h>\nint main(void) { puts("hello"); return 0; }\n'
GCC = 'build = ["gcc", "-o", "bot", "bot.c"]\nrun = ["./bot"]\n'


@pytest.fixture
def built(cache, backend, spawners):
    """Load the paths, then build what was loaded."""

    def built(*paths, **options):
        roster = load(paths, cache=cache)
        assert roster.problems == ()
        return build(roster.candidates, cache=cache, backend=backend, spawners=spawners, **options)

    return built


def shell(script, run="./bot"):
    """A manifest whose build is a shell script."""
    return f"run = ['{run}']\nbuild = ['sh', '-c', '''{script}''']\n"


PROGRAM = "echo '#!/bin/sh' > bot && chmod 700 bot"


def the_problem(result):
    assert result.bots == ()
    (problem,) = result.problems
    return problem


def the_problem_of(result):
    (problem,) = result.problems
    return problem.lines[0]


def test_results_within_an_installation_are_not_shown(make, built, tmp_path, monkeypatch):
    """The deals lie there: nobody is started who would see them, and nobody's build is."""
    node = tmp_path / "opt/bin/node"
    for folder in (node.parent, tmp_path / "opt/include/node"):
        folder.mkdir(parents=True)
    node.write_text("")
    node.chmod(0o755)
    monkeypatch.setenv("PATH", f"{node.parent}:/usr/bin:/bin")
    paths = [
        make("a", {"bot.js": ""}),
        make("b", {"bot.toml": 'run = ["./x"]\nbuild = ["node", "x"]'}),
    ]
    results = tmp_path / "opt/include/node/event"
    problems = built(*paths, results=results).problems
    assert ["a", "b"] == [problem.name.partition("@")[0] for problem in problems]
    assert all("the results or" in problem.lines[0] for problem in problems)
    assert 1 == len(built(paths[0], results=tmp_path / "event").bots)


def test_bots_without_a_build_are_passed_on(make, built, backend):
    """A script is started from its snapshot by the interpreter found out here."""
    path = make("a.py", "#!" + sys.executable)
    (bot,) = built(path).bots
    assert bot.run[1:] == ("/bot/bot.py",)
    assert bot.root.endswith(bot.entrant.hash)
    assert bot.source == str(path)
    assert any(Path(bot.run[0]).is_relative_to(place) for place in (*bot.expose, "/usr"))
    assert backend.launches == []


def test_a_build_runs_once(make, built, spawner):
    """The same content, commands and tools are built a single time, whatever the name."""
    reports = []
    first = built(make("a", {"bot.toml": shell(PROGRAM)}), report=reports.append)
    second = built(make("b", {"bot.toml": shell(PROGRAM)}), report=reports.append)
    assert spawner.count == 1
    assert first.bots[0].root == second.bots[0].root
    assert reports == [f"building {first.bots[0].entrant.id}"]


def test_another_sandbox_is_another_build(make, built, spawner, backend):
    """What was built without a sandbox is not passed off as built in one."""
    path = make("a", {"bot.toml": shell(PROGRAM)})
    built(path)
    backend.name = "other"
    built(path)
    assert spawner.count == 2


def test_other_content_is_another_build(make, built, spawner):
    """A changed file is built again."""
    built(make("a", {"bot.toml": shell(PROGRAM)}), make("b", {"bot.toml": shell(PROGRAM), "f": ""}))
    assert spawner.count == 2


def test_another_toolchain_is_another_build(make, built, spawner, program, monkeypatch, as_systems):
    """A compiler's update makes its earlier results stale."""
    tool = program(make("tools", {}) / "bin/mk", f"#!/bin/sh\n{PROGRAM}\n")
    as_systems(tool.parent)
    monkeypatch.setenv("PATH", f"{tool.parent}:/usr/bin:/bin")
    path = make("a", {"bot.toml": 'build = ["mk"]\nrun = ["./bot"]'})
    first = built(path)
    os.utime(tool, (1, 1))
    assert built(path).bots[0].root != first.bots[0].root
    assert spawner.count == 2


def test_commands_run_in_turn_in_a_writable_copy(make, built, cache):
    """Later commands see, and may be, what earlier ones made; the snapshot stays as it was."""
    toml = """
        build = [["sh", "-c", "echo '#!/bin/sh' > gen; echo 'cp in bot' >> gen; chmod +x gen"],
                 ["./gen"], ["chmod", "+x", "bot"]]
    """
    path = make("a", {"bot.toml": toml, "in": "#!/bin/sh\n"})
    (bot,) = built(path).bots
    assert bot.run[-1] == "/bot/bot"
    snapshot = cache / "bots" / bot.entrant.hash
    assert sorted(path.name for path in snapshot.iterdir()) == ["bot.toml", "in"]


def test_results_are_readable_by_all_and_writable_by_none(make, built):
    """Whatever a build did to modes, the result can be run by another uid."""
    script = PROGRAM + "; mkdir -p d/e; echo > d/e/f; chmod 000 d/e/f; chmod 000 d/e; chmod 500 d"
    (bot,) = built(make("a", {"bot.toml": shell(script)})).bots
    root = Path(bot.root)
    modes = {
        str(path.relative_to(root)): stat.S_IMODE(path.stat().st_mode)
        for path in [root, *root.rglob("*")]
    }
    assert modes == {
        ".": 0o755,
        "bot": 0o555,
        "bot.toml": 0o444,
        "d": 0o755,
        "d/e": 0o755,
        "d/e/f": 0o444,
    }


def test_links_out_of_a_result_are_not_followed(make, built):
    """A build can't make the arena read or change files outside for it."""
    target = make("secret", "x")
    script = f"{PROGRAM}; ln -s {target} link; ln -s {target.parent} folder; mkfifo pipe"
    (bot,) = built(make("a", {"bot.toml": shell(script)})).bots
    assert Path(bot.root, "link").is_symlink()
    assert not Path(bot.root, "pipe").exists()
    assert stat.S_IMODE(target.stat().st_mode) == 0o644
    problem = the_problem(built(make("b", {"bot.toml": shell("ln -s /bin/sh bot")})))
    assert "outside" in problem.lines[0]


@pytest.mark.parametrize("second", ["", "chmod 500 .; "])
def test_a_link_in_the_place_of_its_home_is_not_followed(make, built, tmp_path, second):
    """A build can't have the arena change or empty a folder of the user's; nothing is kept."""
    victim = make("victim", {"inner/file": "x"})
    victim.chmod(0o755)
    (victim / "inner").chmod(0o751)
    script = f"{PROGRAM}; rmdir .arena-home; ln -s {victim} .arena-home; {second}true"
    (bot,) = built(make("a", {"bot.toml": shell(script)})).bots
    assert not os.path.lexists(Path(bot.root, ".arena-home"))
    assert stat.S_IMODE(victim.stat().st_mode) == 0o755
    assert stat.S_IMODE((victim / "inner").stat().st_mode) == 0o751
    assert (victim / "inner/file").read_text() == "x"


def test_a_link_in_the_place_of_its_folder_is_not_followed(make, built, cache):
    """Without a sandbox a build can do that, too: the arena won't follow."""
    victim = make("victim", {"file": "x"})
    victim.chmod(0o700)
    script = f'{PROGRAM}; here=$PWD; mv "$here" "$here-gone"; ln -s {victim} "$here"'
    problem = the_problem(built(make("a", {"bot.toml": shell(script)})))
    assert problem.lines == ("build: made something else in the place of its folder",)
    assert stat.S_IMODE(victim.stat().st_mode) == 0o700
    assert sorted(path.name for path in victim.iterdir()) == ["file"]
    assert list((cache / "builds").iterdir()) == []


NEST = """
import os
for _ in range({count}):
    os.mkdir("{name}")
    os.chdir("{name}")
raise SystemExit({code})
"""


@pytest.mark.parametrize(
    ("name", "count", "code", "said"),
    [
        ("d" * 200, 22, 0, "build: made paths of more than 2048 bytes"),
        ("d", 100, 0, "build: made folders more than 64 deep"),
        ("d", 1300, 1, "build: `python3 nest.py` ended with exit 1"),
    ],
)
def test_deep_folders_are_the_builds_fault(make, built, cache, name, count, code, said):
    """For each kind of nesting one line is said, and nothing is left behind."""
    toml = "run = ['./bot']\nbuild = ['python3', 'nest.py']\n"
    nest = NEST.format(name=name, count=count, code=code)
    problem = the_problem(built(make("a", {"bot.toml": toml, "nest.py": nest})))
    assert problem.lines[0] == said
    assert list((cache / "builds").iterdir()) == []


def test_folders_by_the_thousand_are_the_builds_fault(make, built, monkeypatch):
    """They count although they aren't files."""
    monkeypatch.setattr(sys.modules["arena.bots.build"], "RESULT_FILES", 2)
    problem = the_problem(built(make("a", {"bot.toml": shell("mkdir a b c d e f")})))
    assert problem.lines == ("build: made more than 6 files and folders",)


def test_a_build_is_not_shown_its_opponents(make, built, backend):
    """Nor by a program that is there only once it has been built."""
    strong = make("strong", {"bot.py": "#!/bin/sh\n"}, executable=["bot.py"])
    write = f"echo '#!{strong}/bot.py' > gen; chmod +x gen"
    toml = f'run = ["./gen"]\nbuild = ["sh", "-c", "{write}"]'
    result = built(make("weak", {"bot.toml": toml}), strong)
    assert [bot.entrant.name for bot in result.bots] == ["strong"]
    assert "can't be shown to a bot" in the_problem_of(result)
    assert not any(str(strong) in launch.expose for launch in backend.launches)


@pytest.mark.parametrize("how", ["run", "build", "script"])
@pytest.mark.parametrize(
    ("program", "key"),
    [
        ("bin/rails", "config/master.key"),
        ("bin/hello", ".ssh/id_ed25519"),
        ("event/bin/x", "event/private.json"),
        ("sbin/x", "x"),
        ("libexec/x", "x"),
    ],
)
def test_a_build_is_not_shown_what_lies_beside_a_program(
    make, built, backend, cache, program, key, how
):
    """By no way of naming it: in a home, under root in another user's, beside a results folder."""
    home = make("home", {program: "#!/bin/sh\n", key: "secret"}, executable=[program])
    (home / key).chmod(0o600)
    home.chmod(0o700)
    if os.geteuid() == 0:
        os.chown(home, 65534, 65534)
    path = str(home / program)
    shown = {
        "run": {"bot.toml": f'run = ["{path}"]'},
        "build": {"bot.toml": f'build = [["true"], ["{path}"]]\nrun = ["./bot.sh"]'},
        "script": {"bot.toml": 'run = ["./bot.sh"]\nbuild = ["true"]'},
    }[how]
    files = {**shown, "bot.sh": f"#!{path if how == 'script' else '/bin/sh'}\n"}
    bot = make("a", files, executable=["bot.sh"])
    result = load([bot], cache=cache) if how == "run" else built(bot)
    (line,) = the_problem_of(result).splitlines()
    assert f'write "{Path(path).name}", and put its folder on PATH' in line
    assert [launch.expose for launch in backend.launches] in ([], [()])


def test_a_failed_build_shows_the_end_of_its_output(make, built):
    """The command, how it ended, and the last lines of both outputs, made printable."""
    toml = shell("seq 1 5000; sh red.sh >&2; exit 3")
    files = {"bot.toml": toml, "red.sh": "printf '\\033[31mred\\033[0m\\n'"}
    problem = the_problem(built(make("a", files)))
    assert "exit 3" in problem.lines[0]
    assert "seq 1 5000" in problem.lines[0]
    assert "| 5000" in problem.lines
    assert "| red" in problem.lines
    assert len(problem.lines) == 21


def test_a_failed_build_is_not_kept(make, built, spawner, cache):
    """It runs again next time, and leaves nothing behind."""
    path = make("a", {"bot.toml": shell("exit 1")})
    built(path)
    built(path)
    assert spawner.count == 2
    assert list((cache / "builds").iterdir()) == []


def test_a_crash_is_named_by_its_signal(make, built):
    """A compiler that is killed says so."""
    assert "SIGSEGV" in the_problem(built(make("a", {"bot.toml": shell("kill -SEGV $$")}))).lines[0]


def test_an_endless_build_is_ended(make, built, cache):
    """The limit holds for all commands together, and the program's output is still shown."""
    path = make("a", {"bot.toml": shell("echo begun; exec sleep 100")})
    problem = the_problem(built(path, limits=BuildLimits(seconds=0.3)))
    assert "0.3 s" in problem.lines[0]
    assert "| begun" in problem.lines
    assert list((cache / "builds").iterdir()) == []


def test_a_build_that_makes_nothing(make, built):
    """A run command that isn't there after the build is named."""
    problem = the_problem(built(make("a", {"bot.toml": shell("true", run="./prog")})))
    assert "after its build" in problem.lines[0]
    assert "prog" in problem.lines[0]


def test_a_program_missing_after_the_build(make, built):
    """An optional bot whose runtime is missing is left out, another one is a problem."""
    text = shell("true", run="no-such")
    assert "'no-such'" in the_problem(built(make("a", {"bot.toml": text}))).lines[0]
    result = built(make("b", {"bot.toml": "optional = true\n" + text}))
    assert result.bots == result.problems == ()
    assert [type(each) for each in result.skipped] == [NotRun]


def test_a_later_command_that_is_missing(make, built):
    """A build's second program is looked for when its turn comes."""
    path = make("a", {"bot.toml": 'build = [["true"], ["./gen"]]\nrun = ["sh"]'})
    assert "gen is not in" in the_problem(built(path)).lines[0]


def test_results_are_capped(make, built, monkeypatch):
    """A build can't fill the cache."""
    monkeypatch.setattr(sys.modules["arena.bots.build"], "RESULT_FILES", 2)
    problem = the_problem(built(make("a", {"bot.toml": shell("touch a b c")})))
    assert "4 files; 1024 MB in 2 files are allowed" in problem.lines[0]


def test_good_bots_are_built_beside_bad_ones(make, built):
    """One failure keeps nobody else out, and the order stays."""
    result = built(
        make("a", {"bot.toml": shell(PROGRAM)}),
        make("b", {"bot.toml": shell("exit 1")}),
        make("c.sh", ""),
    )
    assert [bot.entrant.name for bot in result.bots] == ["a", "c"]
    assert [problem.name[:2] for problem in result.problems] == ["b@"]


@pytest.mark.parametrize(("asked", "most", "given"), [(0, 16, 0), (4, 16, 4), (64, 16, 16)])
def test_scratch_space_is_given_on_request(make, built, asked, most, given):
    """No more than the event allows, and none unless it is asked for."""
    toml = f"run = ['sh']\n[limits]\nscratch_mb = {asked}\n" if asked else "run = ['sh']\n"
    (bot,) = built(make("a", {"bot.toml": toml}), scratch_mb=most).bots
    assert bot.scratch_mb == given


def test_what_a_build_writes_is_limited(make, built, backend):
    """Besides what it is given to begin with."""
    built(make("a", {"bot.toml": shell(PROGRAM), "big": b"x" * (3 << 20)}))
    (launch,) = backend.launches
    assert launch.disk_mb == 1024 + 3 + 1
    script = shell("head -c 3000000 /dev/zero > big")
    limits = BuildLimits(disk_mb=2)
    problem = the_problem(built(make("b", {"bot.toml": script}), limits=limits))
    assert problem.lines[0].startswith("build: made 2.9 MB in 2 files; 2 MB in 100000 files are")


def test_a_host_error_is_nobodys_fault(make, built, spawner):
    """A sandbox that doesn't start is raised, not blamed on the author."""
    spawner.host_error = "no pids"
    with pytest.raises(HostError, match="no pids"):
        built(make("a", {"bot.toml": shell("true")}))


def test_a_spawner_that_does_not_kill(make, built, spawner, monkeypatch):
    """A build that won't end is the sandbox's trouble."""
    monkeypatch.setattr(sys.modules["arena.bots.build"], "END_SECONDS", 0.01)
    killed = []
    real = spawner.kill
    monkeypatch.setattr(spawner, "kill", killed.append)
    path = make("a", {"bot.toml": shell("exec sleep 100")})
    with pytest.raises(HostError, match="did not end"):
        built(path, limits=BuildLimits(seconds=0.05))
    real(*killed)
    while spawner.running:
        spawner.receive()


def test_interruption_ends_the_build(make, built, cache, monkeypatch):
    """Ctrl-C during a build leaves neither a process nor a folder."""
    real = sys.modules["arena.bots.build"]._read
    interrupts = iter([KeyboardInterrupt])

    def interrupted(pipe, output):
        for interrupt in interrupts:
            raise interrupt
        return real(pipe, output)

    monkeypatch.setattr(sys.modules["arena.bots.build"], "_read", interrupted)
    path = make("a", {"bot.toml": shell("echo begun; exec sleep 100")})
    with pytest.raises(KeyboardInterrupt):
        built(path)
    assert list((cache / "builds").iterdir()) == []


def answer(bot, backend, spawners):
    """What a bot writes when it is started."""
    plan = backend.plan(Launch(run=bot.run, root=bot.root, expose=bot.expose))
    with spawners() as spawner:
        ended, output = run_plan(plan, spawner, monotonic() + 20)
    assert ended is not None
    assert (ended.code, ended.host_error) == (0, ""), output
    return output


def test_gcc_in_the_sandbox(make, cache, real):
    """A C bot is compiled inside, and what was compiled runs inside."""
    roster = load([make("a", {"bot.toml": GCC, "bot.c": C})], cache=cache)
    if not roster.candidates:
        pytest.skip("no gcc here")
    result = build(roster.candidates, cache=cache, **real)
    assert result.problems == ()
    assert answer(result.bots[0], **real) == b"hello\n"
    assert {path.stat().st_uid for path in Path(result.bots[0].root).rglob("*")} == {os.geteuid()}


def test_gcc_errors_from_the_sandbox(make, cache, real):
    """The compiler's message reaches the author."""
    roster = load([make("a", {"bot.toml": GCC, "bot.c": "int main( {\n"})], cache=cache)
    if not roster.candidates:
        pytest.skip("no gcc here")
    problem = the_problem(build(roster.candidates, cache=cache, **real))
    assert "gcc" in problem.lines[0]
    assert any("bot.c:1" in line for line in problem.lines[1:])


def test_python_in_the_sandbox(make, cache, real):
    """This machine's python3 starts inside, wherever it is installed."""
    path = make("a.py", "import json, sys; print(json.dumps(sys.argv))")
    result = build(load([path], cache=cache).candidates, cache=cache, **real)
    assert answer(result.bots[0], **real).endswith(b'/bot.py"]\n')


def test_endless_builds_are_ended_in_the_sandbox(make, cache, real):
    """The tree of a build dies with it."""
    path = make("a", {"bot.toml": shell("sleep 100 & echo begun; sleep 100")})
    candidates = load([path], cache=cache).candidates
    limits = BuildLimits(seconds=1)
    problem = the_problem(build(candidates, cache=cache, limits=limits, **real))
    assert "| begun" in problem.lines
