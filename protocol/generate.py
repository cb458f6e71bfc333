"""Writes everything in this folder that follows from the code.

Schemas, vectors, transcripts, and the conversations that SPEC.md shows.

    python protocol/generate.py            write what has changed
    python protocol/generate.py --check    say what would change, exit 1 if anything would

The tests run the check, so that page and program can't drift apart. `makers/` holds the parts: a
script's own folder is where Python looks first.
"""

from __future__ import annotations

import sys
from pathlib import Path

from makers import page
from makers.schemas import schemas
from makers.transcripts import transcripts
from makers.vectors import vectors

HERE = Path(__file__).parent


def files() -> dict[str, bytes]:
    """Everything that is generated: path below this folder -> content."""
    spoken = dict(transcripts())
    spec = page.filled(page.PATH.read_text(encoding="utf-8"), spoken)
    texts = {**spoken, **dict(vectors()), **dict(schemas(page.Page(spec))), "SPEC.md": spec}
    return {name: text.encode() for name, text in texts.items()}


def main() -> int:
    """Write, or check."""
    changed = []
    for name, content in files().items():
        path = HERE / name
        if not path.exists() or path.read_bytes() != content:
            changed.append(name)
            if "--check" not in sys.argv:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
    for name in changed:
        print(("differs: " if "--check" in sys.argv else "wrote: ") + name)
    return int(bool(changed) and "--check" in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
