"""What lists of runs are filtered and sorted by: the last values of metrics, labels that are numbers, parameters."""

from __future__ import annotations

import json
from typing import Any

import sqlalchemy as sa
from alembic import op

from runyard.contracts.formats.arguments import parameters
from runyard.store.metrics import last_values
from runyard.store.metrics.chunks import Chunk
from runyard.store.runs import labels
from runyard.store.tables import clean, fingerprint

revision = "0017"
down_revision = "0016"

Serial = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
AT_ONCE = 1000


def upgrade() -> None:
    op.add_column("runs", sa.Column("archived_at", sa.BigInteger))
    op.add_column("labels", sa.Column("number", sa.Double))
    op.add_column("series", sa.Column("sorted_as", sa.LargeBinary))
    op.add_column("series", sa.Column("experiment", sa.BigInteger))
    op.add_column("series", sa.Column("last", sa.Double))
    op.add_column("series", sa.Column("last_step", sa.BigInteger))
    op.add_column("series", sa.Column("last_time", sa.Double))
    op.create_table(
        "saved_views",
        sa.Column("workspace", Serial, sa.ForeignKey("workspaces.serial", ondelete="CASCADE"), primary_key=True),
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("query", sa.Text, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
    )
    connection = op.get_bind()
    _number_labels(connection)
    _add_parameters(connection)
    note_last_values(connection)
    # After the rows: an index is made faster of all of them than one by one.
    for name, table, columns, where in (
        ("labels_by_number", "labels", ["kind", "key_hash", "number", "run"], "number IS NOT NULL"),
        ("series_by_last", "series", ["sorted_as", "last", "run", "experiment"], "sorted_as IS NOT NULL"),
    ):
        op.create_index(name, table, columns, sqlite_where=sa.text(where), postgresql_where=sa.text(where))


def _number_labels(connection: sa.Connection) -> None:
    query = "SELECT run, kind, key_hash, value FROM labels WHERE value IS NOT NULL"
    put = sa.text("UPDATE labels SET number = :number WHERE run = :run AND kind = :kind AND key_hash = :key_hash")
    for some in connection.execute(sa.text(query)).partitions(AT_ONCE):
        found = [
            {"run": row.run, "kind": row.kind, "key_hash": row.key_hash, "number": number}
            for row in some
            if (number := labels.number_of(row.value)) is not None
        ]
        if found:
            connection.execute(put, found)


def _add_parameters(connection: sa.Connection) -> None:
    put = sa.text(
        "INSERT INTO labels (run, kind, key_hash, value_hash, key, value, number) "
        "VALUES (:run, :kind, :key_hash, :value_hash, :key, :value, :number)"
    )
    launches = sa.text("SELECT run, launch FROM launches WHERE launch LIKE '%\"arguments\":[%'")
    for some in connection.execute(launches).partitions(AT_ONCE):
        rows = [row for each in some for row in _parameters(each.run, each.launch)]
        if rows:
            connection.execute(put, rows)


def _parameters(run: int, launch: str) -> list[dict[str, Any]]:
    try:
        arguments = json.loads(launch).get("arguments")
    except (ValueError, AttributeError, RecursionError):
        return []  # a row that cannot be read is reported when it is met
    if not isinstance(arguments, list) or not all(isinstance(each, str) for each in arguments):
        return []
    found = {clean(key): clean(value) for key, value in parameters(arguments).items()}
    return [
        {
            "run": run,
            "kind": labels.PARAMETER,
            "key_hash": fingerprint(key),
            "value_hash": fingerprint(value),
            "key": key,
            "value": value,
            "number": labels.number_of(value),
        }
        for key, value in found.items()
    ]


def note_last_values(connection: sa.Connection) -> None:
    """One series stands for each metric of a run: the first that has its name."""
    query = sa.text(
        "SELECT series.serial, series.run, series.name, runs.experiment, chunks.* FROM series "
        "JOIN runs ON runs.serial = series.run LEFT JOIN chunks "
        "ON chunks.series = series.serial AND chunks.ordinal = series.chunks - 1 AND series.thinned_at IS NULL "
        "WHERE series.kind = 'values' AND series.type = '' ORDER BY series.serial"
    )
    seen: set[int] = set()
    put = sa.text(
        "UPDATE series SET sorted_as = :name, experiment = :experiment, last = :last, last_step = :last_step, "
        "last_time = :last_time WHERE serial = :serial"
    )
    for some in connection.execute(query, execution_options={"yield_per": AT_ONCE}).partitions():
        first = []
        for row in some:
            name = fingerprint(row.name)
            if (key := hash((row.run, name))) not in seen:
                seen.add(key)
                standing = {"serial": row.serial, "name": name, "experiment": row.experiment}
                first.append({**standing, **_last(connection, row)})
        if first:
            connection.execute(put, first)


def _last(connection: sa.Connection, row: Any) -> last_values.Columns:
    none: last_values.Columns = {"last": None, "last_step": None, "last_time": None}
    if row.count is None:
        return none
    try:
        found = last_values.last_of(row.name, Chunk.of(row._mapping))
        if found is None:  # the last ones hold no number
            query = sa.text("SELECT * FROM chunks WHERE series = :series ORDER BY ordinal DESC")
            earlier = connection.execute(query, {"series": row.serial})
            some = (last_values.last_of(row.name, Chunk.of(each._mapping)) for each in earlier)
            found = next((each for each in some if each is not None), None)
    except Exception:  # noqa: BLE001 - points that cannot be read are no reason not to start
        return none
    return none if found is None else last_values.columns_of(found)
