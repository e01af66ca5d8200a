"""How the server stands: its disk, its database, its parts. What `runyard doctor` looks at, as far as the server itself
can see it."""

from __future__ import annotations

import os
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from runyard.contracts import states
from runyard.environments.cache import Cache
from runyard.server.context import ServerContext
from runyard.server.readiness import OK
from runyard.store.content import usage
from runyard.store.runs import runs

LITTLE = 0.05
"""A disk of which less is free is nearly full."""

LEAST = 2 << 30
"""Bytes that should be free in any case."""

DATABASE = "runyard.db"


@dataclass(frozen=True)
class Check:
    name: str
    ok: bool
    says: str
    help: str = ""


def of(context: ServerContext) -> dict[str, Any]:
    """Everything but what the server is called and since when it runs (`/api/server`)."""
    home = context.settings.home
    disk = shutil.disk_usage(home)
    with context.store.database.read() as connection:
        counts = runs.counts_by_status(connection)
        experiments = usage.by_experiment(connection)
        models = usage.by_model(connection)
    environments = Cache(home / "environments").entries()
    sizes = {
        "runs": sum(each.usage.bytes for each in experiments),
        "models": sum(each.bytes for each in models),
        "environments": sum(each.size for each in environments),
        "database": _database_size(home) if context.store.database.kind == "sqlite" else None,
    }
    return {
        "disk": {"total": disk.total, "free": disk.free},
        "sizes": sizes,
        "runs": counts,
        "live": sum(count for status, count in counts.items() if status not in states.TERMINAL),
        "checks": [asdict(each) for each in _checks(context, disk.total, disk.free)],
    }


def _checks(context: ServerContext, total: int, free: int) -> list[Check]:
    ready = context.readiness.look()
    found = [Check(f"{part} can be used", state == OK, state, _HELP[part]) for part, state in ready.items()]
    room = free > max(LEAST, LITTLE * total)
    found.append(
        Check(
            "there is room on the disk",
            room,
            f"{free / 1e9:,.1f} GB free of {total / 1e9:,.1f} GB",
            "" if room else "`runyard du` shows what takes the space; docs/scale.md how to keep it small.",
        )
    )
    mode = os.stat(context.settings.home).st_mode & 0o077
    private = "only you can read it" if not mode else "others can read it"
    found.append(Check("the home folder is private", not mode, private, "chmod 700 it." if mode else ""))
    return found


_HELP = {"database": "The server's log says why.", "objects": "The disk may be full, or not be written to."}


def _database_size(home: Path) -> int:
    return sum(path.stat().st_size for path in home.glob(f"{DATABASE}*"))
