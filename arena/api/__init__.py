"""Functions behind the public API: what a command does, without flags, terminal or exit codes.

`arena/__init__.py` lists the public names and loads them from here when they are first used.
"""
