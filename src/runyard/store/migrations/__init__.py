"""The steps from one version of the tables to the next (Alembic), each a file in `versions/`.

A new step gets the next number, and `HEAD` is raised to it. Alembic is loaded only when there is a step to take.
"""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection

HEAD = "0007"
VERSION_TABLE = "runyard_version"


def upgrade(connection: Connection) -> None:
    """Take every step that is missing, in the transaction of the connection."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
