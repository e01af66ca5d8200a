"""Parameters of runs: what a script says it was started with. Each is written once; runs are found by them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sqlalchemy import ColumnElement, Connection, exists, insert, select

from runyard.contracts import names
from runyard.store import lookups
from runyard.store.errors import Conflict
from runyard.store.slices import slices
from runyard.store.tables import clean, fingerprint, parameters, runs

_OF_RUNS = "SELECT run, key, value FROM parameters WHERE run IN ({keys})"


def add(connection: Connection, run: int, values: Mapping[str, str], keep_first: bool = False) -> None:
    """Add parameters. One that has another value already is refused, or with `keep_first` passed over."""
    wanted = {clean(key): clean(value) for key, value in values.items()}
    there: dict[str, str] = {}
    for some in slices([fingerprint(key) for key in wanted]):
        query = select(parameters.c.key, parameters.c.value)
        query = query.where(parameters.c.run == run, parameters.c.key_hash.in_(some))
        there.update((row.key, row.value) for row in connection.execute(query))
    for key, value in wanted.items():
        if there.get(key, value) != value and not keep_first:
            raise Conflict(
                "parameter_fixed",
                f"The parameter {names.shown(key)} is {names.shown(there[key])} already, and parameters of a run "
                f"cannot be changed (to {names.shown(value)}).",
                "Log it under another name, or make a run of its own for each value.",
                {"parameter": key[: names.LONGEST_SHOWN]},
            )
    fresh = [
        {"run": run, "key_hash": fingerprint(key), "value_hash": fingerprint(value), "key": key, "value": value}
        for key, value in wanted.items()
        if key not in there
    ]
    if fresh:
        connection.execute(insert(parameters), fresh)


def of_runs(connection: Connection, serials: Iterable[int]) -> dict[int, dict[str, str]]:
    """The parameters of some runs, by the serial of each."""
    found: dict[int, dict[str, str]] = {}
    for run, key, value in lookups.rows(connection, _OF_RUNS, [(run,) for run in serials]):
        found.setdefault(run, {})[key] = value
    return found


def of_run(connection: Connection, run: int) -> dict[str, str]:
    return dict(sorted(of_runs(connection, [run]).get(run, {}).items()))


def has(key: str, value: str | None) -> ColumnElement[bool]:
    """The condition that a row of `runs` has this parameter and, unless None, with this value."""
    mine = (parameters.c.run == runs.c.serial, parameters.c.key_hash == fingerprint(key))
    wanted = () if value is None else (parameters.c.value_hash == fingerprint(value),)
    return exists(select(1).where(*mine, *wanted))
