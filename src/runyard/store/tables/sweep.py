"""The tables of sweeps and their trials."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Double, ForeignKey, Table

from runyard.store.tables.columns import CleanText, Document, Moment, Serial, metadata

sweeps = Table(
    "sweeps",
    metadata,
    Column("run", Serial, ForeignKey("runs.serial", ondelete="CASCADE"), primary_key=True, autoincrement=False),
    Column("document", Document, nullable=False),
    Column("child_properties", Document, nullable=False),
    Column("began_at", Moment, nullable=False),
)

trials = Table(
    "trials",
    metadata,
    Column("sweep", Serial, ForeignKey("sweeps.run", ondelete="CASCADE"), primary_key=True, autoincrement=False),
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("parameters", Document, nullable=False),
    Column("verdict", CleanText),
    Column("best", Double),
    Column("intervals", BigInteger),
)
