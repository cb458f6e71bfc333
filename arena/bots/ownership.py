"""Check that no other user can change what a path leads to, for folders whose content is trusted.

A folder is this user's own only if no user but this one and root can write to it, or to any folder
on the way to it, where the next one could be exchanged: the rule of ssh for folders of keys.
"""

from __future__ import annotations

import grp
import os
import pwd
import stat
from pathlib import Path

from arena.bots.folder import open_path, trusted_users


def write_risk(path: Path) -> str:
    """Why other users can change a folder; empty if they can't."""
    try:
        with open_path(path) as reached:
            for shown, info in reached.passed:
                # In a folder such as /tmp only its owner can exchange an entry.
                sticky = stat.S_ISDIR(info.st_mode) and info.st_mode & stat.S_ISVTX
                if why := _why(info, writable=not sticky):
                    return f"{shown} {why}"
            why = _why(reached.info, writable=True)
            return f"{path} {why}" if why else ""
    except PermissionError as e:
        return e.strerror or "it can't be read"


def is_own(path: Path) -> bool:
    """Whether a path is a folder, not a link, of this user or root that no other user can write to;
    FileNotFoundError if it does not exist.
    """
    info = path.lstat()
    return stat.S_ISDIR(info.st_mode) and not _why(info, writable=True)


def _why(info: os.stat_result, *, writable: bool) -> str:
    if info.st_uid not in trusted_users():
        return f"belongs to {_user(info.st_uid)}"
    if stat.S_ISLNK(info.st_mode) or not writable:
        return ""
    if info.st_mode & stat.S_IWOTH:
        return "can be written to by everybody"
    if info.st_mode & stat.S_IWGRP and not _private(info.st_gid, info.st_uid):
        return "can be written to by its group"
    return ""


def _user(uid: int) -> str:
    try:
        return f"the user {pwd.getpwuid(uid).pw_name}"
    except KeyError:
        return f"user {uid}"


def _private(gid: int, uid: int) -> bool:
    """Whether a group has only its user, of the same name, as many systems create it."""
    try:
        group, user = grp.getgrgid(gid), pwd.getpwuid(uid)
    except KeyError:
        return False
    return group.gr_name == user.pw_name and not {*group.gr_mem} - {user.pw_name}
