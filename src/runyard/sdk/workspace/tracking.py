"""The address of a workspace for MLflow's client, and the token that goes with it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING
from urllib.parse import quote

from runyard.sdk.notices import notice_once

if TYPE_CHECKING:
    from runyard.client.http import Client

URI, TOKEN = "MLFLOW_TRACKING_URI", "MLFLOW_TRACKING_TOKEN"

_PLUGINS = "mlflow.request_header_provider"


def tracking_uri(client: Client, workspace: str, in_run: bool) -> str:
    """In a run it is the node runner's address on this machine, which never waits for the server."""
    named = os.environ.get(URI)
    if in_run and named:
        return named
    address = f"{client.url.rstrip('/')}/mlflow/{quote(workspace, safe='')}"
    token = client.locator.token
    if token:
        from runyard.sdk import mlflow_headers

        mlflow_headers.know(address, token)
        if not _has_plugin():
            _hand_over(token)
    return address


def _has_plugin() -> bool:
    """Whether MLflow finds the part of this package that adds the token to its requests."""
    from importlib.metadata import entry_points

    found = entry_points()
    group = found.select(group=_PLUGINS) if hasattr(found, "select") else found.get(_PLUGINS, ())
    return any(each.name == "runyard" for each in group)


def _hand_over(token: str) -> None:
    """Where this package was copied and not installed: MLflow reads the token from a variable then."""
    if os.environ.get(TOKEN) not in (None, token):
        notice_once("mlflow token", f"{TOKEN} has another token already: MLflow shows that one to the server.")
    os.environ.setdefault(TOKEN, token)
