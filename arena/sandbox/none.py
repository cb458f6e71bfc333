"""The backend "none": no confinement, only for users who ask for it by name.

A bot is a plain child process with the fixed environment and the same limits. It can read, write
and reach what the user can. As in every backend, its whole tree is killed at its end.
"""

from __future__ import annotations

from arena.sandbox import Launch, Probe, SpawnPlan, environment


class Unconfined:
    name = "none"

    def probe(self) -> Probe:
        return Probe(
            name=self.name,
            works=True,
            detail="none: bots can read, write and reach all that you can",
        )

    def plan(self, launch: Launch) -> SpawnPlan:
        """Without NPROC, which would count the whole user's tasks: the spawner counts instead."""
        environment.check(launch)
        argv, env = environment.unmapped_command(launch)
        return SpawnPlan(
            backend=self.name,
            argv=argv,
            env=env,
            cwd=launch.root,
            rlimits=environment.rlimits(launch),
            share=environment.tree_limits(launch),
            options={"scratch": environment.scratch_options(launch), "spare uid": False},
        )
