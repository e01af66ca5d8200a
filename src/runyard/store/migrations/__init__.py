"""The steps from one version of the tables to the next (Alembic), each a file in `versions/`.

A new step gets the next number, and `HEAD` is raised to it. Alembic is loaded only when there is a step to take: a new
database gets its tables as they are now, at once.
"""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Column, Connection, MetaData, PrimaryKeyConstraint, String, Table, insert

from runyard.store import tables

HEAD = "0019"
VERSION_TABLE = "runyard_version"

_version = Table(  # as Alembic makes it
    VERSION_TABLE,
    MetaData(),
    Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name=f"{VERSION_TABLE}_pkc"),
)


def create(connection: Connection) -> None:
    """Make every table, in the transaction of the connection. The database must be a new one."""
    tables.metadata.create_all(connection, checkfirst=False)
    _version.create(connection, checkfirst=False)
    connection.execute(insert(_version).values(version_num=HEAD))


def upgrade(connection: Connection) -> None:
    """Take every step that is missing, in the transaction of the connection."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
