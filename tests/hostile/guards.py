"""Taking guards out of a plan, so that an attack can be seen to succeed without them.

A plan is plain data, so every guard that stands in it can be left out by itself; README.md has
the words for them. A guard that a backend, a user or a machine doesn't have is nothing to remove,
and a word that no backend knows is a mistake in a table.
"""

import functools
from unittest import mock

import msgspec

from arena.sandbox import bwrap, seccomp
from arena.sandbox.mounts import STAGE
from arena.sandbox.none import Unconfined

SANDBOX = "sandbox"
SPAWNER = "spawner"
OVERSEER = "overseer"
"""The referee's, so it stands in no plan: who observes leaves it out."""

_PARTS = tuple(f"--unshare-{name}" for name in ("ipc", "pid", "net", "uts", "cgroup"))
_ABI_BEFORE = {"truncate": 2, "net": 3, "device": 4, "scope": 5}
"""The last ABI that did not hold it: a plan for that one lacks it, and all that came later."""


def without(backend, launch, guards):
    """The plan of a launch without some guards."""
    if {SANDBOX, SPAWNER} & set(guards):
        plan = Unconfined().plan(launch)
        guards = [each for each in guards if each.startswith("rlimit:")]
    else:
        rules = {each.partition(":")[2] for each in guards if each.startswith("seccomp:")}
        plan = _filtered(backend, launch, rules)
    # What is shown is shown before /, where it is mounted, becomes read-only or doesn't.
    for guard in sorted(guards, key=lambda each: not each.startswith("hidden:")):
        kind, _, name = guard.partition(":")
        if kind == "rlimit":
            changes = {"rlimits": {key: plan.rlimits[key] for key in plan.rlimits if key != name}}
        elif kind == "share":
            changes = {"share": msgspec.structs.replace(plan.share, **{name: 0})}
        elif kind == "uid":
            # Its rights go with root's uid, and stay with it.
            changes = {"options": {**plan.options, "spare uid": False, "capabilities": ""}}
        elif kind == "resident":
            changes = {"options": {**plan.options, "resident": ""}}
        elif kind in {"seccomp", "times", OVERSEER}:  # of the filter; for observers to take away
            continue
        else:
            remove = {"bwrap": _from_bwrap, "landlock": _from_landlock}[plan.backend]
            changes = {"options": remove(dict(plan.options), kind, name)}
        plan = msgspec.structs.replace(plan, **changes)
    return plan


def _filtered(backend, launch, rules):
    """The plan, made with a filter that lacks the rules."""
    if "*" in rules:
        return msgspec.structs.replace(backend.plan(launch), seccomp="")
    assert rules <= set(seccomp.RULES), f"unknown rules: {sorted(rules - set(seccomp.RULES))}"
    weaker = functools.partial(seccomp.program, without=rules)
    uncached = bwrap._filter.__wrapped__
    with (
        mock.patch.object(seccomp, "program", weaker),
        mock.patch.object(bwrap, "_filter", uncached),
    ):
        return backend.plan(launch)


def _from_bwrap(options, kind, name):
    args = list(options["args"])
    if kind == "hidden":
        source = name
        if "stage" in options:
            stage = dict(options["stage"])
            source = f"{STAGE}/{len(stage)}"
            options["stage"] = {**stage, str(len(stage)): name}
        at = _find(args, ["--remount-ro", "/"])
        args[at:at] = ["--dev-bind", source, name]
    elif kind == "readonly":
        ends = range(2, len(args))
        (at,) = (at for at in ends if args[at] == name and args[at - 2] == "--ro-bind")
        args[at - 2] = "--bind"
    else:
        assert kind.startswith("--"), f"bwrap has no guard {kind}:{name}"
        if kind in _PARTS and "--unshare-all" in args:
            at = args.index("--unshare-all")
            args[at : at + 1] = _PARTS
        wanted = kind.split()
        at = _find(args, wanted)
        del args[at : at + len(wanted)]
    options["args"] = tuple(args)
    return options


def _find(args, wanted):
    (at,) = (at for at in range(len(args)) if args[at : at + len(wanted)] == wanted)
    return at


def _from_landlock(options, kind, name):
    if kind == "hidden":
        options["read"] = (*options["read"], name)
    elif name == "files":
        # As if everything were its own folder. Never with a spare uid: a writable root is given to
        # it, file by file.
        options["root"], options["writable"], options["spare uid"] = "/", True, False
    elif kind == "landlock":
        options["abi"] = min(options["abi"], _ABI_BEFORE[name])
    else:
        raise AssertionError(f"landlock has no guard {kind}:{name}")
    return options
