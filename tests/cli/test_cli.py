"""The command line itself: help, completion, flags, the event file's schema."""

import io
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import click
import jsonschema
import pytest
from click.testing import CliRunner

from arena.cli import GROUPS, commands, main
from arena.cli.event_file import NOT_IN_FILES
from arena.cli.flags import HEADINGS, TIME, EventCommand, Megabytes
from arena.event.progress import Progress, Start
from arena.model import Event, Settings, UserError
from arena.ratings.outcomes import RatedOutcome
from arena.registry import GAMES, game
from arena.terminal.outcome import duration
from arena.terminal.progress import BarProgress, LineProgress, QuietProgress
from arena.terminal.screen import say, warn

REPOSITORY = Path(__file__).parents[2]
COMMANDS = sorted(commands.commands)
IN_GROUPS = [
    [name, below]
    for name, found in commands.commands.items()
    if isinstance(found, click.Group)
    for below in found.commands
]


@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS), *IN_GROUPS])
def test_every_command_has_help(command):
    """--help and -h say what it does, within 80 columns."""
    long, short = (CliRunner().invoke(commands, [*command, flag]) for flag in ("--help", "-h"))
    assert 0 == long.exit_code
    assert long.output == short.output
    assert all(len(line) <= 80 for line in long.output.splitlines())


def test_help_has_examples():
    """The first page and `run` show how they are used."""
    for words in (["--help"], ["run", "--help"]):
        assert "arena run bots/*" in CliRunner().invoke(commands, words).output


@pytest.mark.process
def test_what_a_forfeit_costs_in_a_comparison_is_that_of_each_game():
    """As the games' ratings have it."""
    text = CliRunner().invoke(commands, ["compare", "--help"]).stdout
    for name in GAMES:
        assert f"{name} {game(name).about.rating.forfeit_margin:g}" in text


def test_help_loads_neither_trio_nor_the_rest():
    """What makes --help answer at once: nothing heavy is imported for it."""
    code = (
        "import sys; sys.argv = ['arena', '--help']\n"
        "from arena.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'trio', 'msgspec', 'trueskill', 'tabulate', 'asyncio', 'subprocess'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "[]\n" == done.stderr


@pytest.mark.process
def test_python_m_arena_is_arena():
    """The module runs like the command."""
    done = subprocess.run(
        [sys.executable, "-P", "-m", "arena", "--version"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert re.fullmatch(r"arena \d+\.\d+\.\d+\S*\n", done.stdout)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(shell):
    """A script for each shell that names the command."""
    done = CliRunner().invoke(commands, ["completion", shell])
    assert 0 == done.exit_code
    assert "_ARENA_COMPLETE" in done.output


@pytest.fixture
def told(monkeypatch, capsys):
    """The one line of a command line that is wrong; exit code 2."""

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["arena", *words])
        with pytest.raises(SystemExit) as stopped:
            main()
        assert 2 == stopped.value.code
        (line,) = capsys.readouterr().err.splitlines()
        return line

    return run


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--json"], "'--json'. arena check, arena match, arena run, arena resume and"),
        (["--watch"], "'--watch'. arena match has it. (see: arena --help)"),
        (["table", "x", "--json"], "Did you mean --format json? (see: arena table --help)"),
        (["run", "--format", "md"], "'--format'. arena table, arena rate have it."),
        (["run", "--xyzzy"], "No such option '--xyzzy'. (see: arena run --help)"),
        (["run", "--memory", "10TB"], "'10TB' is no amount: write 512, 512MB or 2GB"),
        (["run", "--memory", "0.3MB"], "is no whole number of MB from 1 to 1048576"),
        (["run", "--deals", "10k"], "'10k' is no whole number from 1 on"),
        (["run", "--seats", "9"], "9 is no whole number from 2 to 8"),
        (["compare", "a", "b", "--alpha", "1"], "1.0 is no number above 0, below 0.5"),
        (["completion"], "Choose from: bash, zsh, fish (see: arena completion --help)"),
    ],
)
def test_a_wrong_command_line_says_what_would_be_right(told, words, said):
    """The flag that is meant, who has it, the form that is taken."""
    assert said in told(*words)


def test_a_closed_output_is_refused(told, monkeypatch):
    """A shell's `>&-`: the first file that a command opened would be its standard output."""
    monkeypatch.setattr(sys, "stdout", None)
    assert "arena: standard output is closed; to discard it, say >/dev/null" == told("table", "x")


def test_a_node_that_is_asked_nothing_says_who_asks(told, monkeypatch):
    """The command is internal, but can be typed."""
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"x\n")))
    assert "no question of Dask's workers, which call this command" in told("node")
    monkeypatch.setattr(sys, "stdin", None)
    assert "standard input is closed; it takes a question" in told("node")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["rnu"], "'rnu'"),
        (["run", "--deels", "3"], "--deals"),
        (["run", "--seats", "9", "x"], "--seats"),
        (["table"], "FOLDER"),
        (["table", "x", "--format", "pdf"], "text"),
    ],
)
def test_a_wrong_command_line_is_one_line_with_exit_2(monkeypatch, capsys, words, said):
    """What is wrong, and where to look; no usage screen, no traceback."""
    monkeypatch.setattr(sys, "argv", ["arena", *words])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert 2 == stopped.value.code
    told = capsys.readouterr().err
    assert 1 == len(told.splitlines())
    assert said in told
    assert "--help" in told


def test_without_a_command_there_is_help(monkeypatch, capsys):
    """As help is written: on stdout, no line of it as an error, and none cut in 80 columns."""
    monkeypatch.setattr(sys, "argv", ["arena"])
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit) as stopped:
        main()
    assert 2 == stopped.value.code
    shown = capsys.readouterr()
    assert ("Usage: arena", "") == (shown.out[:12], shown.err)
    assert "arena: " not in shown.out
    assert "...\n" not in shown.out.partition("Commands:")[2]


@pytest.mark.parametrize(
    ("text", "megabytes"), [("512", 512), (64, 64), ("2GB", 2048), ("1.5 GiB", 1536), ("64m", 64)]
)
def test_memory_may_have_a_unit(text, megabytes):
    """Without one it is MB, as it always was."""
    assert megabytes == Megabytes(1, 1 << 20).convert(text, None, None)


@pytest.mark.parametrize(("quiet", "said"), [(True, "must"), (False, "may\nmust")])
def test_quiet_leaves_out_all_that_need_not_be_known(capsys, quiet, said):
    """Notes of whatever a command calls, too."""

    @click.command()
    @click.option("--quiet", is_flag=True)
    def command(*, quiet):
        del quiet
        say("may")
        warn("must")

    command.main(["--quiet"] if quiet else [], standalone_mode=False)
    assert f"{said}\n" == capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [("500ms", 500), ("1.5s", 1500), ("2m", 120_000), ("1h", 3_600_000), (" 3 s ", 3_000)],
)
def test_times_have_units(text, milliseconds):
    """Milliseconds, seconds, minutes, hours."""
    assert milliseconds == TIME.convert(text, None, None)


@pytest.mark.parametrize("text", ["", "fast", "-1s", "0s", "1w", "1e3s", "1 000ms", "500", 500])
def test_what_is_no_time_is_refused(text):
    """With an example of what is one."""
    with pytest.raises(click.BadParameter):
        TIME.convert(text, None, None)


def test_the_event_file_s_schema_knows_every_flag_and_the_readme_s_example():
    """Editors can check an event file; a mistyped key is an error."""
    schema = json.loads((REPOSITORY / "protocol/schema/event-file.json").read_text())
    validator = jsonschema.Draft202012Validator(schema)
    flags = {
        option.opts[0].removeprefix("--")
        for command in ("prepare", "run")
        for option in commands.commands[command].params
        if isinstance(option, click.Option) and option.opts[0] not in NOT_IN_FILES
    }
    assert flags | {"bots"} == set(schema["properties"])
    page = (REPOSITORY / "docs" / "event.md").read_text(encoding="utf-8")
    example = tomllib.loads(re.search(r"```toml\n(.*?)```", page, re.DOTALL)[1])
    validator.validate(example)
    assert not validator.is_valid({**example, "deels": 3})
    assert not validator.is_valid({**example, "deals": 0})
    assert all(validator.is_valid({**example, "memory": each}) for each in (64, "2GB"))
    assert not any(validator.is_valid({**example, "memory": each}) for each in (0, "2TB"))
    assert not validator.is_valid({**example, "game": "bridge"})


class Terminal:
    """Collects what is drawn."""

    def __init__(self):
        self.text = ""

    def write(self, text):
        self.text += text

    def flush(self):
        pass


EVENT = Event(settings=Settings(game="play-nine"), entrants=(), commitment="")


def begin(display, planned, done):
    """Say what a session says before the first match; what was shown of it is passed over."""
    display.open_event(EVENT, Path("friday"))
    display.start(Start(event=EVENT, folder=Path("friday"), planned=planned, done=done))
    if isinstance(display, LineProgress):
        display._out.text = ""


def test_the_bar_fits_the_terminal_and_erases_itself(monkeypatch):
    """At 80 and at 40 columns no line wraps, and the end leaves nothing behind."""
    for columns in (80, 40):
        monkeypatch.setenv("COLUMNS", str(columns))
        monkeypatch.setenv("LINES", "20")
        out = Terminal()
        bar = BarProgress(out)
        begin(bar, 1_000, 0)
        for n in range(30):
            bar.rated(
                RatedOutcome(entrants=(f"bot-with-a-long-name-{n:02d}@1", "z@1"), places=(1, 2))
            )
        bar.done = 400
        bar.tick()
        drawn = out.text.splitlines()
        assert all(len(line) < columns for line in drawn)
        assert "more" in drawn[-1]
        bar.end()
        assert out.text.endswith(f"\x1b[{len(drawn)}A\x1b[J")


def test_plain_lines_are_written_from_time_to_time(monkeypatch):
    """Where there is no terminal, a line every ten seconds and no escape sequence."""
    now = [0.0]
    monkeypatch.setattr("arena.terminal.progress.time.monotonic", lambda: now[0])
    out = Terminal()
    lines = LineProgress(out)
    begin(lines, 100, 20)
    lines.tick()
    assert not out.text
    now[0] = 11.0
    lines.tick()
    assert out.text.startswith("20/100 matches (20 %)")
    assert "\x1b" not in out.text


@pytest.mark.parametrize("display", [LineProgress, BarProgress])
def test_series_that_are_void_for_one_reason_are_told_together(display):
    """A lost worker may have had dozens; they are told at the next tick, or at the end."""
    out = Terminal()
    shown = display(out)
    begin(shown, 10, 0)
    for series, reason in (
        ("s1", "its worker was lost"),
        ("s2", "its worker was lost"),
        ("s3", "x"),
    ):
        shown.trouble(series, reason)
    shown.tick()
    assert "2 series are void and will be played again: its worker was lost\n" in out.text
    assert "series s3 is void and will be played again: x\n" in out.text
    shown.trouble("s4", "y")
    shown.end()
    assert "series s4 is void and will be played again: y\n" in out.text
    assert 1 == out.text.count("s3")


def test_the_time_left_follows_the_last_matches(monkeypatch):
    """Rate and time left come from a window, not from the beginning."""
    now = [0.0]
    monkeypatch.setattr("arena.event.progress.clock.monotonic", lambda: now[0])
    progress = QuietProgress()
    begin(progress, 1_000, 0)
    assert "? left" in progress.status()
    record = type("Record", (), {"faults": ()})
    for second in range(1, 31):
        now[0] = float(second)
        for _ in range(10):
            progress.match(record)
    assert 9 < progress.rate() < 11.5
    assert " s left" in progress.status()


def test_a_rate_is_kept_in_few_numbers_however_many_matches(monkeypatch):
    """A thousand matches a second for a minute leave some hundred marks."""
    now = [0.0]
    monkeypatch.setattr("arena.event.progress.clock.monotonic", lambda: now[0])
    progress = Progress()
    begin(progress, 1_000_000, 0)
    record = type("Record", (), {"faults": ()})
    most = 0
    for match in range(60_000):
        now[0] = match / 1_000
        progress.match(record)
        most = max(most, len(progress._marks))
    assert 50 < most < 150
    assert 990 < progress.rate() < 1_010


@pytest.mark.parametrize(("seconds", "text"), [(5, "5 s"), (600, "10 min"), (7200, "2.0 h")])
def test_times_for_people(seconds, text):
    """Seconds, minutes, hours."""
    assert text == duration(seconds)


def test_every_flag_of_a_grouped_help_has_a_heading():
    """But --help."""
    grouped = [each for each in commands.commands.values() if isinstance(each, EventCommand)]
    assert {"compare", "match", "play", "prepare", "resume", "run", "tune"} == {
        g.name for g in grouped
    }
    listed = {name for names in HEADINGS.values() for name in names}
    for command in grouped:
        flags = {option.name for option in command.params if isinstance(option, click.Option)}
        assert flags <= listed, command.name
        text = CliRunner().invoke(commands, [command.name, "--help"]).output
        assert text.partition("Other:")[2].split()[:3] == ["-h,", "--help", "Show"]


def test_help_lists_every_command_once_in_a_group():
    """But those that are not for people."""
    shown = {command.name for group in GROUPS.values() for command in group}
    assert shown == {name for name, command in commands.commands.items() if not command.hidden}
    text = CliRunner().invoke(commands, ["--help"]).output
    assert all(f"\n{heading}:\n" in text for heading in GROUPS)
    assert not any(line.endswith("...") for line in text.splitlines()[1:])


def test_without_limits_a_bot_has_eleven_days(monkeypatch, capsys):
    """It says so, and a time limit beside it is refused."""
    from arena.cli.match import match

    seen = {}

    def play(_bots, options, *_, **__):
        seen["limits"] = options.limits
        raise UserError("played")

    monkeypatch.setattr("arena.event.single_match.play_match", play)
    with pytest.raises(UserError, match="played"):
        match.main(["a", "b", "--no-limits"], standalone_mode=False)
    limits = seen["limits"]
    assert {10**9} == {limits.move_ms, limits.match_ms, limits.start_ms}
    assert "no time limits" in capsys.readouterr().err
    with pytest.raises(UserError, match="--no-limits and --move-time: leave one of them out"):
        match.main(["a", "b", "--no-limits", "--move-time", "5s"], standalone_mode=False)
