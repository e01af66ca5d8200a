"""The environment of a service for a model of MLflow: what the `requirements.txt` among the model's files lists.

Like the environments of frameworks it is chosen anew for each revision, so that another version of the model is served
with what that one needs.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection

from runyard.contracts import curated, manifest, pip_requirements
from runyard.contracts.curated import CPU_IMAGE, GPU_IMAGE
from runyard.store.content import snapshots
from runyard.store.content.objects import Objects

REQUIREMENTS = "requirements.txt"
LARGEST = 1 << 20

_ELSEWHERE = ("--requirement", "--constraint")

Json = dict[str, Any]


def definition_of(connection: Connection, objects: Objects, model: Json, gpu: bool) -> Json | None:
    """The definition of the environment that a model names; None where its files name none that is whole."""
    entries = manifest.parse(snapshots.manifest_text(connection, model["tree"])).entries
    found = [each for each in entries if each.path.rpartition("/")[2] == REQUIREMENTS and each.size <= LARGEST]
    if not found:
        return None
    with objects.open(min(found, key=lambda each: len(each.path)).digest) as file:
        text = file.read().decode("utf-8-sig", "replace").replace("\\\n", " ")
    lines = [line for line in (each.partition(" #")[0].strip() for each in text.splitlines()) if line]
    lines = [line for line in lines if not line.startswith("#")]
    options = [pip_requirements.option(line)[0] for line in lines if pip_requirements.is_option(line)]
    if len(options) == len(lines) or any(name in _ELSEWHERE for name in options):
        return None
    return curated.definition(f"mlflow-{model['name']}", lines, GPU_IMAGE if gpu else CPU_IMAGE, defaults=False)
