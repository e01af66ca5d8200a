"""`runyard import`: the history of another tracker, brought here."""

from __future__ import annotations

from typing import Annotated

from runyard.cli.groups import group
from runyard.cli.options import JsonOption
from runyard.cli.parameters import Argument, Option

app = group("import", "Bring the history of another tracker here.")


@app.command()
def mlflow(
    source: Annotated[
        str, Argument(metavar="SOURCE", help="http://server:5000, sqlite:///mlflow.db, or a folder such as ./mlruns.")
    ],
    workspace: Annotated[str, Option("--workspace", help="The workspace of this server.")] = "local",
    as_json: JsonOption = False,
) -> None:
    """Bring all experiments, runs, files and models of an MLflow here. Called again, it goes on where it was."""
    from runyard.cli.transfer import places
    from runyard.cli.transfer.copying import Transfer

    transfer = Transfer(places.source_at(source), places.ours(workspace), True, places.teller(as_json))
    places.report(transfer.everything(), as_json)
