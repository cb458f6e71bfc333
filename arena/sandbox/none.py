"""The backend "none": no confinement, only for users who ask for it by name.

A bot is a plain child process with the fixed environment and the same limits. It can read, write
and reach what the user can. As in every backend, its whole tree is killed at its end.
"""

from arena.sandbox import Launch, Probe, SpawnPlan, environment


class Unconfined:
    name = "none"

    def probe(self) -> Probe:
        detail = "none: bots can read, write and reach all that you can"
        return Probe(name=self.name, works=True, detail=detail)

    def take_over(self, found: Probe) -> None:
        """There is nothing to find."""

    def plan(self, launch: Launch) -> SpawnPlan:
        """Without NPROC, which would count the whole user's tasks: the spawner counts instead."""
        return environment.plan(launch, self.name, {"spare uid": False, "resident": ""})
