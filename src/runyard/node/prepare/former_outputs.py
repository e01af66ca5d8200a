"""Giving a run the outputs of what it goes on from: of its own former attempts, or of a run that it resumes."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any, Callable

from runyard.client.http import Stream, quote
from runyard.contracts import names, pack
from runyard.contracts.plan import RESUMED, Plan
from runyard.node.delivery.retrying_client import Refused, RetryingClient
from runyard.node.log import log_line
from runyard.node.prepare.layout import BadObject, copy_object, out_of_disk
from runyard.node.problem import RunProblem

OUTPUTS = "outputs"


def give_back(plan: Plan, folder: Path, check: Callable[[], None]) -> None:
    """Put into `work/outputs` what this node wrote there in former attempts. What the other nodes wrote
    is theirs; `give_back_of` brings it to a node that shares its working folder with them."""
    if plan.node:
        _give_back(plan, folder, plan.run_id, f"{OUTPUTS}/node_{plan.node}/", (), f"{OUTPUTS}/", check)
    else:
        others = tuple(f"{OUTPUTS}/node_{node}/" for node in range(1, plan.distribution.nodes))
        _give_back(plan, folder, plan.run_id, f"{OUTPUTS}/", others, f"{OUTPUTS}/", check)


def give_back_of(nodes: list[int], plan: Plan, folder: Path, check: Callable[[], None]) -> None:
    """Put into `work/outputs/node_<k>` what is stored there, for each of the nodes."""
    for node in nodes:
        name = f"{OUTPUTS}/node_{node}/"
        _give_back(plan, folder, plan.run_id, name, (), name, check)


def bring_resumed(plan: Plan, folder: Path, check: Callable[[], None]) -> None:
    """Put what the run that is resumed has in its outputs, of all of its nodes, into a folder of its own."""
    os.makedirs(folder / "work" / RESUMED, exist_ok=True)
    _give_back(plan, folder, plan.resumes, f"{OUTPUTS}/", (), f"{RESUMED}/", check)


def _give_back(
    plan: Plan,
    folder: Path,
    run_id: str,
    prefix: str,
    without: tuple[str, ...],
    place: str,
    check: Callable[[], None],
) -> None:
    whose = "the former attempt" if run_id == plan.run_id else f"the run {run_id}"
    client = RetryingClient.of(plan, folder, check)
    work = folder / "work"
    count = 0
    try:
        found = client.send("GET", f"/api/runs/{quote(run_id)}/files", params={"prefix": prefix})["files"]
        places = names.on_disk(names.check_file(str(each["name"])) for each in found)
        for each in found:
            name = names.check_file(str(each["name"]))
            if name.startswith(without):
                continue
            check()
            path = work / (place + places[name][len(prefix) :])
            if not _inside(path.parent, work):
                log_line(f"{name} is not given back: its folder is a link that leads elsewhere")
                continue
            _bring(client, plan, run_id, each, path, whose)
            count += 1
    except (Refused, names.BadName) as error:
        raise RunProblem("OutputsNotReturned", f"The outputs of {whose} could not be had: {error}") from error
    except OSError as error:
        raise out_of_disk(error, folder) from error
    if count:
        log_line(f"brought {count} files of {whose}: {prefix}")


def _bring(client: RetryingClient, plan: Plan, run_id: str, entry: dict[str, Any], path: Path, whose: str) -> None:
    os.makedirs(path.parent, exist_ok=True)
    if path.is_symlink() or path.is_file():
        path.unlink()  # of the snapshot
    digest = entry.get("hash")
    if plan.objects is not None and pack.is_digest(digest):
        try:
            copy_object(Path(plan.objects), str(digest), path)
            return
        except BadObject as error:
            raise _damaged(entry, whose, str(error)) from error
        except FileNotFoundError:
            log_line(f"{entry['name']} is not among the objects on this disk: the server is asked for it")

    def write(response: Stream) -> str:
        seen = hashlib.sha256()
        with open(path, "wb") as file:
            for chunk in response:
                seen.update(chunk)
                file.write(chunk)
        return seen.hexdigest()

    address = f"/api/runs/{quote(run_id)}/files/{quote(str(entry['name']))}"
    seen = client.stream("GET", address, None, write)
    if pack.is_digest(digest) and seen != digest:
        raise _damaged(entry, whose, f"object {digest} came with other bytes")


def _damaged(entry: dict[str, Any], whose: str, reason: str) -> RunProblem:
    return RunProblem(
        "OutputsNotReturned",
        f"{entry['name']} of {whose} is damaged: {reason}.",
        "Where the server runs, `runyard doctor --deep` names every file like that. Submit a new run.",
    )


def _inside(folder: Path, above: Path) -> bool:
    return os.path.commonpath([os.path.realpath(folder), os.path.realpath(above)]) == os.path.realpath(above)
