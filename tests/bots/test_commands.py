import pytest

from arena.bots import commands
from arena.bots.commands import CommandError, entry_file, resolve, shebang
from arena.bots.folder import open_folder
from arena.bots.interpreters import MissingToolError, Toolbox
from arena.bots.plain_text import BotError


@pytest.fixture
def tools(tmp_path, program, monkeypatch, as_systems):
    """A toolbox whose PATH holds the given programs alone, in one of the system's folders."""
    as_systems(tmp_path / "tools")

    def tools(*names):
        for name in names:
            program(tmp_path / "tools/bin" / name)
        monkeypatch.setenv("PATH", str(tmp_path / "tools/bin"))
        return Toolbox()

    return tools


def the_entry(path):
    with open_folder(path) as folder:
        return entry_file(folder)


def why(run, folder, toolbox):
    with pytest.raises(BotError) as e:
        resolve(run, folder, toolbox)
    return str(e.value)


@pytest.mark.parametrize(
    ("file", "tool"),
    [
        ("bot.py", "python3"),
        ("main.py", "python3"),
        ("bot.js", "node"),
        ("main.js", "node"),
        ("bot.sh", "bash"),
        ("bot.pl", "perl"),
        ("bot.rb", "ruby"),
    ],
)
def test_entry_files_run_as_what_they_are(make, tools, tmp_path, file, tool):
    """A folder with an obvious entry file needs no manifest."""
    command = resolve(None, make("a", {file: ""}), tools(tool))
    assert command.argv == (str(tmp_path / "tools/bin" / tool), f"/bot/{file}")
    assert command.expose == ()


def test_a_second_choice_of_interpreter(make, tools, tmp_path):
    """Where there is no bash, sh runs a script; the first choice is what is missed."""
    folder = make("a", {"bot.sh": ""})
    with pytest.raises(MissingToolError, match="'bash'"):
        resolve(None, folder, tools())
    assert resolve(None, folder, tools("sh")).argv[0].endswith("/sh")


def test_mawk_is_told_not_to_buffer(make, tools):
    """On a pipe mawk reads whole blocks and would wait for ever."""
    command = resolve(None, make("a", {"bot.awk": ""}), tools("mawk", "awk"))
    assert command.argv[1:] == ("-W", "interactive", "-f", "/bot/bot.awk")


def test_entry_program(make, tools):
    """An executable file `bot` is run as it is."""
    folder = make("a", {"bot": b"\x7fELF"}, executable=["bot"])
    assert resolve(None, folder, tools()).argv == ("/bot/bot",)


def test_entry_program_without_execute_permission(make, tools):
    """A lost mode bit is said to be one."""
    assert "chmod +x" in why(None, make("a", {"bot": b"\x7fELF"}), tools())


def test_bot_comes_before_main_and_two_are_too_many(make):
    """What is not obvious is not guessed."""
    assert the_entry(make("a", {"bot.js": "", "main.py": ""})) == "bot.js"
    assert the_entry(make("b", {"x.py": ""})) is None
    with pytest.raises(CommandError, match=r"bot\.py and bot\.js"):
        the_entry(make("c", {"bot.js": "", "bot.py": ""}))


def test_bare_names_are_looked_up(make, tools, tmp_path):
    """A bare name finds the program out here; arguments stay as they are."""
    command = resolve(("python3", "-u", "x"), make("a", {}), tools("python3"))
    assert command.argv == (str(tmp_path / "tools/bin/python3"), "-u", "x")


def test_env_is_seen_through(make, tools, tmp_path):
    """/usr/bin/env would search the sandbox's PATH."""
    command = resolve(("/usr/bin/env", "node", "x"), make("a", {}), tools("node"))
    assert command.argv == (str(tmp_path / "tools/bin/node"), "x")


@pytest.mark.parametrize("run", ["./play", "play", "/bot/play", "sub/../play"])
def test_own_programs_are_found_in_the_folder(make, tools, run):
    """A path is relative to the folder, and a file there comes before PATH."""
    folder = make("a", {"play": b"\x7fELF", "sub/x": ""}, executable=["play"])
    assert resolve((run, "-x"), folder, tools("play")).argv == ("/bot/play", "-x")


def test_own_scripts_run_by_their_first_line(make, tools, tmp_path):
    """The interpreter of a #! line is found out here as well."""
    folder = make("a", {"play": "#!/usr/bin/env -S node --x\n"}, executable=["play"])
    command = resolve(("./play", "y"), folder, tools("node"))
    assert command.argv == (str(tmp_path / "tools/bin/node"), "--x", "/bot/play", "y")


@pytest.mark.parametrize(
    ("run", "content", "text"),
    [
        ("./play", "#!/bin/sh\n", "chmod +x"),
        ("./plya", "#!/bin/sh\n", "'play'"),
        ("play.py", "", "not in the bot's folder"),
        ("../x", "", "outside"),
        ("sub", "", "not a file"),
    ],
)
def test_what_cannot_be_run(make, tools, run, content, text):
    """Each reason is told apart."""
    assert text in why((run,), make("a", {"play": content, "sub/x": ""}), tools())


def test_neither_program_nor_script(make, tools):
    """A text with execute permission can't be executed."""
    assert "#! line" in why(("./play",), make("a", {"play": "x"}, executable=["play"]), tools())


def test_script_argument_must_be_there(make, tools):
    """A typo in the script's name is found before the event, with the likely name."""
    text = why(("python3", "bto.py"), make("a", {"bot.py": ""}), tools("python3"))
    assert "bto.py" in text
    assert "'bot.py'" in text


def test_links_that_leave_the_folder_are_not_followed(make, tools, tmp_path):
    """What a build links to is not looked at."""
    folder = make("a", {})
    (folder / "play").symlink_to("/bin/sh")
    (folder / "bot.py").symlink_to("/etc/passwd")
    assert "outside" in why(("./play",), folder, tools())
    assert "outside" in why(None, folder, tools("python3"))


@pytest.mark.parametrize(
    "name",
    ["/proc/self/cwd/x", "/proc/self/root/bin/sh", "/dev/shm/x", "//sys/x", "/etc/../proc/x"],
)
def test_places_of_the_kernel_are_not_taken(make, tools, name):
    """They lead each process elsewhere; a #! line may not name one either."""
    folder = make("a", {"play": f"#!{name}\n"}, executable=["play"])
    assert "by its own path" in why((name,), folder, tools())
    assert "by its own path" in why(("./play",), folder, tools("x", "sh"))


def test_an_entry_that_links_outside_is_not_read(make, tools, monkeypatch):
    """Not even its first bytes."""
    monkeypatch.setattr(commands, "head", lambda _: pytest.fail("it was read"))
    folder = make("a", {})
    (folder / "bot").symlink_to("/bin/sh")
    assert "outside" in why(None, folder, tools())


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"print(1)\n", ()),
        (b"#!/bin/sh\n", ("/bin/sh",)),
        (b"#! /usr/bin/awk -f \n", ("/usr/bin/awk", "-f")),
        (b"#!/usr/bin/python3 -u -B", ("/usr/bin/python3", "-u -B")),
        (b"#!/usr/bin/env python3\n", ("python3",)),
        (b"#!/usr/bin/env -S python3 -u\n", ("python3", "-u")),
    ],
)
def test_first_lines(line, words):
    """A #! line gives its words, one argument at most unless env splits them."""
    assert shebang(line, "f") == words


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (b"#!/bin/sh\r\nx", "CR LF"),
        (b"\xef\xbb\xbf#!/bin/sh\n", "byte-order mark"),
        (b"#!\n", "names no program"),
        (b"#!/bin/s\0h\n", "names no program"),
        (b"#!python3\n", "full path"),
        (b"#!/usr/bin/env\n", "env"),
        (b"#!/usr/bin/env X=1 python3\n", "env"),
        (b'#!/usr/bin/env -S "x\n', "env"),
    ],
)
def test_spoilt_first_lines(line, text):
    """What no kernel would start is said to be so."""
    with pytest.raises(CommandError, match=text):
        shebang(line, "f")


def test_a_command_line_is_not_one_program(make, tools):
    """Its words belong apart, and are shown so."""
    folder = make("a", {"bot.py": "x"})
    toolbox = tools("python3")
    assert 'write ["python3", "bot.py", "-x"]' in why(("python3 bot.py", "-x"), folder, toolbox)
    assert 'write ["python3", "it\'s"]' in why(("python3 it's",), folder, toolbox)


def test_a_program_may_have_a_space_in_its_name(make, tools):
    """If it is there."""
    folder = make("a", {"my bot.py": "#!/usr/bin/env python3"})
    (folder / "my bot.py").chmod(0o755)
    assert resolve(("./my bot.py",), folder, tools("python3")).argv[1] == "/bot/my bot.py"


@pytest.mark.parametrize("first", ["python3", ""])
def test_a_file_of_the_bot_s_own_is_named_relative(make, tools, first):
    """Where it lies out here nothing is seen inside."""
    folder = make("a", {"src/bot.py": "x"})
    run = tuple(word for word in (first, str(folder / "src" / "bot.py")) if word)
    assert 'write "src/bot.py"' in why(run, folder, tools("python3"))
