"""The datasets that a run reads, brought to this node before its script starts. Loaded only for runs that have some.

Each input becomes a folder, or a single file, below the run's folder (or at the path that the user chose), and a few
variables with its path. What lies on a disk that this node sees is linked for a mount and copied for a download; the
rest is fetched, through the cache of this node. In a container links would lead nowhere, so that all is copied.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Callable, Mapping

from runyard.client.data.cache import Cache, Lease, key_of
from runyard.client.data.mounts import Mounted, NotMounted, detach_dead, mount
from runyard.client.data.problem import TransferProblem
from runyard.client.data.renewal import Renewal, as_order
from runyard.client.data_files import Listing, append, bring, is_here, listing, rest_of, words
from runyard.client.http import Client, Locator, quote
from runyard.contracts import journal, names
from runyard.contracts.data import datasets as contract
from runyard.contracts.data import seen as seen_contract
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
    """The launch of a run with the variables of its inputs, which are here, and stay until `end`."""

    launch: Launch
    lease: Lease
    mounted: Mapping[str, Mounted]  # those that are mounted lazily, by name

    @property
    def processes(self) -> set[int]:
        return {each.pid for each in self.mounted.values()}

    def end(self) -> None:
        """Let go of what was fetched and mounted. Nothing stays mounted."""
        for each in self.mounted.values():
            each.end()
        self.lease.release()

    def told(self, error: Mapping[str, Any]) -> dict[str, Any]:
        """The error of a run, with the mounts that were lost before it failed."""
        lost = [f"{name!r} (process {each.pid})" for name, each in self.mounted.items() if not each.lives]
        if not lost:
            return dict(error)
        message = f"{error['message']} The mount of the input {', '.join(lost)} was lost before: its process ended."
        return {**error, "message": message}


@dataclass(frozen=True)
class _Node:
    """What bringing an input needs to know of the run and of this node."""

    plan: Plan
    folder: Path
    work: Path
    shares_work: bool
    contained: bool
    lease: Lease
    mounted: dict[str, Mounted]
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
    for place in detach_dead():
        log_line(f"unmounted {place}, which a run that was killed has left")
    node = _Node(plan, folder, work, shares_work, contained, lease, {}, check, report)
    try:
        return Inputs(_with_inputs(node), lease, node.mounted)
    except BaseException:
        Inputs(plan.launch, lease, node.mounted).end()
        raise


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
            if plan.node == 0:
                made = seen_contract.record(str(each["dataset"]), each["mode"], found.files, name)
                seen[seen_contract.property_of(name, plan.attempt)] = json.dumps(made, ensure_ascii=False)
                if "listing" in made:
                    _keep_listing(client, node.folder, name, found)
        variables[contract.PATH_VARIABLE + name] = value
        for variable in (name, name.upper()):
            if variable.lower() not in contract.OF_THE_SYSTEM:
                variables[variable] = value
    variables[contract.VARIABLES] = ",".join(listed)
    if seen:
        _write(plan, node.folder, seen)
    return replace(plan.launch, environment_variables={**plan.launch.environment_variables, **variables})


def _listing(client: RetryingClient, plan: Plan, each: Mapping[str, Any]) -> Listing:
    try:
        found = listing(lambda path, params: client.send("GET", path, params=dict(params)), _address(plan, each))
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
    mounts = each["mode"] == contract.MOUNT
    own = folder / INPUTS / str(each["name"])
    at = place if folder in place.parents or own == place else own
    _must_be_empty(place, each, plan)
    places = [at / path[1:] for path in (found.mounted() if mounts else found.layout())]
    server_file = Path(plan.server_file) if plan.server_file else None
    renewal = Renewal(Client(Locator(plan.server_url, plan.token, server_file)), _address(plan, each))
    try:
        os.makedirs(at, exist_ok=True)
        lazily = _lazily(node, each, found, at) if mounts else None
        if lazily is not None:
            if at != place:
                _lead(place, at)
            return lazily
        ways = bring(
            found.files,
            places,
            _server(plan, folder),
            link=mounts and not node.contained,
            lease=node.lease,
            check=node.check,
            told=_progress(str(each["name"]), node.report),
            fresh=renewal,
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


def _lazily(node: _Node, each: Mapping[str, Any], found: Listing, at: Path) -> str | None:
    """Mount an input lazily, if that is better than to fetch all of it; the way that was taken, in words."""
    plan, name = node.plan, str(each["name"])
    if plan.lazy_above is None or found.bytes <= plan.lazy_above:
        return None
    cache = node.lease.cache
    keys = [(file, key_of(file)) for file in found.files if not is_here(file)]
    missing = [file for file, key in keys if key is None or cache.find(key, file["size"]) is None]
    size = sum(int(file["size"] or 0) for file in missing)
    if size <= plan.lazy_above:
        return None
    try:
        if any(file["size"] is None for file in missing):
            raise NotMounted("the size of a file is not known")
        if node.contained:
            raise NotMounted("a container does not see it")
        if plan.distribution.nodes > 1 and node.work in at.parents:
            raise NotMounted("other nodes share the folder")
        renewal = as_order(plan.server_url, plan.token, plan.server_file, _address(plan, each))
        files = [{**_readable(plan, file), "at": path} for file, path in zip(found.files, found.mounted())]
        pythons = [plan.mount_python, sys.executable]
        node.mounted[name] = mount(at, files, cache.folder, Path(plan.sdk), pythons, renewal, node.check)
    except NotMounted as why:
        log_line(f"input {name}: {size:,} bytes are fetched before the script starts, not as it reads them: {why}")
        return None
    return f"{len(missing):,} mounted lazily ({size:,} bytes, by process {node.mounted[name].pid})"


def _readable(plan: Plan, file: Mapping[str, Any]) -> dict[str, Any]:
    """A file as another process reads it: what only the server gives has its address, with the run's token."""
    if file.get("url") or not file.get("content"):
        return dict(file)
    url = f"{plan.server_url}/api/workspaces/{quote(plan.workspace)}/{file['content']}"
    return {**file, "url": url, "headers": {"Authorization": f"Bearer {plan.token}"}}


def _address(plan: Plan, each: Mapping[str, Any]) -> str:
    return f"/api/workspaces/{quote(plan.workspace)}/datasets/{quote(str(each['dataset']))}"


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


def _keep_listing(client: RetryingClient, folder: Path, name: str, found: Listing) -> None:
    """Put a listing that is too long for a property into the run's history."""
    path = folder / "temp" / f"{name}.jsonl.gz"
    with gzip.open(path, "wt", compresslevel=1, encoding="utf-8", errors="surrogateescape") as file:
        file.writelines(seen_contract.lines(found.files))
    content = path.read_bytes()
    path.unlink()
    try:
        client.put(seen_contract.listing_file(name), content, len(content), hashlib.sha256(content).hexdigest())
    except Refused as refusal:
        log_line(f"the listing of the input {name} could not be kept: {refusal}")


def _write(plan: Plan, folder: Path, properties: Mapping[str, str]) -> None:
    path = folder / "telemetry" / "journal" / journal.file_name(plan.run_id, f"{WRITER}-{plan.attempt}")
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    with open(descriptor, "wb") as file:
        file.write(journal.line(journal.PROPERTIES, dict(properties)))
