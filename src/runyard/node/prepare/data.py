"""The datasets that a run reads, brought to this node before its script starts. Loaded only for runs that have some.

Each input (`runyard.node.prepare.input_files`) becomes a few variables with its path, and a property of what was seen.
"""

from __future__ import annotations

import hashlib
import json
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event, Lock, Thread, Timer
from typing import Any, Callable, Mapping, Sequence

from runyard.client.data import binds
from runyard.client.data.binds import Bound
from runyard.client.data.cache import Cache, Lease
from runyard.client.data.mounts import Mounted, detach_dead
from runyard.contracts.data import datasets as contract
from runyard.contracts.data import seen as seen_contract
from runyard.contracts.environment import CONTAINER, Specification
from runyard.contracts.plan import Launch, Plan
from runyard.node.delivery.retrying_client import Refused, RetryingClient
from runyard.node.log import log_line
from runyard.node.prepare import recording
from runyard.node.prepare.input_files import Later, Node, brought
from runyard.node.prepare.layout import out_of_disk
from runyard.node.problem import RunProblem, Unwanted

WRITER = "data"
REPORTED_AFTER = 0.5  # seconds: a state that is over before anybody reads it would delay the script
RECORDED_AFTER = 0.3  # seconds: a listing takes the processor, which the script wants for its start
RECORDED_WITHIN = 120.0  # seconds after the end of the script: enough for millions of files


@dataclass(frozen=True)
class Inputs:
    """The launch of a run with the variables of its inputs, which are here, and stay until `end`."""

    launch: Launch
    lease: Lease
    mounted: Mapping[str, Mounted]  # those that are mounted lazily, by name
    bound: Sequence[Bound] = ()
    recording: Thread | None = None  # records what nobody has listed before, from `begun` on
    ending: Event = field(default_factory=Event)

    @property
    def processes(self) -> set[int]:
        return {each.pid for each in self.mounted.values()}

    def begun(self) -> None:
        """The script runs: what could wait for that is done now, beside it."""
        if self.recording is not None and self.recording.ident is None:
            self.recording.start()

    def end(self) -> None:
        """Let go of what was fetched and mounted. Nothing stays mounted."""
        self.ending.set()
        for mounted in self.mounted.values():
            mounted.end()
        for bound in self.bound:
            bound.end()
        if self.recording is not None and self.recording.is_alive():
            self.recording.join(RECORDED_WITHIN)
            if self.recording.is_alive():
                log_line(f"what was seen of the data is not recorded: it took longer than {RECORDED_WITHIN:.0f} s")
        self.lease.release()

    def told(self, error: Mapping[str, Any]) -> dict[str, Any]:
        """The error of a run, with the mounts that were lost before it failed."""
        lost = [f"{name!r} (process {each.pid})" for name, each in self.mounted.items() if not each.lives]
        if not lost:
            return dict(error)
        message = f"{error['message']} The mount of the input {', '.join(lost)} was lost before: its process ended."
        return {**error, "message": message}


def bring_inputs(
    plan: Plan, folder: Path, work: Path, shares_work: bool, check: Callable[[], None], report: Callable[[str], None]
) -> Inputs:
    """Bring all inputs of a run. RunProblem when one cannot be had."""
    contained = Specification.from_dict(plan.launch.environment).kind == CONTAINER
    named = ", ".join(str(each["name"]) for each in plan.launch.inputs)
    cache = Cache(Path(plan.data_cache) if plan.data_cache else folder / "data-cache")
    try:
        lease = cache.lease()
    except OSError as error:
        raise out_of_disk(error, cache.folder) from error
    for place in (*detach_dead(), *binds.detach_dead(cache.folder)):
        log_line(f"unmounted {place}, which a run that was killed has left")
    soon = _Soon(report, f"the data is being prepared: {named}")
    node = Node(plan, folder, work, shares_work, contained, lease, {}, check, soon.report)
    try:
        with soon:
            launch, later = _with_inputs(node)
    except BaseException:
        Inputs(plan.launch, lease, node.mounted, node.bound).end()
        raise
    ending = Event()
    wanted = later and plan.node == 0
    recording = Thread(target=_record, args=(node, later, ending), daemon=True) if wanted else None
    return Inputs(launch, lease, node.mounted, node.bound, recording, ending)


class _Soon:
    """Reports a reason if the block takes longer than `REPORTED_AFTER`, before any other that is reported in it."""

    def __init__(self, report: Callable[[str], None], reason: str) -> None:
        self._report, self._reason = report, reason
        self._lock = Lock()
        self._told = False
        self._timer = Timer(REPORTED_AFTER, self._tell)
        self._timer.daemon = True

    def report(self, reason: str) -> None:
        """Report something else, from within the block."""
        self._tell()
        with self._lock:
            self._report(reason)

    def _tell(self) -> None:
        with self._lock:
            if not self._told:
                self._told = True
                self._report(self._reason)

    def __enter__(self) -> None:
        self._timer.start()

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        self._timer.join()  # what it reports is under way before anybody else reports something


def _with_inputs(node: Node) -> tuple[Launch, Mapping[str, Later]]:
    """The launch with the variables of the inputs, and what is to be recorded when the script runs."""
    plan = node.plan
    client = RetryingClient.of(plan, node.folder, node.check)
    variables: dict[str, str] = {}
    listed, seen = [], {}
    later: dict[str, Later] = {}
    for each in plan.launch.inputs:
        name = contract.check_input(each["name"])
        if each["mode"] == contract.DIRECT:
            value = str(each["dataset"])
            listed.append(f"{name}:{contract.DIRECT}")
            log_line(f"input {name} (direct): the dataset {value}, nothing is brought here")
        else:
            begin = time.monotonic()
            found = brought(node, client, each)
            value, took = found.value, time.monotonic() - begin
            log_line(f"input {name} ({each['mode']}): {_size(found.record)}, {found.ways}, in {took:.1f} s: {value}")
            listed.append(name)
            if found.later is not None:
                later[name] = found.later
            elif plan.node == 0:
                seen[seen_contract.property_of(name, plan.attempt)] = json.dumps(found.record, ensure_ascii=False)
                if found.listing is not None:
                    _keep_listing(client, name, found.listing)
        variables[contract.PATH_VARIABLE + name] = value
        for variable in (name, name.upper()):
            if variable.lower() not in contract.OF_THE_SYSTEM:
                variables[variable] = value
    variables[contract.VARIABLES] = ",".join(listed)
    if seen:
        recording.record(plan, node.folder, WRITER, seen)
    return replace(plan.launch, environment_variables={**plan.launch.environment_variables, **variables}), later


def _size(record: Mapping[str, Any]) -> str:
    size = f"{record['files']:,} files"
    return f"{size}, {record['bytes']:,} bytes" if "bytes" in record else size


def _record(node: Node, later: Mapping[str, Later], ending: Event) -> None:
    """Record what is seen of folders that are shown as they are. It takes longer than to show them."""
    ending.wait(RECORDED_AFTER)
    client = RetryingClient.of(node.plan, node.folder)
    for name, worked_out in later.items():
        try:
            record, listing = worked_out(client)
        except (RunProblem, Unwanted) as problem:
            log_line(f"what was seen of the input {name} could not be recorded: {problem}")
            continue
        if listing is not None:
            _keep_listing(client, name, listing)
        key = seen_contract.property_of(name, node.plan.attempt)
        recording.record(node.plan, node.folder, WRITER, {key: json.dumps(record, ensure_ascii=False)})
        log_line(f"input {name}: {_size(record)} were recorded")


def _keep_listing(client: RetryingClient, name: str, content: bytes) -> None:
    """Put a listing that is too long for a property into the run's history."""
    try:
        client.put(seen_contract.listing_file(name), content, len(content), hashlib.sha256(content).hexdigest())
    except Refused as refusal:
        log_line(f"the listing of the input {name} could not be kept: {refusal}")
