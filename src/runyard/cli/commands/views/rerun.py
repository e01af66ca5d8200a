"""`runyard rerun`: the same snapshot, environment and data once more, as they are or with other arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from runyard.cli import errors
from runyard.cli.commands import submit
from runyard.cli.completion import target_names
from runyard.cli.options import JsonOption, RunArgument, pairs
from runyard.cli.parameters import Option
from runyard.contracts.formats.arguments import changed
from runyard.contracts.manifest import SNAPSHOT_PROPERTY

if TYPE_CHECKING:
    from runyard.contracts.documents import RunDocument

RERUN_OF = "runyard.rerun-of"
"""The property of a run with the id of the one that it repeats."""


def rerun(
    run: RunArgument,
    set: Annotated[
        list[str] | None,
        Option("--set", metavar="NAME=VALUE", help="Another value for an argument of the script; may be repeated."),
    ] = None,
    compute: Annotated[
        str | None,
        Option("--compute", help="Another compute target.", autocompletion=target_names, show_default=False),
    ] = None,
    name: Annotated[str | None, Option("--name", help="A name for people.", show_default=False)] = None,
    follow: Annotated[bool, Option("--follow", "-f", help="Show its log until it ends.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Submit a run once more: the same source, environment and data."""
    from runyard.cli import api

    server = api.connect()
    former = server.run(server.find(run)["id"])
    made = server.make(_request(former, pairs(set or [], "--set"), compute, name))
    submit.follow_or_announce(server, made, follow, None, as_json)


def _request(former: RunDocument, changes: dict[str, str], compute: str | None, name: str | None) -> dict[str, Any]:
    launch: dict[str, Any] = dict(former.get("launch") or {})
    if not launch or former["type"] == "hyperdrive":
        kind = "is a sweep" if launch else "was not submitted: a process of yours led it"
        raise errors.CommandError(
            f"Run {former['id']} cannot be submitted once more: it {kind}.",
            "A sweep can have more children: `runyard sweep extend`." if launch else "Start that process again.",
            errors.USAGE,
            "not_submitted",
        )
    definition = dict(former.get("definition") or {})
    if changes:
        if launch.get("command"):
            raise errors.CommandError(
                f"Run {former['id']} is a shell command, whose arguments cannot be told apart: {launch['command']}",
                "Submit the command that you want: runyard submit --command ...",
                errors.USAGE,
                "usage",
            )
        launch["arguments"] = changed(launch["arguments"], changes)
        definition["arguments"] = launch["arguments"]
    launch.pop("notes", None)  # the server writes them anew
    target = compute or former["target"]
    if compute:
        definition["target"] = compute
    kept = {key: value for key, value in former["properties"].items() if key.startswith(("azureml.git", "mlflow."))}
    return {
        "workspace": former["workspace"],
        "experiment": former["experiment"],
        "type": former["type"],
        "display_name": name or former["display_name"],
        "description": former["description"],
        "tags": former["tags"],
        "properties": {**kept, SNAPSHOT_PROPERTY: former["snapshot_id"], RERUN_OF: former["id"]},
        "target": target,
        "snapshot_id": former["snapshot_id"],
        "definition": definition,
        "launch": launch,
    }
