"""The files of one input of a run: where they are put on this node, and how they come there.

An input becomes a folder, or a single file, below the run's folder (or at the path that the user chose). What lies on a
disk that this node sees is linked for a mount and copied for a download; the rest is fetched, through the cache of this
node. In a container links would lead nowhere, so that all is copied.
"""

from __future__ import annotations

import gzip
import os
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable, Iterator, Mapping, Tuple

from runyard.client.data import binds, trees
from runyard.client.data.cache import Cache, Lease, key_of
from runyard.client.data.lazily import missing, mount_lazily
from runyard.client.data.listing import Listing, listing, state
from runyard.client.data.mounts import Mounted, NotMounted
from runyard.client.data.problem import TransferProblem
from runyard.client.data.renewal import Renewal
from runyard.client.data_files import LINKED, append, bring, is_here, rest_of, words
from runyard.client.http import Client, Locator, quote
from runyard.contracts.data import datasets as contract
from runyard.contracts.data import seen as seen_contract
from runyard.contracts.data.folder_names import may_be_added_to
from runyard.contracts.plan import Plan
from runyard.node.delivery.retrying_client import Refused, RetryingClient
from runyard.node.log import log_line
from runyard.node.prepare.input_places import NOT_THERE, inside, lead, must_be_empty, place_of
from runyard.node.prepare.layout import out_of_disk
from runyard.node.problem import RunProblem

SHOWN = "shown read-only, as the folder of this disk that it is"
AS_IT_LIES = "as the folder of this disk that it is, where this user can add nothing"
LINKED_BEFORE = "by the links of an earlier run"
REPORT_EVERY = 10.0  # seconds between two states of a run that tell how far a transfer is


@dataclass(frozen=True)
class Node:
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
    bound: list[binds.Bound] = field(default_factory=list)


Later = Callable[[RetryingClient], Tuple[Mapping[str, Any], "bytes | None"]]
"""The record of an input and its whole listing, where that is too long for a property."""


@dataclass(frozen=True)
class Brought:
    """An input that is here: the path that the script gets, the ways that its files took, what is recorded of it, and
    its whole listing where that is too long for a property."""

    value: str
    ways: str
    record: Mapping[str, Any]
    listing: bytes | None = None
    later: Later | None = None
    """Works out the record and the listing, once the script runs: until then, `record` has the number of files only."""


def brought(node: Node, client: RetryingClient, each: Mapping[str, Any]) -> Brought:
    """Bring an input here. RunProblem when it cannot be had."""
    place = place_of(node.plan, node.folder, node.work, each, node.contained)
    by_node_0 = node.shares_work and node.work in place.parents
    may_link = each["mode"] == contract.MOUNT and not node.contained and not by_node_0
    if may_link:
        whole = _whole(node, client, each, place)
        if whole is not None:
            return whole
    if may_link and trees.had_one(node.lease.cache.folder, str(each["dataset"])):
        known = _known(node, client, each, place)
        if known is not None:
            return known
    found = _listing(client, node.plan, each)
    record, packed = _recorded(node, each, found)
    value = str(place / next(found.mounted())[1:]) if found.single else str(place)
    if by_node_0:
        return Brought(value, "by node 0, in the folder that all share", record, packed)
    made = _bring(node, each, found, place, may_link)
    if isinstance(made, str):
        return Brought(value, made, record, packed)
    ways, tree = made
    assert packed is not None  # a tree has more files than a property shows
    cache = node.lease.cache
    keys = ((key, int(file["size"])) for file, key in _fetched(found))
    outside = [str(file["local"]) for file in (found.files[0], found.files[-1]) if file.get("local")]
    files = tree.finish(str(each["dataset"]), record, packed, keys, filter(os.path.exists, outside), cache.is_whole)
    _keep_within(cache, node.plan.data_limit)
    return Brought(_linked(node, each, place, files), ways, record, packed)


def _recorded(node: Node, each: Mapping[str, Any], found: Listing) -> tuple[dict[str, Any], bytes | None]:
    record = seen_contract.record(str(each["dataset"]), each["mode"], found.files, str(each["name"]))
    return record, _packed(node.folder, found) if "listing" in record else None


def _whole(node: Node, client: RetryingClient, each: Mapping[str, Any], place: Path) -> Brought | None:
    """An input that is all of a folder of this disk: shown read-only, as it lies, or by links that are known by the
    names of the files. None where it is not, or none of them can be had."""
    if node.plan.distribution.nodes > 1 and node.work in inside(node.folder, each, place).parents:
        return None  # nodes of other machines may share the folder, and would see an empty one
    try:
        answer = _asking(client)(f"{_address(node.plan, each)}/folder", {})
    except Refused:
        return None  # the listing tells what is wrong
    folder, files = answer["folder"], int(answer["files"] or 0)
    if folder is None or files < trees.SMALLEST:
        return None
    try:
        mark = contract.mark_of_folder(os.stat(folder))
    except OSError:
        return None
    if mark != answer["mark"]:
        return None
    shown = _shown(node, each, Path(folder), files, place) if binds.possible() else None
    if shown is not None:
        return shown
    return _as_it_lies(node, each, str(folder), files, place) or _by_names(
        node, each, str(folder), str(answer["names"]), place
    )


def _shown(node: Node, each: Mapping[str, Any], folder: Path, files: int, place: Path) -> Brought | None:
    at = inside(node.folder, each, place)
    must_be_empty(place, each, node.plan)
    try:
        os.makedirs(at, exist_ok=True)
        node.bound.append(binds.bind(folder, at, node.lease.cache.folder))
        if at != place:
            lead(place, at)
    except binds.NotBound as why:
        log_line(f"input {each['name']}: links are made, for {folder} cannot be shown read-only: {why}")
        return None
    except OSError as error:
        raise out_of_disk(error, at) from error

    value = str(place if each.get("path_on_compute") else at)
    return Brought(value, SHOWN, {"files": files}, later=_as_it_is(node, each))


def _as_it_lies(node: Node, each: Mapping[str, Any], folder: str, files: int, place: Path) -> Brought | None:
    """The folder itself, where the script can do as little to it as to one that is shown: it is another user's."""
    try:
        if may_be_added_to(folder, node.check):
            return None
    except OSError:
        return None  # the listing tells what is wrong
    value = _linked(node, each, place, Path(folder))
    return Brought(value, AS_IT_LIES, {"files": files}, later=_as_it_is(node, each))


def _by_names(node: Node, each: Mapping[str, Any], folder: str, names: str, place: Path) -> Brought | None:
    cache, name = node.lease.cache, trees.name_of(folder, names)  # for whatever dataset it is
    node.lease.add([trees.lease_key(name)])
    ways = LINKED_BEFORE
    found = trees.find(cache.folder, name, cache.is_whole)
    if found is None:
        try:
            making = cache.tree_of(folder, name)
        except OSError as error:
            raise out_of_disk(error, cache.folder) from error
        try:
            linked = making.link_all_of(folder, node.check)
            if linked is None or linked.value != names:  # it changes just now: the listing tells what there is
                making.give_up()
                return None
            making.finish(folder, {"files": linked.files, "bytes": 0}, b"", (), (), cache.is_whole)
        except OSError as error:
            making.give_up()
            raise out_of_disk(error, cache.folder) from error
        except BaseException:
            making.give_up()
            raise
        ways = words({LINKED: linked.files})
        found = trees.find(cache.folder, name, cache.is_whole)
        if found is None:
            return None
    value = _linked(node, each, place, found[0])
    return Brought(value, ways, {"files": found[1].files}, later=_as_it_is(node, each, ways != LINKED_BEFORE))


def _as_it_is(node: Node, each: Mapping[str, Any], made: bool = False) -> Later:
    """What is recorded of a folder that nobody has listed before the script starts. Links that were made take room."""

    def later(client: RetryingClient) -> tuple[Mapping[str, Any], bytes | None]:
        recorded = _recorded(node, each, _listing(client, node.plan, each))
        if made:
            _keep_within(node.lease.cache, node.plan.data_limit)
        return recorded

    return later


def _known(node: Node, client: RetryingClient, each: Mapping[str, Any], place: Path) -> Brought | None:
    """An input whose links an earlier run has made, if it has not changed since."""
    cache = node.lease.cache
    try:
        now = state(_asking(client), _address(node.plan, each))
    except Refused as refusal:
        raise RunProblem(NOT_THERE, f"The input {each['name']!r} cannot be had: {refusal}") from refusal
    if now is None:
        return None
    name = trees.name_of(str(each["dataset"]), now)
    node.lease.add([trees.lease_key(name)])
    found = trees.find(cache.folder, name, cache.is_whole)
    if found is None:
        return None
    files, tree = found
    record = {**tree.record, "mode": each["mode"], "listing": seen_contract.listing_file(str(each["name"]))}
    value = _linked(node, each, place, files)
    return Brought(value, LINKED_BEFORE, record, trees.listing_of(cache.folder, name))


def _linked(node: Node, each: Mapping[str, Any], place: Path, files: Path) -> str:
    """Let an input be a folder that is not the run's own; the path that the script gets. That is the folder itself,
    unless the user has chosen a path: programs such as `find` do not look behind a link."""
    must_be_empty(place, each, node.plan)
    at = inside(node.folder, each, place)
    try:
        lead(at, files)
        if at != place:
            lead(place, at)
    except OSError as error:
        raise out_of_disk(error, at) from error
    return str(place) if each.get("path_on_compute") else str(files)


def _fetched(found: Listing) -> Iterator[tuple[Mapping[str, Any], str]]:
    """The files that are in the cache, and not on another disk that this node sees."""
    for file in found.files:
        key = key_of(file)
        if key is not None and not is_here(file):
            yield file, key


def _packed(folder: Path, found: Listing) -> bytes:
    """A listing that is too long for a property."""
    path = folder / "temp" / f"{os.urandom(4).hex()}.jsonl.gz"
    with gzip.open(path, "wt", compresslevel=1, encoding="utf-8", errors="surrogateescape") as file:
        file.writelines(seen_contract.lines(found.files))
    content = path.read_bytes()
    path.unlink()
    return content


def _asking(client: RetryingClient) -> Callable[[str, Mapping[str, Any]], Any]:
    return lambda path, params: client.send("GET", path, params=dict(params))


def _listing(client: RetryingClient, plan: Plan, each: Mapping[str, Any]) -> Listing:
    try:
        found = listing(_asking(client), _address(plan, each))
    except Refused as refusal:
        raise RunProblem(NOT_THERE, f"The input {each['name']!r} cannot be had: {refusal}") from refusal
    unsafe = next((path for path in found.layout() if not contract.is_safe(path)), None)
    if unsafe is not None:
        raise RunProblem(NOT_THERE, f"The input {each['name']!r} has a file that would leave its folder: {unsafe!r}.")
    return found


def _bring(
    node: Node, each: Mapping[str, Any], found: Listing, place: Path, may_link: bool
) -> str | tuple[str, trees.Making]:
    """Bring the files to their place. The ways that they took, in words; and, of many files that may be linked, the
    tree that they are in, which is to be finished."""
    plan, folder = node.plan, node.folder
    mounts = each["mode"] == contract.MOUNT
    at = inside(node.folder, each, place)
    must_be_empty(place, each, plan)
    server_file = Path(plan.server_file) if plan.server_file else None
    renewal = Renewal(Client(Locator(plan.server_url, plan.token, server_file)), _address(plan, each))
    tree: trees.Making | None = None
    try:
        os.makedirs(at, exist_ok=True)
        lazily = _lazily(node, each, found, at) if mounts else None
        if lazily is not None:
            if at != place:
                lead(place, at)
            return lazily
        now = found.state.value
        if may_link and now is not None and len(found.files) >= trees.SMALLEST:
            name = trees.name_of(str(each["dataset"]), now)
            node.lease.add([trees.lease_key(name)])
            tree = trees.Making(node.lease.cache.folder, name)
        below = str(at if tree is None else tree.files)
        ways = bring(
            found.files,
            (Path(below + path) for path in (found.mounted() if mounts else found.layout())),
            _server(plan, folder),
            link=mounts and not node.contained,
            lease=node.lease,
            check=node.check,
            told=_progress(str(each["name"]), node.report),
            fresh=renewal,
        )
        if tree is not None:
            return words(ways), tree
        if at != place:
            lead(place, at)
        if ways["fetched"]:
            _keep_within(node.lease.cache, plan.data_limit)
    except BaseException as error:
        if tree is not None:
            tree.give_up()
        if isinstance(error, (TransferProblem, Refused, OSError)):
            raise _said(error, each, at) from error
        raise
    return words(ways)


def _said(error: TransferProblem | Refused | OSError, each: Mapping[str, Any], at: Path) -> RunProblem:
    """What kept an input from being brought, in words for the user."""
    if isinstance(error, OSError):
        return out_of_disk(error, at)
    message, help = (error.message, error.help) if isinstance(error, TransferProblem) else (str(error), "")
    return RunProblem(NOT_THERE, f"The input {each['name']!r} cannot be had: {message}", help)


def _lazily(node: Node, each: Mapping[str, Any], found: Listing, at: Path) -> str | None:
    """Mount an input lazily, if that is better than to fetch all of it; the way that was taken, in words."""
    plan, name, cache = node.plan, str(each["name"]), node.lease.cache
    lacks = missing(found, cache, plan.lazy_above)
    if lacks is None:
        return None
    try:
        if node.contained:
            raise NotMounted("a container does not see it")
        if plan.distribution.nodes > 1 and node.work in at.parents:
            raise NotMounted("other nodes share the folder")
        server = Locator(plan.server_url, plan.token, Path(plan.server_file) if plan.server_file else None)
        addresses = (f"/api/workspaces/{quote(plan.workspace)}", _address(plan, each))
        pythons = [plan.mount_python, sys.executable]
        node.mounted[name] = mount_lazily(
            at, found, lacks, cache.folder, server, *addresses, Path(plan.sdk), pythons, node.check
        )
    except NotMounted as why:
        size = f"{lacks.bytes:,} bytes"
        log_line(f"input {name}: {size} are fetched before the script starts, not as it reads them: {why}")
        return None
    return f"{lacks.files:,} mounted lazily ({lacks.bytes:,} bytes, by process {node.mounted[name].pid})"


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
