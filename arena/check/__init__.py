"""`arena check`: run a bot through every rule of the protocol, and name its mistakes.

    runner.check_bot(...)     every check of `checks.CHECKS` on one bot  ->  report.Report
    diagnosis.diagnose(...)   what was sent, what came, how it ended     ->  a `Mistake`

The session and referee of an event judge the bot's answers; this package only explains their
verdicts. See docs/design/check.md.
"""
