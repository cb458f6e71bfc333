"""Exceptions by culprit: the user, a bot that can't start, the machine."""


class UserError(Exception):
    """The user's mistake: one or more lines that say what was wrong, where, what to do."""

    exit_code = 2


class UntrueError(UserError):
    """A record that the deals and the rules don't make of its moves."""


class StartError(UserError):
    """Bots that can't start, reported together before the first match."""

    exit_code = 3


class HostError(Exception):
    """The machine's trouble: voids the series, and no bot loses by it."""
