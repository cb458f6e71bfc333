"""Convert the flags of a command to options of the public API."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import arena

_ENGINE = "dask"


def _live(params: dict[str, Any]) -> arena.LiveOptions | None:
    from arena import LiveOptions, UserError

    port, host, stay = (params[name] for name in ("live", "live_host", "live_stay"))
    if port is None:
        for flag, value in (("--live-host", host), ("--live-stay", stay)):
            if value:
                raise UserError(f"{flag} goes with --live")
        return None
    return LiveOptions(port=port, host=host or LiveOptions().host, stay=stay)


def _cluster(params: dict[str, Any]) -> arena.ClusterOptions | None:
    from arena import ClusterOptions, UserError

    on, ca, cert, key = (params[name] for name in ("on", "tls_ca", "tls_cert", "tls_key"))
    if on is None:
        if ca or cert or key:
            raise UserError("--tls-… goes with a cluster: --on dask tls://HOST:PORT")
        return None
    engine, place = on
    if engine != _ENGINE:
        raise UserError(
            f"--on {engine}: name the engine, then the cluster: --on dask local:N, --on dask "
            "ADDRESS or --on dask SCHEDULER_FILE"
        )
    found = ClusterOptions(place=place, tls_ca=ca, tls_cert=cert, tls_key=key)
    if params.get("jobs") is not None:
        raise UserError("--jobs: with --on every thread of the cluster's workers plays a match")
    return found


def run_options_of(params: dict[str, Any]) -> arena.RunOptions:
    from arena import RunOptions

    max_time = params["max_time"]
    return RunOptions(
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
    from arena import Limits

    flags = {n: n.removesuffix("_mb").replace("_ms", "_time") for n in Limits.__struct_fields__}
    return Limits(**{name: params[flag] for name, flag in flags.items() if flag in params})


def exit_code(outcome: arena.Outcome) -> int:
    """What a trial has shown, or the signal that has stopped play."""
    import signal

    from arena import TrialVerdict

    if outcome.complete and outcome.table and outcome.table.verdict:
        codes = {TrialVerdict.BETTER: 0, TrialVerdict.NOT_BETTER: 6, TrialVerdict.UNDECIDED: 7}
        return codes[outcome.table.verdict]
    number = signal.SIGTERM if outcome.signal == signal.SIGUSR1 else outcome.signal
    return 128 + number if number else 0


def event_options_of(params: dict[str, Any]) -> arena.EventOptions:
    from arena import EventOptions

    others = {
        "series": 1 if params["fresh"] == "match" else params["series"],
        "schedule_options": dict(params["schedule_options"]),
        "luck": not params["no_luck"],
        "same_author": not params["no_same_author"],
        "limits": limits_of(params),
    }
    same = {name: params[name] for name in EventOptions.__struct_fields__ if name in params}
    return EventOptions(**same | others)


def match_options_of(params: dict[str, Any]) -> arena.MatchOptions:
    from arena import MatchOptions

    same = {name: params[name] for name in MatchOptions.__struct_fields__ if name in params}
    return MatchOptions(**same, playoff=not params["no_playoff"], limits=limits_of(params))
