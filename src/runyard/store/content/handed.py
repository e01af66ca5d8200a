"""Objects that a client on this machine has laid beside the store: they are moved in, and their bytes never travel.

    objects/handed/<token>.<hash>     a copy of a file, made and hashed by the client

Nothing is hashed here. Whoever can write into that folder is the user whose store this is, and could write any object
itself; no request, whoever makes it, puts a file there. So a name in it is worth as much as one in the store.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping

from runyard.contracts import pack
from runyard.store.content.objects import Objects, Stored
from runyard.store.errors import Refused

TOKEN = re.compile("[0-9a-f]{32}")


def take(objects: Objects, token: str, sizes: Mapping[str, int]) -> int:
    """Move the objects of one client in, by their hashes and sizes; returns how many. Those that are not there are
    left out: whoever names them in a manifest learns of it."""
    if TOKEN.fullmatch(token) is None:
        raise Refused("bad_request", f"{token[:80]!r} is no token of handed objects.", "Use 32 hexadecimal digits.")
    taken = 0
    for digest, size in sizes.items():
        if not pack.is_digest(digest):
            raise Refused("bad_request", f"{digest[:80]!r} is not a SHA-256.", "Send 64 hexadecimal digits.")
        path = f"{objects.handed}/{token}.{digest}"
        try:
            found = os.lstat(path)
        except FileNotFoundError:
            continue
        own = stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid() and found.st_nlink == 1
        if not own or found.st_size != size:
            raise Refused(
                "content_mismatch",
                f"What was handed over as {digest} is no file of this user with {size} bytes.",
                "Send it as a pack instead.",
            )
        objects.place(path, Stored(digest, size))
        taken += 1
    return taken
