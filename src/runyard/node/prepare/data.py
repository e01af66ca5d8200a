"""The datasets that a run reads, brought to this node before its script starts. Loaded only for runs that have some.

Each input becomes a folder, or a single file, below the run's folder (or at the path that the user chose), and a few
variables with its path. What lies on a disk that this node sees is linked for a mount and copied for a download; the
rest is fetched, through the cache of this node. In a container links would lead nowhere, so that all is copied.
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Callable, Mapping

from runyard.client.data.cache import Cache, Lease
from runyard.client.data.problem import TransferProblem
from runyard.client.data_files import Listing, append, bring, listing, rest_of, words
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
REPORT_EVERY = 10.0  # seconds between two states of a run that tell how far a transfer is


@dataclass(frozen=True)
class Inputs:
    """The launch of a run with the variables of its inputs, which are here, and stay until `lease` is released."""

    launch: Launch
    lease: Lease


@dataclass(frozen=True)
class _Node:
    """What bringing an input needs to know of the run and of this node."""

    plan: Plan
    folder: Path
    work: Path
    shares_work: bool
    contained: bool
    lease: Lease
    check: Callable[[], None]
    report: Callable[[str], None]


def bring_inputs(
    plan: Plan, folder: Path, work: Path, shares_work: bool, check: Callable[[], None], report: Callable[[str], None]
) -> Inputs:
    """Bring all inputs of a run. RunProblem when one cannot be had."""
    contained = Specification.from_dict(plan.launch.environment).kind == CONTAINER
    named = ", ".join(str(each["name"]) for each in plan.launch.inputs)
    report(f"the data is being prepared: {named}")
    cache = Cache(Path(plan.data_cache) if plan.data_cache else folder / "data-cache")
    try:
        lease = cache.lease()
    except OSError as error:
        raise out_of_disk(error, cache.folder) from error
    node = _Node(plan, folder, work, shares_work, contained, lease, check, report)
    try:
        launch = _with_inputs(node)
    except BaseException:
        lease.release()
        raise
    return Inputs(launch, lease)


def _with_inputs(node: _Node) -> Launch:
    plan = node.plan
    client = RetryingClient.of(plan, node.folder, node.check)
    variables: dict[str, str] = {}
    listed, seen = [], {}
    for each in plan.launch.inputs:
        name = contract.check_input(each["name"])
        if each["mode"] == contract.DIRECT:
            value = str(each["dataset"])
            listed.append(f"{name}:{contract.DIRECT}")
            log_line(f"input {name} (direct): the dataset {value}, nothing is brought here")
        else:
            begin = time.monotonic()
            found = _listing(client, plan, each)
            place = _place(plan, node.folder, node.work, each, node.contained)
            if node.shares_work and node.work in place.parents:
                ways = "by node 0, in the folder that all share"
            else:
                ways = _bring(node, each, found, place)
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
        _write(plan, node.folder, seen)
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
                f"The path_on_compute {wanted!r} of the input {each['name']!r} is not absolute, and leaves the "
                "working folder.",
                "Use a whole path such as /data, or one without '..': it begins in the working folder.",
            ) from None
    if contained:
        raise RunProblem(
            NOT_THERE,
            f"This version of Runyard does not do a path_on_compute such as {wanted!r} in a container yet.",
            "Use a relative path, or none: the script gets it as an argument or a variable.",
        )
    return Path(os.path.normpath(str(wanted)))


def _bring(node: _Node, each: Mapping[str, Any], found: Listing, place: Path) -> str:
    plan, folder = node.plan, node.folder
    mount = each["mode"] == contract.MOUNT
    own = folder / INPUTS / str(each["name"])
    at = place if folder in place.parents or own == place else own
    _must_be_empty(place, each, plan)
    places = [at / path[1:] for path in (found.mounted() if mount else found.layout())]
    try:
        os.makedirs(at, exist_ok=True)
        ways = bring(
            found.files,
            places,
            _server(plan, folder),
            link=mount and not node.contained,
            lease=node.lease,
            check=node.check,
            told=_progress(str(each["name"]), node.report),
        )
        if at != place:
            _lead(place, at)
        if ways["fetched"]:
            _keep_within(node.lease.cache, plan.data_limit)
    except TransferProblem as problem:
        message = f"The input {each['name']!r} cannot be had: {problem.message}"
        raise RunProblem(NOT_THERE, message, problem.help) from None
    except Refused as refusal:
        raise RunProblem(NOT_THERE, f"The input {each['name']!r} cannot be had: {refusal}") from refusal
    except OSError as error:
        raise out_of_disk(error, at) from error
    return words(ways)


def _server(plan: Plan, folder: Path) -> Callable[[str, Path, Callable[[], None]], None]:
    """How a file comes from the server itself; taken up where it broke off."""

    def serve(address: str, target: Path, halt: Callable[[], None]) -> None:
        client = RetryingClient.of(plan, folder, halt)
        path = f"/api/workspaces/{quote(plan.workspace)}/{address}"

        def once() -> None:
            with client.http.stream(path, headers=rest_of(target)) as answer:
                append(answer, target, halt)

        client.until_answered(once, insist=False)

    return serve


def _progress(name: str, report: Callable[[str], None]) -> Callable[[int, int], None]:
    """Tells how far a transfer is: in the log, and now and then in the state of the run."""
    reported = 0.0

    def told(came: int, total: int) -> None:
        nonlocal reported
        text = f"the data is being fetched: {name}, {came / 1e6:,.0f} of {total / 1e6:,.0f} MB"
        log_line(text)
        if time.monotonic() - reported >= REPORT_EVERY:
            reported = time.monotonic()
            report(text)

    return told


def _keep_within(cache: Cache, limit: int | None) -> None:
    if limit is not None:
        removed = cache.collect(limit)
        if removed:
            size = sum(entry.stored for entry in removed)
            log_line(f"removed {len(removed):,} files of {size:,} bytes from the cache, which nobody uses")


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
                "from": file.get("address") or file.get("url") or file.get("local"),
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
