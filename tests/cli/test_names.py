"""Names on a command line: example bots, and what a shell completes."""

import tomllib
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from arena.cli import commands
from arena.cli.paths import BotPath
from arena.scaffolds import EXAMPLES, example_bot, is_example, specification

REPOSITORY = Path(__file__).parents[2]
FROZEN = REPOSITORY / "tests/frozen/folders/finished-nine-2"


def completed(*words):
    """What a shell is offered for the last word."""
    *typed, incomplete = words
    shell = ShellComplete(commands, {}, "arena", "_ARENA_COMPLETE")
    return [item.value for item in shell.get_completions(typed, incomplete)]


def test_a_bot_is_a_path_or_an_example_bot(tmp_path, monkeypatch):
    """A path of that name wins, whatever is there; other names stay paths."""
    monkeypatch.chdir(tmp_path)
    kind = BotPath()
    assert REPOSITORY / "example_bots" / "greedy" == kind.convert("greedy", None, None)
    assert [Path("./greedy"), Path("nobody")] == [
        kind.convert(name, None, None) for name in ("./greedy", "nobody")
    ]
    Path("greedy").symlink_to("nothing")
    assert Path("greedy") == kind.convert("greedy", None, None)


def test_an_event_file_may_name_them_too(tmp_path, monkeypatch):
    """Beside the file comes first."""
    from arena.cli.event_file import _expand

    monkeypatch.chdir(tmp_path)
    assert [str(example_bot("greedy"))] == _expand(tmp_path, "greedy")
    (tmp_path / "greedy").mkdir()
    assert [str(tmp_path / "greedy")] == _expand(tmp_path, "greedy")


def test_the_example_bots_need_no_compiler():
    """And there are no others that don't."""
    manifests = {
        path.parent.name: tomllib.loads(path.read_text())
        for path in (REPOSITORY / "example_bots").glob("*/bot.toml")
    }
    assert sorted(EXAMPLES) == sorted(
        n for n, content in manifests.items() if "build" not in content
    )
    assert all(is_example(example_bot(name)) for name in EXAMPLES)
    assert not is_example(REPOSITORY / "example_bots" / "greedy" / "bot.py")


def test_the_wheel_has_them_and_the_page():
    """What pyproject.toml puts into it is what is looked for."""
    target = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    forced = target["targets"]["wheel"]["force-include"]
    assert forced == {"protocol/SPEC.md": "arena/scaffolds/shipped/SPEC.md"} | {
        f"example_bots/{name}": f"arena/scaffolds/shipped/bots/{name}" for name in EXAMPLES
    }
    assert all((REPOSITORY / path).exists() for path in forced)


def test_spec_prints_the_page(capfdbinary, monkeypatch):
    """Byte for byte."""
    commands.main(["spec"], standalone_mode=False)
    assert (REPOSITORY / "protocol/SPEC.md").read_bytes() == capfdbinary.readouterr().out
    assert specification() == REPOSITORY / "protocol/SPEC.md"


@pytest.mark.parametrize("command", ["match", "run", "play", "compare", "check", "prepare", "feed"])
def test_a_shell_completes_example_bots(command):
    """Where a bot is expected."""
    assert {"greedy", "matcher"} <= set(completed(command, ""))
    assert "greedy" in completed(command, "gre")


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (["replay", str(FROZEN), "--bot"], "name"),
        (["log", str(FROZEN), "--bot"], "name"),
        (["table", str(FROZEN), "--bot"], "name"),
        (["rate", str(FROZEN), "--without"], "name"),
        (["feed", "x", str(FROZEN), "--bot"], "name"),
        (["replay", str(FROZEN)], "match"),
        (["log", str(FROZEN), "--transcript"], "match"),
        (["feed", "x", str(FROZEN), "--match"], "match"),
    ],
)
def test_a_shell_completes_names_and_ids_of_a_results_folder(words, wanted):
    """Those of the folder on the line; what isn't one offers nothing."""
    from arena.store import read_event, read_records

    names = {entrant.name for entrant in read_event(FROZEN).entrants}
    ids = {record.id for record in read_records(FROZEN)}
    offered = set(completed(*words, ""))
    assert (names if wanted == "name" else offered) <= offered
    assert offered
    if wanted == "match":
        assert offered <= ids
    one = min(offered)
    assert one in completed(*words, one[:3])
    elsewhere = [word.replace(str(FROZEN), "/nowhere") for word in words]
    assert not completed(*elsewhere, "")


def test_bash_offers_example_bots_and_paths(tmp_path, monkeypatch):
    """Its script forgets all words as soon as it is told to look for paths."""
    (tmp_path / "group").mkdir()
    monkeypatch.chdir(tmp_path)
    assert ["greedy", "group"] == completed("match", "gr")
    for words, kinds in (("gr", {"plain"}), ("gro", {"file"}), ("./gr", {"file"})):
        found = ShellComplete(commands, {}, "arena", "_ARENA_COMPLETE").get_completions(
            ["match"], words
        )
        assert kinds == {item.type for item in found}, words


def test_a_mistyped_example_bot_is_guessed(tmp_path, monkeypatch):
    """Where a bare name is no path; a path is near other paths alone."""
    from arena.bots import load

    monkeypatch.chdir(tmp_path)
    hints = [
        str(load([Path(name)], cache=tmp_path / "cache").problems[0])
        for name in ("greedyy", "x/greedyy")
    ]
    assert ["(did you mean 'greedy'?)" in hint for hint in hints] == [True, False]


def test_an_example_bot_may_lie_where_every_bot_sees_it(monkeypatch):
    """A package installed for all users has them in such a folder; they are public."""
    from arena.bots import Candidate
    from arena.bots.manifest import Manifest
    from arena.event import workshop
    from arena.model import Entrant, UserError

    monkeypatch.setattr(workshop, "public_folder_of", lambda _: "/usr/local/lib")
    entrant = Entrant(id="greedy@1", name="greedy", version="1", hash="")

    def candidate(path):
        stated = Manifest()
        return Candidate(
            entrant=entrant, stated=stated, source=str(path), snapshot="", path="greedy"
        )

    workshop.refuse_shown_bots([candidate(example_bot("greedy"))])
    with pytest.raises(UserError, match="which every bot sees"):
        workshop.refuse_shown_bots([candidate(REPOSITORY / "example_bots" / "greedy" / "x")])
