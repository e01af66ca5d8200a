"""A plugin of MLflow's (entry point `mlflow.request_header_provider`): adds the token to requests for this package's
servers, so that an address is all that a user has to set. Nothing is added for the servers of others.
"""

from __future__ import annotations

import os
import re
import sys

from runyard.contracts import home as homes

_PATH = re.compile(r"/mlflow/[^/]+/?", re.ASCII)

_known: dict[str, str] = {}


def know(address: str, token: str) -> None:
    """Remember the token for an address that was given out in this process."""
    _known[address.rstrip("/")] = token


class RunyardHeaders:
    """What MLflow asks before each request: whether it concerns us, and what to add."""

    def in_context(self) -> bool:
        return self._token() is not None

    def request_headers(self) -> dict[str, str]:
        token = self._token()
        return {} if token is None else {"Authorization": f"Bearer {token}"}

    def _token(self) -> str | None:
        """The token for the address that MLflow uses; None where another one is named, or another registry."""
        mlflow = sys.modules.get("mlflow")
        if mlflow is None or os.environ.get("MLFLOW_TRACKING_TOKEN") or os.environ.get("MLFLOW_TRACKING_USERNAME"):
            return None
        address = str(mlflow.get_tracking_uri()).rstrip("/")
        if str(mlflow.get_registry_uri()).rstrip("/") != address:
            return None
        return _known.get(address) or _of_this_machine(address)


def _of_this_machine(address: str) -> str | None:
    """The token of the server of this user's home folder, if it is the one at this address."""
    server, _, workspace = address.rpartition("/mlflow/")
    if not server or not _PATH.fullmatch(f"/mlflow/{workspace}"):
        return None
    home = homes.home()
    running = homes.read_server(home)
    if running is None or running.url.rstrip("/") != server:
        return None
    return os.environ.get("RUNYARD_TOKEN") or homes.read_token(home)
