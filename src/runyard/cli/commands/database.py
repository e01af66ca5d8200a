"""`runyard database`: work on the rows and files of a home folder while its server does not run."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from runyard.cli import errors
from runyard.cli.groups import group
from runyard.cli.options import JsonOption
from runyard.cli.output import formatting, screen
from runyard.cli.parameters import Argument, Option
from runyard.contracts import home as homes

if TYPE_CHECKING:
    from runyard.store.store import Store

DatabaseOption = Annotated[
    str | None,
    Option(
        "--database-url",
        help="The database: by default RUNYARD_DATABASE_URL, else SQLite in the home folder.",
        show_default=False,
    ),
]


def copy(
    to: Annotated[
        str,
        Argument(
            metavar="URL",
            help="An empty database, such as postgresql://user@host/runyard or sqlite:////path/to/runyard.db.",
            show_default=False,
        ),
    ],
    database_url: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Copy all rows into another database, which belongs to this home folder from then on."""
    with _at_rest() as home, _opened(home, database_url) as store:
        from runyard.store import copying, identity
        from runyard.store.after_commit import Folders
        from runyard.store.database import Database

        with closing(Database.open(to)) as target:
            with screen.spinner(f"Copying {formatting.count(copying.rows(store.database), 'row')} ..."):
                copied = copying.copy(store.database, target)
            identity.join(home, target, Folders(store.objects, store.growing))
    if as_json:
        screen.document({"rows": copied, "from": store.database.where, "to": target.where, "home": str(home)})
        return
    print(f"Copied {formatting.count(copied, 'row')} to {target.where}, which belongs to {home} from now on.")
    print(f"The former database stays as it is at {store.database.where}; the server does not start with it any more.")
    print("Next: set RUNYARD_DATABASE_URL to the new address wherever the server is started, then `runyard up`.")


def join(database_url: DatabaseOption = None, as_json: JsonOption = False) -> None:
    """Tell that this home folder and this database belong together, though they do not know each other."""
    with _at_rest() as home:
        from runyard.store.store import Store

        store, fit = Store.join(home, _url(database_url))
        store.close()
    if as_json:
        screen.document({"database": store.database.where, "home": str(home), **asdict(fit)})
        return
    print(f"{store.database.where} belongs to {home} from now on.")
    if fit.strange:
        print(
            f"Of {formatting.count(fit.files, 'file')} that were looked at there it does not know {fit.strange:,}. "
            "They are not deleted at once: `runyard doctor` shows what waits."
        )
    if fit.lacking:
        print(f"Of {formatting.count(fit.rows, 'file')} that it names {fit.lacking:,} are not there.")


def sweep(
    now: Annotated[bool, Option("--now", help="Remove for good at once, also what was moved aside before.")] = False,
    database_url: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Clear away the files that no run names, even where they are most of what there is."""
    with _at_rest() as home, _opened(home, database_url) as store:
        from runyard.store.content import aside, sweeping

        swept = sweeping.sweep(store, sweeping.LEFTOVER_AFTER, even_most=True)
        if now:
            freed = sweeping.sweep(store, sweeping.LEFTOVER_AFTER, timedelta(0)).bytes_freed
            swept = sweeping.Swept(swept.files_aside, swept.bytes_aside, swept.bytes_freed + freed)
    if as_json:
        screen.document(asdict(swept))
        return
    moved = f"{formatting.count(swept.files_aside, 'file')} that no run names, {formatting.size(swept.bytes_aside)}"
    if now:
        print(f"Removed {moved}, and what was moved aside before. {formatting.size(swept.bytes_freed)} came free.")
    else:
        print(f"Moved aside {moved}: removed for good in {aside.RETENTION.days} days, or with --now.")
        print(f"{formatting.size(swept.bytes_freed)} came free.")


def compact(database_url: DatabaseOption = None, as_json: JsonOption = False) -> None:
    """Rewrite the SQLite file without the space of what was deleted, and let it shrink by itself from then on."""
    with _at_rest() as home, _opened(home, database_url) as store:
        from runyard.store import compaction, tables
        from runyard.store.metrics import consolidation

        if store.database.kind != "sqlite":
            raise errors.CommandError(
                f"{store.database.where} is not SQLite.",
                "PostgreSQL uses the space of deleted rows again by itself; its `VACUUM FULL` gives it back.",
                code="not_sqlite",
            )
        with screen.spinner("Packing the metrics of runs that have ended ..."):
            consolidation.merge_ended(store.database, tables.EPOCH, datetime.now(timezone.utc))
        store.close()
        with screen.progress("Compacting") as progress:
            done = compaction.compact(Path(store.database.where), progress)
    if as_json:
        screen.document({"database": store.database.where, **asdict(done)})
        return
    print(
        f"{store.database.where} has {formatting.size(done.after)} now; it had {formatting.size(done.before)}. "
        f"{formatting.size(max(0, done.before - done.after))} came free."
    )


@contextmanager
def _at_rest() -> Iterator[Path]:
    """The home folder, locked as a server locks it, so that none uses it meanwhile."""
    from runyard.server.home_lock import HomeLock, Taken
    from runyard.store.errors import StoreError

    home = homes.home()
    if not home.is_dir():
        raise errors.CommandError(f"There is no home folder {home}.", "RUNYARD_HOME names another one.")
    try:
        with HomeLock(home):
            yield home
    except Taken as error:
        raise errors.CommandError(
            f"The server of {home} runs.", "`runyard down`, then the same command again.", code="server_running"
        ) from error
    except StoreError as error:
        raise errors.CommandError(error.title, error.help, code=error.code, detail=error.detail) from error


def _opened(home: Path, url: str | None) -> closing[Store]:
    from runyard.store.store import Store

    return closing(Store.open(home, _url(url)))


def _url(given: str | None) -> str | None:
    return given or os.environ.get("RUNYARD_DATABASE_URL") or None


app = group(
    "database", "The database of a home folder: copy it, join them, clear away what no run names, make it smaller."
)
app.command()(copy)
app.command()(join)
app.command()(sweep)
app.command()(compact)
