"""The tables of what runs log: journals, series of points, and the chunks that hold these."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Double, ForeignKey, Index, LargeBinary, Table, UniqueConstraint

from runyard.store.tables.columns import CleanText, Moment, Serial, metadata, of_run, serial

journals = Table(
    "journals",
    metadata,
    Column("run", Serial, ForeignKey("runs.serial", ondelete="CASCADE"), primary_key=True),
    Column("writer", CleanText, primary_key=True),
    Column("offset", BigInteger, nullable=False),
)

staged_lines = Table(
    "staged_lines",
    metadata,
    serial(),
    of_run(),
    Column("writer", CleanText, nullable=False),
    Column("lines", LargeBinary, nullable=False),
    Index("staged_lines_by_run", "run"),
)
"""Lines of journals that are confirmed and not yet part of series (`runyard.store.metrics.staging`)."""

series = Table(
    "series",
    metadata,
    serial(),
    of_run(),
    Column("identity", LargeBinary, nullable=False),
    Column("name", CleanText, nullable=False),
    Column("kind", CleanText, nullable=False),
    Column("type", CleanText, nullable=False),
    Column("rank", BigInteger),  # of the process that logged it, where it had one
    Column("points", BigInteger, nullable=False),
    Column("chunks", BigInteger, nullable=False),
    Column("thinned_at", Moment),  # when all but the shape of its curve was dropped
    Column("sorted_as", LargeBinary),  # the name's fingerprint, in the one series that stands for it in lists of runs
    Column("experiment", BigInteger),  # of the run, in that series
    Column("last", Double),  # the last value that is a number; null where that is NaN
    Column("last_step", BigInteger),
    Column("last_time", Double),  # null: there is no such value
    UniqueConstraint("run", "identity", name="series_by_identity"),
    sqlite_autoincrement=True,
)
Index(
    "series_by_last",
    *(series.c.sorted_as, series.c.last, series.c.run, series.c.experiment),
    sqlite_where=series.c.sorted_as.is_not(None),
    postgresql_where=series.c.sorted_as.is_not(None),
)

descriptions = Table(
    "descriptions",
    metadata,
    Column("run", Serial, ForeignKey("runs.serial", ondelete="CASCADE"), primary_key=True),
    Column("name_hash", LargeBinary, primary_key=True),
    Column("name", CleanText, nullable=False),
    Column("text", CleanText, nullable=False),
)

chunks = Table(
    "chunks",
    metadata,
    Column("series", Serial, ForeignKey("series.serial", ondelete="CASCADE"), primary_key=True),
    Column("ordinal", BigInteger, primary_key=True, autoincrement=False),
    Column("count", BigInteger, nullable=False),
    Column("encoding", CleanText, nullable=False),
    Column("times", LargeBinary, nullable=False),
    Column("steps", LargeBinary),
    Column("values", LargeBinary, nullable=False),
    Column("smallest", Double),
    Column("largest", Double),
)
