"""Fill the database of a Runyard home with runs, in bulk, through the tables of the store.

fill_runyard.py HOME RUNS
"""

from __future__ import annotations

import json
import sys
import uuid
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path

from sqlalchemy import Connection, insert, select, update

from runyard.contracts import states
from runyard.store import tables
from runyard.store.runs import experiments, labels, runs
from runyard.store.store import Store

EXPERIMENT = "list"
GROUPS = 100
BATCH = 5_000


def main(home: str, wanted: str) -> None:
    store = Store.open(Path(home))
    try:
        with store.database.write() as connection:
            fill(connection, int(wanted))
    finally:
        store.close()
    print(json.dumps({"runs": int(wanted)}))


def fill(connection: Connection, wanted: int) -> None:
    experiments.ensure(connection, "local", EXPERIMENT)
    first = runs.create(connection, runs.NewRun(_run_id(), "local", EXPERIMENT, tags={"group": "0"}))
    model = connection.execute(select(tables.runs).where(tables.runs.c.id == first.id)).mappings().one()
    for numbers in _batches(range(1, wanted)):
        rows = [_run(dict(model), number, wanted) for number in numbers]
        connection.execute(insert(tables.runs), rows)
        serials = [int(row["serial"]) for row in rows]  # type: ignore[call-overload]
        connection.execute(insert(tables.launches), [{"run": serial, "definition": {}} for serial in serials])
        connection.execute(insert(tables.states), [_state(row) for row in rows])
        connection.execute(insert(tables.labels), [_group(int(serial)) for serial in serials])
    runs.record_state(connection, first.id, states.COMPLETED, None)
    table = tables.experiments
    connection.execute(update(table).where(table.c.id == first.experiment_id).values(last_number=wanted))


def _run(model: dict[str, object], number: int, wanted: int) -> dict[str, object]:
    """A run like the first one, a second younger than the one before; one in ten has failed."""
    run_id = _run_id()
    created = datetime.now(timezone.utc) - timedelta(seconds=wanted - number)
    serial, first_number = model["serial"], model["number"]
    assert isinstance(serial, int)
    assert isinstance(first_number, int)
    status = states.FAILED if number % 10 == 0 else states.COMPLETED
    return {
        **model,
        "serial": serial + number,
        "number": first_number + number,
        "id": run_id,
        "root_id": run_id,
        "status": status,
        "created_at": created,
        "started_at": created,
        "ended_at": created + timedelta(minutes=5),
    }


def _state(row: dict[str, object]) -> dict[str, object]:
    return {"run": row["serial"], "status": row["status"], "at": row["ended_at"], "reason": None}


def _group(serial: int) -> dict[str, object]:
    key, value = "group", str(serial % GROUPS)
    return {
        "run": serial,
        "kind": labels.TAG,
        "key": key,
        "value": value,
        "key_hash": tables.fingerprint(key),
        "value_hash": tables.fingerprint(value),
    }


def _run_id() -> str:
    return f"{EXPERIMENT}_{uuid.uuid4().hex}"


def _batches(numbers: range) -> Iterator[Sequence[int]]:
    for start in range(0, len(numbers), BATCH):
        yield numbers[start : start + BATCH]


if __name__ == "__main__":
    main(*sys.argv[1:])
