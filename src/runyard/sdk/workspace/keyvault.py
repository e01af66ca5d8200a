"""`Keyvault`: the secrets of a workspace. Scripts reach them with `run.get_secret`."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, Mapping, Sequence

from runyard.client.http import quote
from runyard.sdk.exceptions import UserErrorException

if TYPE_CHECKING:
    from runyard.sdk.workspace.workspace import Workspace


class KeyVaultContentType(Enum):
    """What a secret is; not provided unless somebody says so."""

    not_provided = ""


class Keyvault:
    """The key vault of a workspace: `ws.get_default_keyvault()`."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace

    def set_secret(
        self, name: str, value: str, content_type: KeyVaultContentType | str = KeyVaultContentType.not_provided
    ) -> None:
        """Set a secret, new or not."""
        if not isinstance(name, str) or not isinstance(value, str):
            raise UserErrorException("A secret has a text as its name and a text as its value.")
        kind = content_type.value if isinstance(content_type, Enum) else str(content_type)
        self.workspace.service.put(self._address(name), {"value": value, "content_type": kind})

    def set_secrets(self, secrets_batch: Mapping[str, str]) -> None:
        """Set several, given as a dict."""
        for name, value in secrets_batch.items():
            self.set_secret(name, value)

    def get_secret(self, name: str) -> str:
        """The value of a secret."""
        return str(self._get(name)["value"])

    def get_secrets(self, secrets: Sequence[str]) -> dict[str, str]:
        """The values of several, by name."""
        if isinstance(secrets, str):
            raise UserErrorException(f"get_secrets takes a list of names, not the text {secrets!r}.")
        return {name: self.get_secret(name) for name in secrets}

    def get_secret_content_type(self, name: str) -> str:
        """What a secret was said to be."""
        return str(self._get(name)["content_type"])

    def delete_secret(self, name: str) -> None:
        """Forget a secret."""
        self.workspace.service.delete(self._address(name))

    def delete_secrets(self, secrets: Sequence[str]) -> None:
        """Forget several."""
        for name in [secrets] if isinstance(secrets, str) else secrets:
            self.delete_secret(name)

    def list_secrets(self) -> list[dict[str, Any]]:
        """The names of all secrets, without their values."""
        found = self.workspace.service.get(self._folder())["secrets"]
        return [{"name": each["name"], "content_type": each["content_type"]} for each in found]

    def __repr__(self) -> str:
        return f"Keyvault(workspace={self.workspace.name!r})"

    def _get(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = self.workspace.service.get(self._address(name))
        return found

    def _folder(self) -> str:
        return f"/api/workspaces/{quote(self.workspace.name)}/secrets"

    def _address(self, name: str) -> str:
        return f"{self._folder()}/{quote(str(name))}"
