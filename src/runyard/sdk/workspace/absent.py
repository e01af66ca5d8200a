"""Parts of SDK v1's Workspace that Runyard lacks: refused with an alternative. Nothing is faked."""

from __future__ import annotations

from typing import Any, Mapping, NoReturn

from runyard.sdk.exceptions import UserErrorException


def absent(what: str, instead: str) -> NoReturn:
    raise UserErrorException(f"Runyard has no {what}. {instead}")


class AbsentParts:
    """Resources that this version cannot hold (so that their dicts are truly empty), and Azure's own operations."""

    @property
    def images(self) -> dict[str, Any]:
        """Images by name: none can be made in this version."""
        return {}

    @property
    def linked_services(self) -> dict[str, Any]:
        """Linked services by name: Runyard has none."""
        return {}

    @property
    def private_endpoints(self) -> dict[str, Any]:
        """Private endpoints by name: Runyard has none."""
        return {}

    def update_dependencies(self, container_registry: str | None = None, force: bool = False) -> NoReturn:
        absent("container registry to attach", "Files and images are kept by the server itself.")

    def add_private_endpoint(
        self,
        private_endpoint_config: Any,
        private_endpoint_auto_approval: bool = True,
        location: str | None = None,
        show_output: bool = True,
        tags: Mapping[str, str] | None = None,
    ) -> NoReturn:
        absent("private endpoints", "Its server listens on this machine only, unless its operator opens it.")

    def delete_private_endpoint_connection(self, private_endpoint_connection_name: str) -> NoReturn:
        absent("private endpoints", "There is none to delete.")

    def list_keys(self) -> NoReturn:
        absent("storage accounts or registries with keys", "The server's token is in the file `token` of RUNYARD_HOME.")

    def sync_keys(self, no_wait: bool = False) -> None:
        """Nothing to do: there are no keys to synchronize."""

    def set_connection(self, name: str, category: str, target: str, authType: str, value: str) -> NoReturn:
        absent("connections", "Hand credentials to a run with run_config.environment_variables.")

    def list_connections(self, category: str | None = None, target: str | None = None) -> list[Any]:
        """Connections: Runyard has none."""
        return []

    def get_connection(self, name: str) -> NoReturn:
        absent("connections", f"So there is none named {name!r}.")

    def delete_connection(self, name: str) -> NoReturn:
        absent("connections", f"So there is none named {name!r}.")

    def diagnose_workspace(self, diagnose_parameters: Any) -> NoReturn:
        absent("network settings to diagnose", "`runyard doctor` checks the server and its files.")
