"""The tables of the web studio: views that somebody has named, and who may see it."""

from __future__ import annotations

from sqlalchemy import Column, LargeBinary, Table

from runyard.store.tables.columns import CleanText, Moment, metadata, of_workspace

saved_views = Table(
    "saved_views",
    metadata,
    of_workspace(primary_key=True),
    Column("name", CleanText, primary_key=True),
    Column("query", CleanText, nullable=False),  # of the address that shows it
    Column("updated_at", Moment, nullable=False),
)
"""Views of the table of runs that somebody has given a name."""

studio_sessions = Table(
    "studio_sessions",
    metadata,
    Column("hash", LargeBinary, primary_key=True),
    Column("kind", CleanText, nullable=False),  # a link, or the session that one was exchanged for
    Column("host", CleanText, nullable=False),  # the server's name in the address that it is good for
    Column("created_at", Moment, nullable=False),
    Column("expires_at", Moment, nullable=False),
)
