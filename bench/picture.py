"""A terminal's text as an SVG picture that needs no font, script or file from elsewhere.

arena table results/play-nine | python bench/picture.py "arena run example_bots/*" > run.svg
"""

from __future__ import annotations

import sys
from html import escape

LINE = 17
CHARACTER = 8.05
MARGIN = 16


def picture(command: str, text: str) -> str:
    """The picture of a command and what it printed."""
    lines = [f"$ {command}", *text.rstrip("\n").split("\n")]
    width = round(max(map(len, lines)) * CHARACTER + 2 * MARGIN)
    height = len(lines) * LINE + 2 * MARGIN
    rows = "".join(
        f'<tspan x="{MARGIN}" y="{MARGIN + LINE * number + 12}" fill="{colour}">'
        f"{escape(line) or ' '}</tspan>"
        for number, line in enumerate(lines)
        for colour in ("#8bd49c" if number == 0 else "#d8dee9",)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img">\n'
        f"<title>{escape(command)}</title>\n"
        f'<rect width="100%" height="100%" rx="8" fill="#16181d"/>\n'
        f'<text xml:space="preserve" font-size="13.4" '
        f'font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace">{rows}</text>\n'
        "</svg>\n"
    )


if __name__ == "__main__":
    sys.stdout.write(picture(sys.argv[1], sys.stdin.read()))
