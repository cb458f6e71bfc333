"""The backend "none": no confinement at all, for whoever asks for it by name.

A bot is a plain child with the fixed environment and the same limits on memory and files. It
can read, write and reach what the user can. Only its end is as elsewhere: the whole tree dies.
"""

from __future__ import annotations

from arena.sandbox import Launch, Plan, Probe
from arena.sandbox.environment import INSIDE, checked, environment, limits


class Unconfined:
    """Starts programs as ordinary children."""

    name = "none"

    def probe(self) -> Probe:
        """Nothing is confined, so nothing can be missing."""
        return Probe(
            name=self.name,
            works=True,
            detail="NO SANDBOX: bots can read, write and reach all that you can",
        )

    def plan(self, launch: Launch) -> Plan:
        """Run it where it lies. The number of tasks has no limit: it counts for the whole user."""
        checked(launch)

        def outside(text: str) -> str:
            if text == INSIDE or text.startswith(INSIDE + "/"):
                return launch.root + text[len(INSIDE) :]
            return text

        return Plan(
            backend=self.name,
            argv=tuple(outside(text) for text in launch.run),
            env={name: outside(value) for name, value in environment(launch).items()},
            cwd=launch.root,
            rlimits=limits(launch),
        )
