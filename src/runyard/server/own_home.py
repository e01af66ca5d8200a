"""A home folder is its user's alone: what others could have put there is not trusted.

A token that somebody else wrote lets them in; a database, an environment or a copy of the SDK of theirs makes the
server run their programs as this user.
"""

from __future__ import annotations

import logging
import os
import pwd
import stat
from pathlib import Path

log = logging.getLogger("runyard.server")


class Shared(Exception):
    """Somebody else has, or had, a hand in the home folder; the text names them, and what to do."""


def check(home: Path) -> None:
    """Close the folder to other writers, and refuse what they have put there. What is root's is trusted."""
    trusted = (os.geteuid(), 0)
    found = home.stat()
    if found.st_uid not in trusted:
        raise Shared(
            f"{home} belongs to {_user(found.st_uid)}, not to {_user(os.geteuid())}, who starts the server. "
            "Start it as that user, or set RUNYARD_HOME to a folder of your own."
        )
    if found.st_uid == os.geteuid() and found.st_mode & 0o022:
        home.chmod(stat.S_IMODE(found.st_mode) & ~0o022)
        log.warning("others could write to %s; they cannot any more", home)
    elif found.st_mode & stat.S_IWOTH:
        raise Shared(f"Everybody may write to {home}. Let root close it (`chmod o-w {home}`), or use another folder.")
    for entry in os.scandir(home):
        try:
            owner = entry.stat(follow_symlinks=False).st_uid
        except FileNotFoundError:
            continue  # a file that was being written has got its name
        if owner not in trusted:
            raise Shared(
                f"{entry.path} was put there by {_user(owner)}, who could get in by it. If that was you, make it yours "
                f"(`chown -R {_user(os.geteuid())} {home}`); if not, remove it, and what else is not yours in {home}."
            )


def _user(number: int) -> str:
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return f"user {number}"
