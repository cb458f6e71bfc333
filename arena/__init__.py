"""A bot-tournament harness for nine-hole golf-card games: the public API.

The names in `__all__` are the public API; docs/python.md documents each. All else in this package
is private and may change without notice. A name is loaded when it is first used, so `import arena`
loads nothing heavy.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from arena.api.check import CheckOptions as CheckOptions
    from arena.api.check import CheckProgress as CheckProgress
    from arena.api.check import check_bots as check_bots
    from arena.api.events import add_bots as add_bots
    from arena.api.events import compare as compare
    from arena.api.events import dry_run as dry_run
    from arena.api.events import is_tuning as is_tuning
    from arena.api.events import merge as merge
    from arena.api.events import play_match as play_match
    from arena.api.events import prepare as prepare
    from arena.api.events import resume as resume
    from arena.api.events import resume_tuning as resume_tuning
    from arena.api.events import run as run
    from arena.api.events import run_async as run_async
    from arena.api.events import run_prepared as run_prepared
    from arena.api.events import stop as stop
    from arena.api.events import tune as tune
    from arena.api.events import tuning_events as tuning_events
    from arena.api.proof import Verification as Verification
    from arena.api.proof import audit_results as audit_results
    from arena.api.proof import publish as publish
    from arena.api.proof import verify_results as verify_results
    from arena.api.results import EventResults as EventResults
    from arena.api.results import is_results_folder as is_results_folder
    from arena.api.results import open_results as open_results
    from arena.api.results import rate as rate
    from arena.api.results import replay_match as replay_match
    from arena.api.twins import TwinOptions as TwinOptions
    from arena.api.twins import find_twins as find_twins
    from arena.audit.report import Audit as Audit
    from arena.check.report import CheckReports as CheckReports
    from arena.event.compare import Comparison as Comparison
    from arena.event.options import EventOptions as EventOptions
    from arena.event.options import LiveOptions as LiveOptions
    from arena.event.options import MatchOptions as MatchOptions
    from arena.event.options import RunOptions as RunOptions
    from arena.event.options import TrialOptions as TrialOptions
    from arena.event.options import TuneOptions as TuneOptions
    from arena.event.prepare import Forecast as Forecast
    from arena.event.prepare import Prepared as Prepared
    from arena.event.progress import Outcome as Outcome
    from arena.event.progress import Progress as Progress
    from arena.event.progress import Start as Start
    from arena.event.rerate import RateOptions as RateOptions
    from arena.event.search import Bound as Bound
    from arena.event.search import Search as Search
    from arena.event.single_match import SingleMatch as SingleMatch
    from arena.event.tune import Tuning as Tuning
    from arena.executors.cluster import ClusterOptions as ClusterOptions
    from arena.games import IllegalMoveError as IllegalMoveError
    from arena.ladder.operations import LadderStatus as LadderStatus
    from arena.ladder.operations import is_ladder as is_ladder
    from arena.ladder.operations import ladder_feedback as ladder_feedback
    from arena.ladder.operations import ladder_freeze as ladder_freeze
    from arena.ladder.operations import ladder_grades as ladder_grades
    from arena.ladder.operations import ladder_init as ladder_init
    from arena.ladder.operations import ladder_intake as ladder_intake
    from arena.ladder.operations import ladder_publish as ladder_publish
    from arena.ladder.operations import ladder_round as ladder_round
    from arena.ladder.operations import ladder_status as ladder_status
    from arena.ladder.operations import ladder_submit as ladder_submit
    from arena.ladder.operations import ladder_table as ladder_table
    from arena.ladder.operations import ladder_total as ladder_total
    from arena.ladder.operations import ladder_verify as ladder_verify
    from arena.ladder.operations import ladder_watch as ladder_watch
    from arena.ladder.submissions import Handled as Handled
    from arena.ladder.total import TotalRow as TotalRow
    from arena.ladder.verify import LadderFinding as LadderFinding
    from arena.ladder.verify import LadderVerdict as LadderVerdict
    from arena.model import Entrant as Entrant
    from arena.model import Event as Event
    from arena.model import Fault as Fault
    from arena.model import FaultKind as FaultKind
    from arena.model import HostError as HostError
    from arena.model import Limits as Limits
    from arena.model import MatchRecord as MatchRecord
    from arena.model import Settings as Settings
    from arena.model import Standing as Standing
    from arena.model import StartError as StartError
    from arena.model import Table as Table
    from arena.model import TrialVerdict as TrialVerdict
    from arena.model import UserError as UserError
    from arena.regret import Decision as Decision
    from arena.regret.summary import BotRegret as BotRegret
    from arena.regret.summary import RegretReport as RegretReport
    from arena.replay.steps import MatchSteps as MatchSteps
    from arena.site.publish import PublishOptions as PublishOptions
    from arena.twins.likeness import TellingMove as TellingMove
    from arena.twins.likeness import TwinBot as TwinBot
    from arena.twins.likeness import TwinPair as TwinPair
    from arena.twins.likeness import TwinReport as TwinReport
    from arena.verify.rerun import RerunOptions as RerunOptions

__version__ = "0.2.0"

_HOMES = {
    "arena.api.check": ("CheckOptions", "CheckProgress", "check_bots"),
    "arena.api.events": (
        *("add_bots", "compare", "dry_run", "merge", "prepare", "resume", "run", "run_async"),
        *(
            "play_match",
            "run_prepared",
            "stop",
            "tune",
            "is_tuning",
            "resume_tuning",
            "tuning_events",
        ),
    ),
    "arena.api.proof": (*("Verification", "audit_results", "publish", "verify_results"),),
    "arena.api.results": (
        *("EventResults", "is_results_folder", "open_results", "rate", "replay_match"),
    ),
    "arena.api.twins": ("TwinOptions", "find_twins"),
    "arena.audit.report": ("Audit",),
    "arena.check.report": ("CheckReports",),
    "arena.event.compare": ("Comparison",),
    "arena.event.options": (
        *(
            "EventOptions",
            "LiveOptions",
            "MatchOptions",
            "RunOptions",
            "TrialOptions",
            "TuneOptions",
        ),
    ),
    "arena.event.prepare": ("Forecast", "Prepared"),
    "arena.event.progress": ("Outcome", "Progress", "Start"),
    "arena.event.rerate": ("RateOptions",),
    "arena.event.search": ("Bound", "Search"),
    "arena.event.single_match": ("SingleMatch",),
    "arena.event.tune": ("Tuning",),
    "arena.executors.cluster": ("ClusterOptions",),
    "arena.games": ("IllegalMoveError",),
    "arena.ladder.operations": (
        *(
            "LadderStatus",
            "is_ladder",
            "ladder_feedback",
            "ladder_freeze",
            "ladder_grades",
            "ladder_init",
        ),
        *(
            "ladder_intake",
            "ladder_publish",
            "ladder_round",
            "ladder_status",
            "ladder_submit",
            "ladder_table",
            "ladder_total",
            "ladder_verify",
            "ladder_watch",
        ),
    ),
    "arena.ladder.submissions": ("Handled",),
    "arena.ladder.total": ("TotalRow",),
    "arena.ladder.verify": ("LadderFinding", "LadderVerdict"),
    "arena.model": (
        *("Entrant", "Event", "Fault", "FaultKind", "HostError", "Limits", "MatchRecord"),
        *("Settings", "Standing", "StartError", "Table", "TrialVerdict", "UserError"),
    ),
    "arena.regret": ("Decision",),
    "arena.regret.summary": ("BotRegret", "RegretReport"),
    "arena.replay.steps": ("MatchSteps",),
    "arena.site.publish": ("PublishOptions",),
    "arena.twins.likeness": ("TellingMove", "TwinBot", "TwinPair", "TwinReport"),
    "arena.verify.rerun": ("RerunOptions",),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [*sorted(_HOME), "__version__"]  # noqa: PLE0604 - strings, each of them


def __getattr__(name: str) -> Any:  # noqa: ANN401 - any public name
    if name not in _HOME:
        raise AttributeError(f"module 'arena' has no public name {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
