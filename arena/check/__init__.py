"""Whether a bot keeps to the protocol, and if not, which mistake it is.

    examine(...)   every check of `checks.CHECKS` with one bot  ->  report.Report
    diagnose(...)  what was sent, what came, how it ended       ->  the mistake by its name

A bot's answers are judged by the same session and referee as in an event; what is here only
explains their verdicts. `diagnosis`, `causes` and `languages` know no clock and no process.
"""
