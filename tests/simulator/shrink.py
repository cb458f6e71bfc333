"""Shrink the faults of a failing seed: as few as break the same promise, as early as they do."""

from dataclasses import replace

from tests.simulator.simulate import Run, simulate

# Of runs, for one failing seed.
MOST = 300


def shrink(run: Run) -> Run:
    """The run of the shortest list of faults that was found to fail."""
    best, tries = run, 0

    def fails(drawn) -> bool:
        nonlocal best, tries
        tries += 1
        found = simulate(run.seed, tuple(drawn), found=run.scenario, computed=run.computed)
        if found.violations:
            best = found
        return bool(found.violations)

    fewer = True
    while fewer and tries < MOST:
        fewer = any(fails(best.drawn[:at] + best.drawn[at + 1 :]) for at in range(len(best.drawn)))
    for at in range(len(best.drawn)):
        for sooner in (1, best.drawn[at].at // 4, best.drawn[at].at // 2):
            fault = best.drawn[at]
            if 0 < sooner < fault.at and tries < MOST:
                fault = replace(fault, at=sooner)
                if fails([*best.drawn[:at], fault, *best.drawn[at + 1 :]]):
                    break
    return best
