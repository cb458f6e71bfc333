"""Write docs/commands.md, the help of every command.

    python docs/generate.py            write it if it has changed
    python docs/generate.py --check    exit 1 if it would change

A test runs the check, so that page and program can't drift apart.
"""

import sys
from pathlib import Path

import click
from click.testing import CliRunner

from arena.cli import commands

PAGE = Path(__file__).parent / "commands.md"
HEAD = """# Commands

What `arena COMMAND --help` prints, for every command. `python docs/generate.py` writes this page.
"""


def helped(command: str) -> str:
    """The help of a command, as in a terminal of 80 columns."""
    words = [*command.split(), "--help"]
    done = CliRunner().invoke(commands, words, prog_name="arena", terminal_width=80, color=False)
    return "\n".join(line.rstrip() for line in done.output.strip().splitlines())


def page() -> str:
    """The whole page."""
    context = click.Context(commands)
    names = []
    for name in commands.list_commands(context):
        found = commands.commands[name]
        if not found.hidden:
            below = found.commands if isinstance(found, click.Group) else ()
            names += [name, *(f"{name} {each}" for each in below)]
    parts = [HEAD, f"```text\n{helped('')}\n```\n"]
    parts += [f"## arena {name}\n\n```text\n{helped(name)}\n```\n" for name in names]
    return "\n".join(parts)


def main() -> int:
    """Write, or check."""
    text = page()
    if PAGE.is_file() and PAGE.read_text(encoding="utf-8") == text:
        return 0
    if "--check" not in sys.argv:
        PAGE.write_text(text, encoding="utf-8")
    print(f"{'differs' if '--check' in sys.argv else 'wrote'}: {PAGE.name}")
    return int("--check" in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
