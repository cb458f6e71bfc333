"""Convert the flags of a command to options of the public API."""

from __future__ import annotations

import signal
from typing import Any

import arena

_ENGINE = "dask"


def _live(params: dict[str, Any]) -> arena.LiveOptions | None:
    port, host, stay = (params[name] for name in ("live", "live_host", "live_stay"))
    if port is None:
        for flag, value in (("--live-host", host), ("--live-stay", stay)):
            if value:
                raise arena.UserError(f"{flag} goes with --live")
        return None
    return arena.LiveOptions(port=port, host=host or arena.LiveOptions().host, stay=stay)


def _cluster(params: dict[str, Any]) -> arena.ClusterOptions | None:
    on, ca, cert, key = (params[name] for name in ("on", "tls_ca", "tls_cert", "tls_key"))
    if on is None:
        if ca or cert or key:
            raise arena.UserError("--tls-… goes with a cluster: --on dask tls://HOST:PORT")
        return None
    engine, place = on
    if engine != _ENGINE:
        raise arena.UserError(
            f"--on {engine}: name the engine, then the cluster: --on dask local:N, --on dask "
            "ADDRESS or --on dask SCHEDULER_FILE"
        )
    found = arena.ClusterOptions(place=place, tls_ca=ca, tls_cert=cert, tls_key=key)
    if params.get("jobs") is not None:
        why = "with --on every thread of the cluster's workers plays a match"
        raise arena.UserError(f"--jobs: {why}")
    return found


def run_options_of(params: dict[str, Any]) -> arena.RunOptions:
    max_time = params["max_time"]
    return arena.RunOptions(
        sandbox=params["sandbox"],
        jobs=params["jobs"],
        pin=not params["no_pin"],
        max_seconds=None if max_time is None else max_time / 1000,
        live=_live(params),
        cluster=_cluster(params),
    )


def playing_of(params: dict[str, Any]) -> dict[str, Any]:
    """What every function that plays an event takes: how it is run here, and the display."""
    from arena.terminal.progress import progress

    display = progress(as_json=params["as_json"], quiet=params["quiet"])
    return {"options": run_options_of(params), "progress": display}


def limits_of(params: dict[str, Any]) -> arena.Limits:
    """What a bot may use; what a command has no flag for is as by default."""
    names = arena.Limits.__struct_fields__
    flags = {name: name.removesuffix("_mb").replace("_ms", "_time") for name in names}
    return arena.Limits(**{name: params[flag] for name, flag in flags.items() if flag in params})


def exit_code(outcome: arena.Outcome) -> int:
    """What a trial has shown, or the signal that has stopped play."""
    if outcome.complete and outcome.table and outcome.table.verdict:
        shown = arena.TrialVerdict
        codes = {shown.BETTER: 0, shown.NO_WORSE: 0, shown.UNDECIDED: 7}
        return codes.get(outcome.table.verdict, 6)
    return code_of_signal(outcome.signal)


def code_of_signal(number: int) -> int:
    number = signal.SIGTERM if number == signal.SIGUSR1 else number
    return 128 + number if number else 0


def event_options_of(params: dict[str, Any]) -> arena.EventOptions:
    others = {
        "series": 1 if params["fresh"] == "match" else params["series"],
        "schedule_options": dict(params["schedule_options"]),
        "luck": not params["no_luck"],
        "same_author": not params["no_same_author"],
        "limits": limits_of(params),
        "name": params.get("event_name"),
    }
    same = {name: params[name] for name in arena.EventOptions.__struct_fields__ if name in params}
    return arena.EventOptions(**same | others)


def match_options_of(params: dict[str, Any]) -> arena.MatchOptions:
    same = {name: params[name] for name in arena.MatchOptions.__struct_fields__ if name in params}
    return arena.MatchOptions(**same, playoff=not params["no_playoff"], limits=limits_of(params))
