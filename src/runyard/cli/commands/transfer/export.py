"""`runyard export`: runs, copied to another tracker."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlsplit

from runyard.cli.completion import run_ids
from runyard.cli.errors import CommandError
from runyard.cli.options import JsonOption
from runyard.cli.parameters import Argument, Option


def export(
    what: Annotated[
        list[str],
        Argument(metavar="RUN... ADDRESS", help="Runs, and the address of the server.", autocompletion=run_ids),
    ],
    to: Annotated[str, Option("--to", metavar="FORMAT", help="What the server is: mlflow.")] = "mlflow",
    as_json: JsonOption = False,
) -> None:
    """Copy runs to an MLflow server, with their points, parameters and files."""
    from runyard.cli import api
    from runyard.cli.transfer import places
    from runyard.cli.transfer.copying import Transfer
    from runyard.cli.transfer.records import SourceExperiment, Summary
    from runyard.cli.transfer.rest import MlflowServer

    if to != "mlflow":
        raise CommandError(f"Runs cannot be exported to {to!r}.", "There is: --to mlflow.", code="usage")
    *runs, address = what
    if not runs or urlsplit(address).scheme not in ("http", "https"):
        help = "For example: runyard export @last http://mlflow.example:5000 --to mlflow"
        raise CommandError("The last argument is the address of an MLflow server.", help, code="usage")
    server = api.connect()
    found = list({run["id"]: run for run in map(server.find, runs)}.values())
    target = MlflowServer(address, places.authorization())
    summary = Summary()
    for run in found:
        source = places.ours(run["workspace"])
        transfer = Transfer(source, target, False, places.teller(as_json))
        transfer.summary = summary
        transfer.experiment(SourceExperiment("", run["experiment"], {}), source.run(run["id"]))
    places.report(summary, as_json)
