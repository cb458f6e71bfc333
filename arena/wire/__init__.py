"""The bots' wire: messages, framing, and one bot's session as a sans-IO state machine.

Knows no game, no clock and no process.
"""
