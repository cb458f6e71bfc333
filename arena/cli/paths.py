"""What every argument and option that is a path has to be, whichever command takes it.

Messages and commands for copying name the path, so it must be possible to name it in a line.
"""

from __future__ import annotations

import os
from typing import Any

import click


class PathName(click.Path):  # type: ignore[misc,unused-ignore] # newer click: generic
    """A path that names something: neither empty nor with control characters in it."""

    def convert(
        self,
        value: Any,  # noqa: ANN401 - click's own signature
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Any:  # noqa: ANN401 - a string or a path, as was asked for
        """Refuse it in one line, or take it as it is."""
        text = os.fsdecode(value)
        if not text:
            # A path of no parts would be taken for the current folder.
            self.fail("the path is empty", param, ctx)
        if any(char < " " or "\x7f" <= char <= "\x9f" for char in text):
            from arena.reports.escape import plain

            self.fail(
                f"'{plain(text)}' has control characters in it: give it another name", param, ctx
            )
        return super().convert(value, param, ctx)
