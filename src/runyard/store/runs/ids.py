"""The ids of runs: each is used once, also when its run was deleted.

A token, a link and a folder on a node name a run by its id and outlive it: if the id were used again, they would lead
to another run. Of a deleted run a fingerprint of the id is stored, and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, bindparam, insert, select

from runyard.contracts import names
from runyard.store.errors import Conflict, Refused
from runyard.store.prepared import Prepared
from runyard.store.slices import slices
from runyard.store.tables import deleted_runs, fingerprint, runs

_USED = Prepared(
    select(
        select(runs.c.serial).where(runs.c.id == bindparam("id")).scalar_subquery(),
        select(deleted_runs.c.id_hash).where(deleted_runs.c.id_hash == bindparam("hash")).scalar_subquery(),
    )
)


def check(connection: Connection, id: str) -> None:
    """Refuse an id for a new run that breaks the rule of names, or that was used before."""
    try:
        names.check("run", id)
    except names.BadName as error:
        raise Refused("bad_name", str(error)) from error
    serial, deleted = _USED.first(connection, {"id": id, "hash": fingerprint(id)})
    if serial is not None:
        raise Conflict("run_exists", f"There is a run {id!r} already.", "Choose another id, or let it be chosen.")
    if deleted is not None:
        raise Conflict(
            "run_deleted",
            f"There was a run {id!r}, and it was deleted. Its id is not used again: old tokens and links would lead to "
            "the new run.",
            "Choose another id, or let it be chosen.",
        )


def retire(connection: Connection, serials: Sequence[int]) -> None:
    """The runs with these serials are about to be deleted."""
    for some in slices(serials):
        ids = connection.scalars(select(runs.c.id).where(runs.c.serial.in_(some))).all()
        if ids:
            connection.execute(insert(deleted_runs), [{"id_hash": fingerprint(id)} for id in ids])
