"""Models of a service on the node: laid out as SDK v1 has them, and checked."""

from __future__ import annotations

import hashlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from runyard.contracts.manifest import FILE, Entry, make
from runyard.contracts.plan import Plan
from runyard.node.prepare.layout import object_path
from runyard.node.prepare.models import bring_models
from runyard.node.problem import RunProblem


def test_a_model_is_laid_out_and_a_damaged_one_is_named(tmp_path: Path) -> None:
    content = b"weights"
    digest = hashlib.sha256(content).hexdigest()
    manifest = make([Entry("model/weights.bin", FILE, digest, len(content))])
    stored = object_path(tmp_path / "objects", digest)
    stored.parent.mkdir(parents=True)
    stored.write_bytes(content)
    model = {"id": "m:2", "name": "m", "version": 2, "tree": manifest.id, "manifest": manifest.text.decode()}
    plan = cast(Plan, SimpleNamespace(objects=str(tmp_path / "objects")))

    def bring(work: Path) -> Any:
        return bring_models(plan, [model], tmp_path, work, lambda: None)

    [place] = bring(tmp_path / "work")
    assert place == tmp_path / "work" / "azureml-models" / "m" / "2"
    assert (place / "model" / "weights.bin").read_bytes() == content
    assert bring(tmp_path / "work") == [place]
    stored.write_bytes(b"changed")
    with pytest.raises(RunProblem, match="m:2"):
        bring(tmp_path / "other")
