"""Parameters of runs: labels of one kind, from the arguments that a script was started with and from what it logs.

What a script logs is written once: another value is refused. It takes the place of an argument of the same name, which
is only a reading of the command line: the script knows better what it works with.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import Connection, insert, select

from runyard.contracts import names
from runyard.store.errors import Conflict
from runyard.store.runs.labels import PARAMETER, remove, row
from runyard.store.slices import slices
from runyard.store.tables import clean, fingerprint, labels


def add(connection: Connection, run: int, values: Mapping[str, str], keep_first: bool = False) -> None:
    """Add parameters that were logged. One that was logged with another value is refused, or with `keep_first` passed
    over."""
    wanted = {clean(key): clean(value) for key, value in values.items()}
    logged: dict[str, str] = {}
    arguments: list[str] = []
    for some in slices([fingerprint(key) for key in wanted]):
        query = select(labels.c.key, labels.c.value, labels.c.logged)
        query = query.where(labels.c.run == run, labels.c.kind == PARAMETER, labels.c.key_hash.in_(some))
        for key, value, was_logged in connection.execute(query):
            if was_logged:
                logged[key] = value
            else:
                arguments.append(key)
    for key, value in wanted.items():
        if logged.get(key, value) != value and not keep_first:
            raise Conflict(
                "parameter_fixed",
                f"The parameter {names.shown(key)} is {names.shown(logged[key])} already, and parameters of a run "
                f"cannot be changed (to {names.shown(value)}).",
                "Log it under another name, or make a run of its own for each value.",
                {"parameter": key[: names.LONGEST_SHOWN]},
            )
    remove(connection, run, PARAMETER, arguments)
    fresh = [{**row(run, PARAMETER, key, value), "logged": 1} for key, value in wanted.items() if key not in logged]
    if fresh:
        connection.execute(insert(labels), fresh)
