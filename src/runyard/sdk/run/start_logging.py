"""Starting an interactive run: one that this process leads, until it completes it."""

from __future__ import annotations

import os
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any, Mapping, Union

from runyard.contracts import names
from runyard.contracts.manifest import SNAPSHOT_PROPERTY
from runyard.sdk.exceptions import UserErrorException
from runyard.sdk.labels import checked_labels
from runyard.sdk.notices import notice
from runyard.sdk.run.run import Run
from runyard.sdk.snapshot.snapshot import take_snapshot
from runyard.sdk.submit.git import git_properties
from runyard.sdk.submit.run_request import INTERACTIVE_TYPE, make_run
from runyard.sdk.telemetry import telemetry

if TYPE_CHECKING:
    from runyard.sdk.experiment import Experiment

Folder = Union[str, "os.PathLike[str]"]


def start_logging(
    experiment: Experiment,
    name: str | None = None,
    run_id: str | None = None,
    outputs: Folder | bool | None = None,
    snapshot_directory: Folder | None = ".",
    display_name: str | None = None,
    description: str | None = None,
    tags: Mapping[str, object] | None = None,
    properties: Mapping[str, object] | None = None,
    **kwargs: Any,
) -> Run:
    """Create the run and start the shipper for its records."""
    if run_id is not None:
        try:
            names.check("run", run_id)
        except names.BadName as error:
            raise UserErrorException(str(error), inner_exception=error) from None
    service = experiment.workspace.service
    recorded = dict(checked_labels("properties", properties or {}, none_allowed=False))
    snapshot_id = None
    folder = _snapshot_folder(snapshot_directory)
    if folder is not None:
        recorded.update(git_properties(folder))
        snapshot_id = take_snapshot(service, folder)
        recorded[SNAPSHOT_PROPERTY] = snapshot_id
    document = make_run(
        service,
        {
            "workspace": experiment.workspace.name,
            "experiment": experiment.name,
            "run_id": run_id or str(uuid.uuid4()),
            "kind": "interactive",
            "type": INTERACTIVE_TYPE,
            "name": name,
            "display_name": display_name or name,
            "description": description,
            "tags": checked_labels("tags", tags or {}, none_allowed=True),
            "properties": recorded,
            "snapshot_id": snapshot_id,
        },
        chosen=run_id is not None,
    )
    outputs_folder = _outputs(outputs)
    own_telemetry = telemetry.led(service, document["id"], document.get("token"), outputs_folder)
    run = Run(experiment, document["id"], _document=document, _own_telemetry=own_telemetry)
    run._outputs = outputs_folder
    return run


def _outputs(outputs: Folder | bool | None) -> Path | None:
    if outputs is False:
        return None
    folder = Path("outputs" if outputs in (None, True) else str(outputs)).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _snapshot_folder(given: Folder | None) -> Path | None:
    """The working folder is the default, but not the user's home or the root: nobody wants a snapshot of those."""
    if given is None:
        return None
    folder = Path(given).absolute()
    if str(given) == "." and folder.resolve() in (Path.home().resolve(), Path("/")):
        notice(
            f"No snapshot was taken: the working folder is {folder}, which holds far more than the code of this run. "
            "Name the folder of the code with snapshot_directory=."
        )
        return None
    return folder
