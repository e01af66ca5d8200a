"""The folders that a run writes data to, made before its script starts. Loaded only for runs that have such outputs.

An output that is mounted, in a datastore on a disk that this node sees, is the datastore's own folder behind a link.
All others are folders here, which `runyard.node.delivery.data_outputs` delivers.
"""

from __future__ import annotations

import os
import uuid
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Callable

from runyard.client.http import quote
from runyard.contracts import names
from runyard.contracts.data import datasets
from runyard.contracts.data import outputs as contract
from runyard.contracts.data.outputs import Output
from runyard.contracts.environment import CONTAINER, Specification
from runyard.contracts.plan import Launch, Plan
from runyard.node.delivery.retrying_client import Refused, RetryingClient
from runyard.node.log import log_line
from runyard.node.prepare.layout import out_of_disk
from runyard.node.problem import RunProblem

FOLDER = "data-outputs"
PROBLEM = "OutputNotPossible"


def outputs_of(plan: Plan) -> list[Output]:
    return [Output.from_dict(each) for each in plan.launch.outputs]


def place_of(output: Output, folder: Path, work: Path) -> Path:
    """The folder that a script writes an output to. RunProblem when it would be outside of the working folder."""
    wanted = output.path_on_compute
    if not wanted:
        return folder / FOLDER / output.name
    if wanted.startswith("/"):
        return Path(os.path.normpath(wanted))
    try:
        return work / names.check_file(wanted)
    except names.BadName:
        raise RunProblem(
            PROBLEM,
            f"The source {wanted!r} of the output {output.name!r} leaves the working folder.",
            "Use a path without '..', or a whole one.",
        ) from None


def with_outputs(plan: Plan, folder: Path, work: Path, check: Callable[[], None]) -> Launch:
    """The launch of a run with the variables of its outputs, whose folders are there then."""
    client = RetryingClient.of(plan, folder, check)
    contained = Specification.from_dict(plan.launch.environment).kind == CONTAINER
    variables: dict[str, str] = {}
    listed = []
    for output in outputs_of(plan):
        name = datasets.check_input(output.name)
        place = place_of(output, folder, work)
        _refuse(output, place, contained)
        store = _datastore(client, plan, output)
        try:
            seen = None
            # Behind a path outside of the run's folder, a link would be left when the run has ended.
            inside = folder in place.parents or work in place.parents
            if output.mode == contract.MOUNT and inside and not contained and not place.exists():
                seen = _seen_here(client, plan, output, store)
            if seen is not None:
                os.makedirs(place.parent, exist_ok=True)
                os.symlink(seen, place)
            else:
                os.makedirs(place, exist_ok=True)
        except OSError as error:
            raise out_of_disk(error, place) from error
        how = "is the datastore's folder" if seen is not None else "is delivered to"
        log_line(f"output {name} ({output.mode}): {place} {how} {output.datastore}/{output.folder(plan.run_id)}")
        listed.append(name)
        variables[datasets.PATH_VARIABLE + name] = str(place)
        if name.lower() not in datasets.OF_THE_SYSTEM and not name[0].isdigit():
            variables[name] = str(place)
    variables[contract.VARIABLES] = ";".join(listed)
    return replace(plan.launch, environment_variables={**plan.launch.environment_variables, **variables})


def _refuse(output: Output, place: Path, contained: bool) -> None:
    if contained and (output.path_on_compute or "").startswith("/"):
        raise RunProblem(
            PROBLEM,
            f"The source {output.path_on_compute!r} of the output {output.name!r} is not in the container.",
            "Use a relative path, or none: the script gets it as an argument or a variable.",
        )
    if place.exists() and not place.is_dir():
        raise RunProblem(
            PROBLEM, f"The source of the output {output.name!r} is a file, and has to be a folder: {place}."
        )


def _datastore(client: RetryingClient, plan: Plan, output: Output) -> dict[str, Any]:
    try:
        found: dict[str, Any] = client.send("GET", _address(plan, output))
    except Refused as refusal:
        raise RunProblem(PROBLEM, f"The output {output.name!r} has nowhere to go: {refusal}") from refusal
    return found


def _seen_here(client: RetryingClient, plan: Plan, output: Output, store: dict[str, Any]) -> Path | None:
    """The output's folder in the datastore, if the datastore is on a disk that this node sees: what is written there
    from here is found there by the server."""
    root = (store.get("settings") or {}).get("path")
    if not root:
        return None
    client.send(
        "GET", f"{_address(plan, output)}/files", params={"limit": 1, "below": output.folder(plan.run_id)}
    )  # which makes a folder of the server's
    if not os.path.isdir(root):
        return None
    place = Path(root) / output.folder(plan.run_id)
    probe = f".runyard-{uuid.uuid4().hex}"
    try:
        os.makedirs(place, exist_ok=True)
        (place / probe).write_bytes(b"")
    except OSError:
        return None
    try:
        path = f"{output.folder(plan.run_id)}/{probe}".lstrip("/")
        client.stream("GET", f"{_address(plan, output)}/content?path={quote(path)}", None, lambda stream: list(stream))
        return place
    except Refused:
        return None  # a folder of the same name, on another disk
    finally:
        with suppress(OSError):
            (place / probe).unlink()


def _address(plan: Plan, output: Output) -> str:
    return f"/api/workspaces/{quote(plan.workspace)}/datastores/{quote(output.datastore)}"
