"""The datasets that runs have written: what became of each of their outputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, insert, select, update

from runyard.contracts.data.outputs import Output
from runyard.store.assets import datasets
from runyard.store.runs import runs
from runyard.store.tables import datasets as dataset_rows
from runyard.store.tables import run_outputs
from runyard.store.tables import runs as run_rows


@dataclass(frozen=True)
class Written:
    """An output of a run. `complete` is whether the run has ended well; else some of its files may be missing."""

    name: str
    dataset: str
    complete: bool
    registered: str | None = None
    version: int | None = None


def keep(connection: Connection, run_id: str, complete: bool) -> list[Written]:
    """Make datasets of the outputs of a run; of a complete one they are registered, if that was asked for. To say it
    again changes nothing."""
    run = runs.get(connection, run_id)
    _, launch = runs.definition_and_launch(connection, run_id)
    serial = runs.serial_of(connection, run_id)
    before = {each.name: each for each in of_run(connection, run_id)}
    for document in (launch or {}).get("outputs") or ():
        output = Output.from_dict(document)
        former = before.get(output.name)
        if former is not None and (former.complete or not complete):
            continue
        dataset = datasets.save(connection, run.workspace, output.dataset(run_id))
        values: dict[str, Any] = {"complete": int(complete)}
        if complete and output.registration:
            made = datasets.register(
                connection,
                run.workspace,
                dataset.id,
                output.registration["name"],
                output.registration.get("description"),
                output.registration.get("tags"),
                create_new_version=True,
            )
            values |= {"registered": made.name, "version": made.version}
        if former is None:
            key = select(dataset_rows.c.serial).where(dataset_rows.c.id == dataset.id).scalar_subquery()
            connection.execute(insert(run_outputs).values(run=serial, name=output.name, dataset=key, **values))
        else:
            mine = (run_outputs.c.run == serial) & (run_outputs.c.name == output.name)
            connection.execute(update(run_outputs).where(mine).values(**values))
    return of_run(connection, run_id)


def of_run(connection: Connection, run_id: str) -> list[Written]:
    """What a run has written, by name."""
    rows = connection.execute(
        select(
            run_outputs.c.name,
            dataset_rows.c.id.label("dataset"),
            run_outputs.c.complete,
            run_outputs.c.registered,
            run_outputs.c.version,
        )
        .join(run_rows, run_rows.c.serial == run_outputs.c.run)
        .join(dataset_rows, dataset_rows.c.serial == run_outputs.c.dataset)
        .where(run_rows.c.id == run_id)
        .order_by(run_outputs.c.name)
    )
    return [Written(row.name, row.dataset, bool(row.complete), row.registered, row.version) for row in rows]
