"""What Alembic runs to take the steps, on the connection that `upgrade` has handed over."""

from __future__ import annotations

from alembic import context

from runyard.store import tables
from runyard.store.migrations import VERSION_TABLE

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=tables.metadata,
    version_table=VERSION_TABLE,
    transactional_ddl=True,
)
context.run_migrations()
