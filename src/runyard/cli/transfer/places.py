"""Where a transfer reads and writes, by the addresses that users name, and what it says of it."""

from __future__ import annotations

import base64
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from runyard.cli.output import formatting, screen

if TYPE_CHECKING:
    from runyard.cli.transfer.copying import Say
    from runyard.cli.transfer.records import Source, Summary
    from runyard.cli.transfer.rest import MlflowServer

SHOWN = 20


def source_at(address: str) -> Source:
    scheme = urlsplit(address).scheme
    if scheme in ("http", "https"):
        from runyard.cli.transfer.rest import MlflowServer

        return MlflowServer(address, authorization())
    if scheme == "sqlite":
        from runyard.cli.transfer.sqlite import MlflowDatabase

        return MlflowDatabase(Path(address.partition("sqlite:///")[2]))
    if "://" in address and scheme != "file":
        from runyard.cli.errors import CommandError

        help = "Start MLflow's server on it (mlflow server --backend-store-uri ...) and name the server's address."
        raise CommandError(f"A history at {scheme}:// is not read directly.", help, code="bad_source")
    from runyard.cli.transfer.folders import MlflowFolder

    return MlflowFolder(Path(address.partition("file://")[2] or address))


def ours(workspace: str) -> MlflowServer:
    """This server, by MLflow's protocol."""
    from runyard.cli import api
    from runyard.cli.transfer.rest import MlflowServer

    client = api.connect().client
    return MlflowServer(f"{client.url.rstrip('/')}/mlflow/{workspace}", f"Bearer {client.locator.token}")


def authorization() -> str | None:
    """What MLflow's own client would show to its server."""
    token = os.environ.get("MLFLOW_TRACKING_TOKEN")
    if token:
        return f"Bearer {token}"
    user, password = os.environ.get("MLFLOW_TRACKING_USERNAME"), os.environ.get("MLFLOW_TRACKING_PASSWORD")
    if user:
        return "Basic " + base64.b64encode(f"{user}:{password or ''}".encode()).decode("ascii")
    return None


def teller(as_json: bool) -> Say:
    def say(line: str) -> None:
        if not as_json:
            print(line, file=sys.stderr)

    return say


def report(summary: Summary, as_json: bool) -> None:
    if as_json:
        screen.document(vars(summary))
        return
    print(
        f"{formatting.count(summary.runs, 'run')} of {formatting.count(summary.experiments, 'new experiment')}, "
        f"{summary.points:,} points, {formatting.count(summary.files, 'file')} ({formatting.size(summary.bytes)}), "
        f"{formatting.count(summary.versions, 'version')} of models. "
        f"{summary.skipped:,} runs were there already."
    )
    if summary.lost:
        print(f"Not carried over, or changed ({len(summary.lost)}):")
        for line in summary.lost[:SHOWN]:
            print(f"  {line}")
        if len(summary.lost) > SHOWN:
            print(f"  and {len(summary.lost) - SHOWN} more (--json has all of them)")
