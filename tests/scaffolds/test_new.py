"""`arena new`: what it writes, what it says, and what it leaves alone."""

import ast
import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from arena import scaffolds
from arena.bots import manifest
from arena.cli import commands, main
from arena.scaffolds import MANIFEST, README, SCAFFOLDS, names, render

HERE = Path(scaffolds.__file__).parent
LANGUAGES = sorted(SCAFFOLDS)


@pytest.fixture
def arena(tmp_path, monkeypatch, capsys):
    """Run the command in an empty folder: its exit code, what it said, what it complained of."""

    def run(*words):
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", ["arena", "new", *map(str, words)])
        with pytest.raises(SystemExit) as left:
            main()
        told = capsys.readouterr()
        return left.value.code, told.out, told.err

    return run


def content(folder):
    """All files below a folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_registry_names_every_file(language):
    """No file of a language is forgotten, none is named that isn't there."""
    there = {path.name for path in (HERE / language).iterdir() if path.name != "__pycache__"}
    assert there == {MANIFEST, *SCAFFOLDS[language].sources}


def test_the_registry_names_every_folder():
    """A folder for each language, and no other."""
    folders = {path.name for path in HERE.iterdir() if path.is_dir()} - {"__pycache__"}
    assert folders == set(SCAFFOLDS)


def test_no_word_stands_for_two_languages():
    """Names and aliases are all different, and all lower case."""
    words = [*SCAFFOLDS, *(alias for each in SCAFFOLDS.values() for alias in each.aliases)]
    assert len(words) == len(set(words)) == len(names())
    assert words == [word.casefold() for word in words]


@pytest.mark.parametrize("language", LANGUAGES)
def test_writes_a_bot(arena, tmp_path, language):
    """Manifest, sources and README, by the name that was given; nothing else anywhere."""
    code, said, complaint = arena(language, "Mine_2.0")
    assert (0, "") == (code, complaint)
    assert {f"Mine_2.0/{name}": data for name, data in render(language, "Mine_2.0").items()} == (
        content(tmp_path)
    )
    found = manifest.of_folder(tmp_path / "Mine_2.0")
    assert ("Mine_2.0", "1", "") == (found.name, found.version, found.author)
    assert "arena check Mine_2.0" in said
    assert "arena match Mine_2.0 " in said
    assert SCAFFOLDS[language].sources[0] in said
    assert 4 <= len(said.splitlines()) <= 5
    assert all(len(line) <= 80 for line in said.splitlines())


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_strategy_is_where_the_readme_says(language):
    """One function in one file, marked as what is to be changed."""
    files = render(language, "mine")
    readme, strategy = files[README].decode(), files[SCAFFOLDS[language].sources[0]].decode()
    assert f"`{SCAFFOLDS[language].function}` in `{SCAFFOLDS[language].sources[0]}`" in readme
    assert 1 == strategy.count("Your strategy goes here")
    assert readme.startswith("# mine\n")
    assert "$" not in readme
    assert "NAME" not in readme
    for field in ("seat", "grids", "phase", "discard", "drawn", "pile", "stock", "recycled"):
        assert field in strategy.lower()
    for field in ("order", "turns", "ended_by", "known", "totals"):
        assert field in strategy.lower()


@pytest.mark.parametrize("language", LANGUAGES)
def test_files_are_plain(language):
    """ASCII, Unix line ends, no tabs but Go's, lines that fit a screen."""
    for name, data in render(language, "mine").items():
        text = data.decode("ascii")
        assert text.endswith("\n")
        assert "\r" not in text
        assert "\t" not in text or name == "bot.go"
        assert [] == [line for line in text.splitlines() if len(line.expandtabs(4)) > 104]


def test_the_python_bot_knows_nothing_of_arena():
    """It imports the standard library's json, random, sys and typing alone."""
    tree = ast.parse((HERE / "python" / "bot.py").read_text())
    imported = {
        getattr(node, "module", None) or node.names[0].name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    assert {"json", "random", "sys", "typing"} == imported


@pytest.mark.parametrize(
    ("word", "language"),
    [
        ("js", "javascript"),
        ("node", "javascript"),
        ("C++", "cpp"),
        ("Py", "python"),
        ("rs", "rust"),
        ("golang", "go"),
        ("sh", "bash"),
        ("JAVA", "java"),
        ("C", "c"),
    ],
)
def test_takes_the_words_that_people_type(arena, tmp_path, word, language):
    """Aliases, in any case."""
    assert 0 == arena(word, "mine")[0]
    assert render(language, "mine") == content(tmp_path / "mine")


def test_takes_a_name_in_any_script(arena, tmp_path):
    """As the manifest does; a decomposed letter is the same letter."""
    name = "e\u0301t\u00e9-\u6771"
    assert 0 == arena("c", name)[0]
    assert "\u00e9t\u00e9-\u6771" == manifest.of_folder(tmp_path / name).name


def test_takes_a_path(arena, tmp_path):
    """The folder goes where the path says; the bot is named by its last part."""
    (tmp_path / "my bots").mkdir()
    code, said, _ = arena("python", "my bots/one/")
    assert 0 == code
    assert "arena check 'my bots/one/'" in said
    assert "one" == manifest.of_folder(tmp_path / "my bots" / "one").name


@pytest.mark.parametrize("words", [[], ["--list"], ["--list", "python", "mine"]])
def test_lists_the_languages(arena, tmp_path, words):
    """A line for each, and nothing is written."""
    code, said, complaint = arena(*words)
    assert (0, "") == (code, complaint)
    assert LANGUAGES == [line.split()[0] for line in said.splitlines()]
    assert {} == content(tmp_path)


def test_says_which_toolchain_is_missing(arena, tmp_path, monkeypatch):
    """In the list, and with a bot that is written all the same."""
    monkeypatch.setenv("PATH", str(tmp_path))
    _, said, _ = arena("--list")
    assert "go          needs 'go', which is not on PATH; install it" in said.splitlines()
    assert "python      ready to use" in said.splitlines()
    code, said, complaint = arena("c++", "mine")
    assert (0, "") == (code, complaint)
    assert "note: it needs 'c++', which is not on PATH; install it" in said.splitlines()
    assert (tmp_path / "mine" / "bot.cpp").is_file()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["mine", "python"], "the language comes first: arena new python mine"),
        (["pyhton", "mine"], "'pyhton' to begin with (did you mean 'python'?); there are: bash, c"),
        (["go"], "a name for the bot is missing, for instance: arena new go my-bot"),
        (["go", "a b"], "'a b' can't be a bot's name: it may have letters, digits"),
        (["go", "x" * 41], "it must have 1 to 40 characters, not 41"),
        (["go", "..."], "it must have at least one letter or digit"),
        (["go", "."], "'.' names no new folder"),
        (["go", "there/.."], "'there/..' names no new folder"),
        (["go", ""], "the path is empty"),
        (["go", "there"], "there exists already"),
        (["go", "lost"], "lost exists already"),
        (["go", "file"], "file exists already"),
        (["go", "nowhere/mine"], "there is no folder nowhere to make nowhere/mine in"),
        (["go", "file/mine"], "can't write file/mine: Not a directory"),
        (["go", "mine", "more"], "more"),
    ],
)
def test_what_is_wrong_is_one_line(arena, tmp_path, words, said):
    """With exit 2, what to do about it, and nothing written or changed."""
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "bot.toml").write_text("mine")
    (tmp_path / "lost").symlink_to("nothing")
    (tmp_path / "file").write_text("mine")
    code, out, complaint = arena(*words)
    assert (2, "") == (code, out)
    assert 1 == len(complaint.splitlines())
    assert said in complaint
    assert {"file": b"mine", "there/bot.toml": b"mine"} == content(tmp_path)


@pytest.mark.parametrize("language", ["cobol", "co\x1b[2Jbol", "haskell", "typescript", "php", "r"])
def test_a_language_without_a_scaffold_has_instructions(arena, tmp_path, language):
    """With exit 2: the manifest, the two answers, and where the page is; in 80 columns."""
    code, out, complaint = arena(language, "mine")
    assert (2, "", {}) == (code, out, content(tmp_path))
    first, *rest = complaint.splitlines()
    shown = "cobol" if language.startswith("co") else language
    assert f"there is no bot in '{shown}' to begin with; there are: bash, c" in first
    assert all(len(line) <= 80 for line in rest)
    said = "\n".join(rest)
    assert all(part in said for part in ('name = "mine"', '{"type":"ready"}', "arena spec"))


@pytest.mark.parametrize(
    ("number", "exit_code"), [(errno.EACCES, 2), (errno.EROFS, 2), (errno.ENOSPC, 4)]
)
@pytest.mark.parametrize("call", ["mkdir", "write_bytes"])
def test_leaves_nothing_half_written(arena, tmp_path, monkeypatch, number, exit_code, call):
    """No permission, a read-only or a full disk: one line, and no part of a bot is left."""
    real = getattr(Path, call)

    def fails(path, *rest):
        if path.name in {"mine", "bot.rs"}:
            raise OSError(number, os.strerror(number))
        return real(path, *rest)

    monkeypatch.setattr(Path, call, fails)
    code, out, complaint = arena("rust", "mine")
    assert (exit_code, "") == (code, out)
    assert f"arena: can't write mine: {os.strerror(number)}\n" == complaint
    assert [] == list(tmp_path.iterdir())


def test_leaves_nothing_after_an_interruption(arena, tmp_path, monkeypatch):
    """Ctrl-C in the middle of it."""

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "write_bytes", interrupted)
    assert (130, "", "arena: interrupted\n") == arena("c", "mine")
    assert [] == list(tmp_path.iterdir())


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everywhere")
def test_says_when_it_may_not_write(arena, tmp_path):
    """A folder of somebody else's."""
    (tmp_path / "closed").mkdir(mode=0o500)
    code, _, complaint = arena("c", "closed/mine")
    assert (2, "arena: can't write closed/mine: Permission denied\n") == (code, complaint)


@pytest.mark.process
def test_the_shell_completes_the_language():
    """What begins as the word does."""
    done = subprocess.run(
        [sys.executable, "-P", "-m", "arena"],
        env={**os.environ, "_ARENA_COMPLETE": "bash_complete"}
        | {"COMP_WORDS": "arena new ja", "COMP_CWORD": "2"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ["plain,java", "plain,javascript"] == done.stdout.splitlines()


def test_help_names_the_languages_way():
    """The help says how to see what there is."""
    assert "--list" in CliRunner().invoke(commands, ["new", "--help"]).output
