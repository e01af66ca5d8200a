"""The datasets that a run reads, brought to this node before its script starts. Loaded only for runs that have some.

Each input becomes a folder, or a single file, below the run's folder (or at the path that the user chose), and a few
variables with its path. What lies on a disk that this node sees is linked for a mount and copied for a download; the
rest is fetched. In a container links would lead nowhere, so that all is copied.
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, Callable, Mapping

from runyard.client.data_files import Listing, TransferProblem, bring, listing, words
from runyard.client.http import quote
from runyard.contracts import journal, names
from runyard.contracts.data import datasets as contract
from runyard.contracts.environment import CONTAINER, Specification
from runyard.contracts.plan import Launch, Plan, run_of_folder
from runyard.node.delivery.retrying_client import Refused, RetryingClient
from runyard.node.log import log_line
from runyard.node.prepare.layout import out_of_disk
from runyard.node.problem import RunProblem

INPUTS = "inputs"
WRITER = "data"
NOT_THERE = "DataNotAvailable"


def with_inputs(
    plan: Plan, folder: Path, work: Path, shares_work: bool, check: Callable[[], None], report: Callable[[str], None]
) -> Launch:
    """The launch of a run with the variables of its inputs, once they are here. RunProblem when one cannot be had."""
    client = RetryingClient.of(plan, folder, check)
    contained = Specification.from_dict(plan.launch.environment).kind == CONTAINER
    named = ", ".join(str(each["name"]) for each in plan.launch.inputs)
    report(f"the data is being prepared: {named}")
    variables: dict[str, str] = {}
    listed, seen = [], {}
    for each in plan.launch.inputs:
        name = contract.check_input(each["name"])
        if each["mode"] == contract.DIRECT:
            value = str(each["dataset"])
            listed.append(f"{name}:{contract.DIRECT}")
        else:
            begin = time.monotonic()
            found = _listing(client, plan, each)
            place = _place(plan, folder, work, each, contained)
            if shares_work and work in place.parents:
                ways = "by node 0, in the folder that all share"
            else:
                ways = _bring(client, plan, folder, each, found, place, contained, check)
            value = str(place / found.mounted()[0][1:]) if found.single else str(place)
            took = time.monotonic() - begin
            size = f"{len(found.files):,} files, {found.bytes:,} bytes"
            log_line(f"input {name} ({each['mode']}): {size}, {ways}, in {took:.1f} s: {value}")
            listed.append(name)
            seen[f"runyard.data.{name}"] = json.dumps(_record(each, found), ensure_ascii=False)
        variables[contract.PATH_VARIABLE + name] = value
        for variable in (name, name.upper()):
            if variable.lower() not in contract.OF_THE_SYSTEM:
                variables[variable] = value
    variables[contract.VARIABLES] = ",".join(listed)
    if plan.node == 0 and seen:
        _write(plan, folder, seen)
    return replace(plan.launch, environment_variables={**plan.launch.environment_variables, **variables})


def _listing(client: RetryingClient, plan: Plan, each: Mapping[str, Any]) -> Listing:
    address = f"/api/workspaces/{quote(plan.workspace)}/datasets/{quote(str(each['dataset']))}"
    try:
        found = listing(lambda path, params: client.send("GET", path, params=dict(params)), address)
    except Refused as refusal:
        raise RunProblem(NOT_THERE, f"The input {each['name']!r} cannot be had: {refusal}") from refusal
    unsafe = [path for path in found.layout() if not contract.is_safe(path)]
    if unsafe:
        raise RunProblem(
            NOT_THERE, f"The input {each['name']!r} has a file that would leave its folder: {unsafe[0]!r}."
        )
    return found


def _place(plan: Plan, folder: Path, work: Path, each: Mapping[str, Any], contained: bool) -> Path:
    """The folder of an input, which is empty or not there yet."""
    own = folder / INPUTS / str(each["name"])
    wanted = each.get("path_on_compute")
    if not wanted:
        return own
    if not str(wanted).startswith("/"):
        try:
            return work / names.check_file(str(wanted))
        except names.BadName:
            raise RunProblem(
                NOT_THERE,
                f"The path_on_compute {wanted!r} of the input {each['name']!r} leaves the working folder.",
                "Use a path without '..', or a whole one.",
            ) from None
    if contained:
        raise RunProblem(
            NOT_THERE,
            f"This version of Runyard does not do a path_on_compute such as {wanted!r} in a container yet.",
            "Use a relative path, or none: the script gets it as an argument or a variable.",
        )
    return Path(os.path.normpath(str(wanted)))


def _bring(
    client: RetryingClient,
    plan: Plan,
    folder: Path,
    each: Mapping[str, Any],
    found: Listing,
    place: Path,
    contained: bool,
    check: Callable[[], None],
) -> str:
    mount = each["mode"] == contract.MOUNT
    own = folder / INPUTS / str(each["name"])
    at = place if folder in place.parents or own == place else own
    _must_be_empty(place, each, plan)

    def fetch(address: str, target: Path) -> None:
        def write(stream: Any) -> None:
            with open(target, "wb") as file:
                for piece in stream:
                    file.write(piece)

        client.stream("GET", f"/api/workspaces/{quote(plan.workspace)}/{address}", None, write)

    places = [at / path[1:] for path in (found.mounted() if mount else found.layout())]
    try:
        os.makedirs(at, exist_ok=True)
        ways = words(bring(found.files, places, fetch, link=mount and not contained, check=check))
        if at != place:
            _lead(place, at)
    except TransferProblem as problem:
        message = f"The input {each['name']!r} cannot be had: {problem.message}"
        raise RunProblem(NOT_THERE, message, problem.help) from None
    except Refused as refusal:
        raise RunProblem(NOT_THERE, f"The input {each['name']!r} cannot be had: {refusal}") from refusal
    except OSError as error:
        raise out_of_disk(error, at) from error
    return ways


def _must_be_empty(place: Path, each: Mapping[str, Any], plan: Plan) -> None:
    if place.is_symlink():
        target = Path(os.readlink(place))
        if not target.exists() or plan.run_id in {run_of_folder(part) for part in target.parts}:
            return  # left by a run that has ended, or by a node of this one
    elif not place.exists() or (place.is_dir() and not any(place.iterdir())):
        return
    raise RunProblem(
        "DataPathTaken",
        f"The path_on_compute {str(place)!r} of the input {each['name']!r} is not empty, or another run uses it.",
        "Use another path, or none: the script gets it as an argument or a variable.",
    )


def _lead(place: Path, at: Path) -> None:
    """Let a path outside the run's folder lead to an input. Nothing but a link is left there when the run has ended."""
    os.makedirs(place.parent, exist_ok=True)
    if place.is_symlink():
        place.unlink()
    elif place.exists():
        place.rmdir()
    os.symlink(at, place)


def _record(each: Mapping[str, Any], found: Listing) -> dict[str, Any]:
    """What the run really saw, so that two runs can be compared."""
    return {
        "dataset": each["dataset"],
        "mode": each["mode"],
        "files": len(found.files),
        "bytes": found.bytes,
        "seen": [
            {
                "source": file["source"],
                "from": file.get("url") or file.get("local"),
                "size": file["size"],
                "etag": file["etag"],
                "modified": file["modified"],
            }
            for file in found.files[:20]
        ],
    }


def _write(plan: Plan, folder: Path, properties: Mapping[str, str]) -> None:
    path = folder / "telemetry" / "journal" / journal.file_name(plan.run_id, f"{WRITER}-{plan.attempt}")
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    with open(descriptor, "wb") as file:
        file.write(journal.line(journal.PROPERTIES, dict(properties)))
