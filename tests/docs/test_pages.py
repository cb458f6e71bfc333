"""The pages: what they link to exists, what they must name they name, and they stay short."""

import ast
import importlib
import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import click
import msgspec
import pytest

import arena
from arena.bots.manifest import Asked, Manifest
from arena.cli import commands

REPOSITORY = Path(__file__).parents[2]
DOCS = REPOSITORY / "docs"
PACKAGE = REPOSITORY / "arena"
PAGES = sorted(
    path
    for path in (
        *REPOSITORY.glob("*.md"),
        *DOCS.rglob("*.md"),
        *REPOSITORY.glob("[a-z]*/README.md"),
    )
    if path.name != "CHANGELOG.md"
)
SHORT = {"README.md": 1_500, "ARCHITECTURE.md": 1_500, "CONTRIBUTING.md": 1_200}


def text_of(path):
    return path.read_text(encoding="utf-8")


def prose_of(path):
    """A page without its blocks of code."""
    return re.sub(r"```.*?```", "", text_of(path), flags=re.DOTALL)


def anchors(path):
    """What a heading is called in a link, as GitHub makes it."""
    headings = re.findall(
        r"^#+ (.*)$", re.sub(r"```.*?```", "", text_of(path), flags=re.DOTALL), re.MULTILINE
    )
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(REPOSITORY)))
def test_links_lead_somewhere(page):
    """Every relative link is to a file that is there, and to a heading of it."""
    for target in re.findall(r"\]\(([^)\s]+)\)", prose_of(page)):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        path = (page.parent / name).resolve() if name else page
        assert path.exists(), target
        if anchor:
            assert anchor in anchors(path), target


@pytest.mark.parametrize("name", SHORT)
def test_the_first_pages_are_short(name):
    assert len(text_of(REPOSITORY / name).split()) <= SHORT[name]


def test_the_page_of_commands_is_what_help_prints():
    """So every command and every flag that is not hidden is on it."""
    done = subprocess.run(
        [sys.executable, DOCS / "generate.py", "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (0, "") == (done.returncode, done.stdout)


def test_no_command_or_flag_lacks_its_words():
    """What is documented from help has to say something there."""
    for name, command in commands.commands.items():
        if command.hidden:
            continue
        assert command.get_short_help_str(), name
        for option in command.params:
            if isinstance(option, click.Option) and not option.hidden:
                assert option.help, (name, option.name)


def test_every_exit_code_is_on_the_page_of_events():
    """Those that any command's help names."""
    page = text_of(DOCS / "event.md")
    known = {int(code) for code in re.findall(r"^\| (\d+) \|", page, re.MULTILINE)}
    for name, command in commands.commands.items():
        # A command keeps the option that its first help is asked with.
        context = click.Context(command, help_option_names=["-h", "--help"])
        _, _, codes = command.get_help(context).partition("Exit codes:")
        named = {
            int(code) for code in re.findall(r"(?:^|\s{2,})(\d{1,3}) [a-z]", codes, re.MULTILINE)
        }
        assert named <= known, name


def trees():
    """(path, syntax tree) of every module of the package."""
    for path in sorted(PACKAGE.rglob("*.py")):
        yield path, ast.parse(text_of(path))


def is_emit(node):
    """Whether it emits a line of --json."""
    return isinstance(node.func, ast.Attribute) and "emit" == node.func.attr


def emitted():
    """The value of `event` in each line that any module emits with --json."""
    for path, tree in trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and is_emit(node):
                (name, *_) = node.args
                assert isinstance(name, ast.Constant), f"{path}:{node.lineno}: name it here"
                yield name.value
            elif isinstance(node, ast.Dict):
                fields = {
                    key.value: value
                    for key, value in zip(node.keys, node.values, strict=True)
                    if isinstance(key, ast.Constant)
                }
                if {"v", "event"} <= fields.keys() and isinstance(fields["event"], ast.Constant):
                    yield fields["event"].value


def test_every_json_event_is_on_the_page_of_events():
    """And the page has none that is never emitted."""
    _, _, section = text_of(DOCS / "event.md").partition("## For programs: `--json`")
    table, _, _ = section.partition("\n## ")
    assert set(re.findall(r"^\| `([a-z-]+)` \|", table, re.MULTILINE)) == set(emitted())


def codes_of(path, tree):
    """The exit codes that a module ends with."""
    name = ".".join(path.relative_to(REPOSITORY).with_suffix("").parts)
    constants = vars(importlib.import_module(name.removesuffix(".__init__")))
    for node in ast.walk(tree):
        for each in endings(node, path.stem):
            for part in ast.walk(each):
                value = part.value if isinstance(part, ast.Constant) else None
                if isinstance(part, ast.Name) and part.id.isupper():
                    value = constants[part.id]
                if isinstance(value, int) and not isinstance(value, bool):
                    yield int(value)


def endings(node, command):
    """The expressions that make an exit code: in a call, of an error, or what a command returns."""
    if isinstance(node, ast.Call) and ast.unparse(node.func) in ("SystemExit", "fail"):
        yield from node.args
    elif isinstance(node, ast.Assign) and "exit_code" == ast.unparse(node.targets[0]):
        yield node.value
    elif isinstance(node, ast.FunctionDef) and node.name in (command, "show_verification"):
        returns = (each for each in ast.walk(node) if isinstance(each, ast.Return))
        yield from (each.value for each in returns if each.value)


def test_every_exit_code_in_the_code_is_on_the_page_of_events():
    """And the page has none that nothing ends with, but for the traceback of a bug."""
    from arena.cli.options import exit_code

    page = text_of(DOCS / "event.md")
    known = {int(code) for code in re.findall(r"^\| (\d+) \|", page, re.MULTILINE)}
    used = {
        code
        for path, tree in trees()
        if path.is_relative_to(PACKAGE / "cli")
        or path in (PACKAGE / "terminal" / "verify_report.py", PACKAGE / "model" / "errors.py")
        for code in codes_of(path, tree)
    }
    ended = Ended()
    used |= {exit_code(ended.by(number)) for number in (signal.SIGINT, signal.SIGTERM)}
    used |= {exit_code(ended.with_verdict(verdict)) for verdict in arena.TrialVerdict}
    traceback = 1
    assert known == used | {traceback}


class Ended:
    """An outcome, as far as an exit code depends on it."""

    complete = False
    table = None
    signal = None
    verdict = None

    def by(self, number):
        """Stopped by a signal."""
        self.complete, self.signal = False, number
        return self

    def with_verdict(self, verdict):
        """A comparison that has come to its end."""
        self.complete, self.signal, self.table, self.verdict = True, None, self, verdict
        return self


def test_every_setting_of_an_event_file_is_documented():
    """As the flag of its name, with `arena run` or `prepare`; `bots` are their arguments."""
    schema = json.loads(text_of(REPOSITORY / "protocol" / "schema" / "event-file.json"))
    commands_of = text_of(DOCS / "commands.md").split("\n## arena ")
    found = [each for each in commands_of if each.startswith(("run\n", "prepare\n"))]
    assert 2 == len(found)
    for name in set(schema["properties"]) - {"bots"}:
        assert re.search(rf"--{name}\b(?!-)", "".join(found)), name
    assert "bots = [" in text_of(DOCS / "event.md")


def test_every_field_of_a_manifest_is_in_the_specification():
    """In its table; `asked` is what the table `limits` of the file is called in the code."""
    fields = [field.name for field in msgspec.structs.fields(Manifest) if field.name != "asked"]
    fields += [f"limits.{field.name}" for field in msgspec.structs.fields(Asked)]
    page = text_of(REPOSITORY / "protocol" / "SPEC.md")
    for name in fields:
        assert f"`{name}`" in page, name


def test_every_option_of_the_library_is_on_the_page_of_python():
    """Each field of each type whose name says that it holds options, and of limits."""
    page = text_of(DOCS / "python.md")
    for name in arena.__all__:
        if name.endswith("Options") or "Limits" == name:
            for field in msgspec.structs.fields(getattr(arena, name)):
                assert re.search(rf"\b{field.name}\b", page), f"{name}.{field.name}"


def test_every_design_page_is_found():
    """ARCHITECTURE.md, or another page, leads to it."""
    everything = "".join(text_of(page) for page in PAGES)
    for page in (DOCS / "design").glob("*.md"):
        assert f"{page.name})" in everything or f"{page.name}#" in everything, page.name
