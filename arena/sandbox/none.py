"""The backend "none": no confinement at all, for whoever asks for it by name.

A bot is a plain child with the fixed environment and the same limits on memory and files. It
can read, write and reach what the user can. Only its end is as elsewhere: the whole tree dies.
"""

from __future__ import annotations

from arena.sandbox import Launch, Plan, Probe
from arena.sandbox.environment import checked, environment, limits, outside, scratch, share


class Unconfined:
    """Starts programs as ordinary children."""

    name = "none"

    def probe(self) -> Probe:
        """Nothing is confined, so nothing is tried."""
        return Probe(
            name=self.name,
            works=True,
            detail="none: bots can read, write and reach all that you can",
        )

    def plan(self, launch: Launch) -> Plan:
        """Run it where it lies. A limit on the number of tasks would count for the whole user:
        the spawner counts instead.
        """
        checked(launch)
        return Plan(
            backend=self.name,
            argv=tuple(outside(text, launch) for text in launch.run),
            env={name: outside(value, launch) for name, value in environment(launch).items()},
            cwd=launch.root,
            rlimits=limits(launch),
            share=share(launch),
            options={"scratch": scratch(launch), "spare uid": False},
        )
