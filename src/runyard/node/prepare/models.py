"""Laying out the models of a service: azureml-models/<name>/<version>/<its one file or folder>, as SDK v1 has it.

Where the folder of the object store is on this disk the files are copied from there (the kernel shares the bytes where
the file system can), else they come from the server. They are checked by their hashes on the way.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any, Callable, Sequence

from runyard.contracts.plan import Plan
from runyard.node.log import log_line
from runyard.node.prepare.fetch import fetch_manifest, fetch_objects, local_manifest
from runyard.node.prepare.layout import lay_out, out_of_disk
from runyard.node.problem import RunProblem

FOLDER = "azureml-models"


def bring_models(
    plan: Plan, models: Sequence[dict[str, Any]], folder: Path, work: Path, check: Callable[[], None]
) -> list[Path]:
    """The folder of each model, in their order; what a former runner has laid out is left as it is."""
    found = []
    for model in models:
        place = work / FOLDER / str(model["name"]) / str(model["version"])
        if not place.is_dir():
            _bring(plan, model, folder, place, check)
        found.append(place)
    return found


def _bring(plan: Plan, model: dict[str, Any], folder: Path, place: Path, check: Callable[[], None]) -> None:
    from runyard.node.delivery.retrying_client import Refused, RetryingClient

    objects = Path(plan.objects) if plan.objects is not None else folder / "objects"
    aside = place.with_name(f".{place.name}.part")
    shutil.rmtree(aside, ignore_errors=True)
    try:
        manifest = local_manifest(folder / "no-folder", str(model["tree"]), model.get("manifest"))
        if manifest is None or plan.objects is None:
            client = RetryingClient.of(plan, folder, check)
            manifest = manifest or fetch_manifest(client, str(model["tree"]))
            if plan.objects is None:
                fetch_objects(client, manifest, objects, check)
        aside.mkdir(parents=True)
        count = lay_out(manifest, objects, aside, check)
        os.rename(aside, place)
    except Refused as refusal:
        raise RunProblem(
            "ModelIncomplete",
            f"The model {model['id']} could not be fetched: {refusal}",
            "Register it again, and deploy that version.",
        ) from refusal
    except RunProblem as problem:
        if problem.code != "SnapshotIncomplete":
            raise
        raise RunProblem(
            "ModelIncomplete", f"The model {model['id']}: {problem.message}", "Register it again, and deploy that."
        ) from problem
    except OSError as error:
        raise out_of_disk(error, place) from error
    log_line(f"laid out {count} paths of the model {model['id']}")
