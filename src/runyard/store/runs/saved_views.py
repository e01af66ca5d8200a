"""Views of the table of runs that somebody has given a name: what stands after the `?` of their address."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timezone

from sqlalchemy import Connection, delete, insert, select

from runyard.store.errors import NotFound, Refused
from runyard.store.runs import workspaces
from runyard.store.tables import saved_views

MOST = 200
LONGEST_NAME, LONGEST_QUERY = 100, 8000


@dataclass(frozen=True)
class SavedView:
    name: str
    query: str
    updated_at: datetime


def find(connection: Connection, workspace: str) -> list[SavedView]:
    """Those of a workspace, by name."""
    here = saved_views.c.workspace == workspaces.serial(connection, workspace)
    query = select(saved_views.c.name, saved_views.c.query, saved_views.c.updated_at).where(here)
    return [SavedView(*row) for row in connection.execute(query.order_by(saved_views.c.name))]


def put(connection: Connection, workspace: str, name: str, query: str) -> None:
    """Save a view, in place of one with that name."""
    if not name.strip() or len(name) > LONGEST_NAME:
        raise Refused("bad_name", "This is no name for a view.", f"Use 1 to {LONGEST_NAME} characters.")
    if len(query) > LONGEST_QUERY:
        raise Refused("bad_request", "The view is too large to be saved.", "Choose fewer columns.")
    here = workspaces.serial(connection, workspace)
    of_name = (saved_views.c.workspace == here, saved_views.c.name == name)
    connection.execute(delete(saved_views).where(*of_name))
    if len(find(connection, workspace)) >= MOST:
        raise Refused("bad_request", f"The workspace has {MOST} views.", "Delete one first.")
    now = datetime.now(timezone.utc)
    connection.execute(insert(saved_views).values(workspace=here, name=name, query=query, updated_at=now))


def remove(connection: Connection, workspace: str, name: str) -> None:
    here = saved_views.c.workspace == workspaces.serial(connection, workspace)
    if not connection.execute(delete(saved_views).where(here, saved_views.c.name == name)).rowcount:
        raise NotFound("not_found", f"There is no view {name!r}.", "The list of views names them.")
