"""The pages: what they link to exists, what they must name they name, and they stay short."""

import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

from arena.cli import commands

REPOSITORY = Path(__file__).parents[2]
DOCS = REPOSITORY / "docs"
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
        _, _, codes = (command.epilog or "").partition("Exit codes:")
        named = {
            int(code) for code in re.findall(r"(?:^|\s{2,})(\d{1,3}) [a-z]", codes, re.MULTILINE)
        }
        assert named <= known, name


def test_every_design_page_is_found():
    """ARCHITECTURE.md, or another page, leads to it."""
    everything = "".join(text_of(page) for page in PAGES)
    for page in (DOCS / "design").glob("*.md"):
        assert f"{page.name})" in everything or f"{page.name}#" in everything, page.name
