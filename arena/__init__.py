"""A bot-tournament harness for nine-hole golf-card games.

`arena run bots/*` is the way in; ARCHITECTURE.md is the map of this package.
"""

__version__ = "0.1.0"
