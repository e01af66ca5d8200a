"""Preparing a run: its folders, and its working folder laid out from the snapshot."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Callable

from runyard.contracts.plan import Plan
from runyard.node.log import log_line
from runyard.node.prepare.fetch import fetch_manifest, fetch_objects, local_manifest
from runyard.node.prepare.layout import lay_out, out_of_disk
from runyard.node.problem import RunProblem


def make_folders(folder: Path) -> None:
    """Make the folders that every node has for itself, whoever owns the working folder. That of telemetry is made by
    whoever writes there first: to make and remove a folder costs a short run more than anything else on a disk."""
    try:
        for each in ("temp", "streams"):
            make(f"{folder}/{each}")
    except OSError as error:
        raise out_of_disk(error, folder) from error


def prepare(plan: Plan, folder: Path, check: Callable[[], None]) -> None:
    """Make the run's folders, its working folder among them; `check` is called often, and may raise to give up."""
    make_folders(folder)
    work = folder / "work"
    try:
        make(str(work))
        if plan.snapshot_id:
            _snapshot(plan, plan.snapshot_id, folder, work, check)
        if plan.attempt > 1:
            from runyard.node.prepare.former_outputs import give_back

            give_back(plan, folder, check)
        if plan.resumes:
            from runyard.node.prepare.former_outputs import bring_resumed

            bring_resumed(plan, folder, check)
        for name in ("outputs", "logs"):
            make(f"{work}/{name}")
    except OSError as error:
        raise out_of_disk(error, folder) from error


def make(folder: str) -> None:
    """Make a folder whose parent is there; one that is there, or something else of its name, is left as it is."""
    with suppress(FileExistsError):
        os.mkdir(folder)


def _snapshot(plan: Plan, snapshot_id: str, folder: Path, work: Path, check: Callable[[], None]) -> None:
    manifest = local_manifest(folder, snapshot_id, plan.manifest)
    if manifest is not None and plan.objects is not None:
        count = lay_out(manifest, Path(plan.objects), work, check)
    else:
        # Loaded only here: what speaks HTTP takes longer to load than the whole start of a script.
        from runyard.node.delivery.removal import remove
        from runyard.node.delivery.retrying_client import Refused, RetryingClient

        client = RetryingClient.of(plan, folder, check)
        objects = Path(plan.objects) if plan.objects is not None else folder / "objects"
        try:
            manifest = manifest or fetch_manifest(client, snapshot_id)
            if plan.objects is None:
                client.fact({"fact": "preparing", "reason": "the snapshot is being fetched"})
                fetch_objects(client, manifest, objects, check)
        except Refused as refusal:
            raise RunProblem(
                "SnapshotIncomplete", f"The snapshot of the run could not be fetched: {refusal}"
            ) from refusal
        count = lay_out(manifest, objects, work, check)
        if plan.objects is None:
            remove(objects)
    log_line(f"laid out {count} paths of snapshot {snapshot_id}")
