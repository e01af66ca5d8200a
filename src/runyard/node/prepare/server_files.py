"""Fetching what the server stores for environments: private wheels, and folders to build images in."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Callable

from runyard.contracts import names
from runyard.contracts.plan import Plan
from runyard.node.delivery.retrying_client import Refused, RetryingClient
from runyard.node.prepare.fetch import fetch_digests, fetch_manifest, fetch_objects
from runyard.node.prepare.layout import BadObject, copy_object, lay_out
from runyard.node.problem import RunProblem

SCHEME = "runyard://"


def bring(address: str, plan: Plan, folder: Path, check: Callable[[], None]) -> Path:
    """Something that the server stores for environments, now on this disk: `runyard://wheels/<sha256>/<file>` as a file
    of that name, `runyard://snapshots/<id>` as a folder."""
    kind, _, rest = address[len(SCHEME) :].partition("/")
    client = RetryingClient.of(plan, folder, check)
    objects = Path(plan.objects) if plan.objects is not None else folder / "objects"
    try:
        if kind == "snapshots":
            manifest = fetch_manifest(client, names.check("run", rest))
            if plan.objects is None:
                fetch_objects(client, manifest, objects, check)
            place = folder / "brought" / rest
            place.mkdir(parents=True, exist_ok=True)
            lay_out(manifest, objects, place, check)
            return place
        digest, _, name = rest.partition("/")
        place = folder / "brought" / names.check("run", digest) / os.path.basename(names.check_file(name))
        if plan.objects is None:
            fetch_digests(client, {digest}, objects, check)
        place.parent.mkdir(parents=True, exist_ok=True)
        if place.exists():
            place.unlink()  # of an attempt to build that was broken off
        copy_object(objects, digest, place)
        return place
    except (Refused, names.BadName, FileNotFoundError, BadObject) as error:
        raise RunProblem(
            "NotKept",
            f"{address} of the environment is not on the server, or not whole: {error}",
            "Add it again: Environment.add_private_pip_wheel, or DockerBuildContext.from_local_directory.",
        ) from error
