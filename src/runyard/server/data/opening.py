"""The places of a workspace's datastores, opened by name for one request."""

from __future__ import annotations

import functools

from runyard.server.context import ServerContext
from runyard.server.data.listing import PlaceOf
from runyard.server.data.places import Place, open_place
from runyard.store.assets import datastores


def places(context: ServerContext, workspace: str) -> PlaceOf:
    """Opens datastores of a workspace, each once."""

    @functools.cache
    def place_of(name: str) -> Place:
        with context.store.database.read() as connection:
            found = datastores.get(connection, workspace, name)
        return open_place(found, context.settings.home, workspace, context.secrets)

    return place_of
