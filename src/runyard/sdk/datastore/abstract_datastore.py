"""What every datastore has: a name, a type and a workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping

from runyard.client.http import quote

if TYPE_CHECKING:
    from runyard.sdk.workspace.workspace import Workspace


class AbstractDatastore:
    """A named place for data. Made by `Datastore.get` and the `Datastore.register_...` methods."""

    _document: Mapping[str, Any] = {}

    def __init__(self, workspace: Workspace, name: str, datastore_type: str) -> None:
        self._workspace = workspace
        self._name = name
        self._datastore_type = datastore_type

    @property
    def workspace(self) -> Workspace:
        return self._workspace

    @property
    def name(self) -> str:
        return self._name

    @property
    def datastore_type(self) -> str:
        return self._datastore_type

    def set_as_default(self) -> None:
        """Make it the datastore that is used where none is named."""
        self._workspace.service.put(address(self._workspace, self._name) + "/default")

    def unregister(self) -> None:
        """Forget the datastore. Its files stay."""
        self._workspace.service.delete(address(self._workspace, self._name))

    def __repr__(self) -> str:
        return f"{type(self).__name__}(name={self._name!r}, datastore_type={self._datastore_type!r})"

    def __deepcopy__(self, memo: object) -> AbstractDatastore:
        return self


def address(workspace: Workspace, name: str | None = None) -> str:
    base = f"/api/workspaces/{quote(workspace.name)}/datastores"
    return base if name is None else f"{base}/{quote(name).replace('/', '%2F')}"
