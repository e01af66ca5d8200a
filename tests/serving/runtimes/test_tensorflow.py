"""If these fail, a SavedModel or a model of Keras is not served without code."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.served_models import expected
from tests.support.serving import Service

ROWS = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]


@pytest.mark.parametrize(("kind", "framework"), [("saved-model", "TensorFlow"), ("keras", "TfKeras")])
def test_it_is_served(made: Callable[[str], tuple[Path, Path]], tmp_path: Path, kind: str, framework: str) -> None:
    path, python = made(kind)
    model = {"name": "tf-mnist", "version": 1, "path": str(path), "framework": framework, "framework_version": "2.0"}
    with Service(tmp_path, python, models=[model]).ready() as service:
        assert service.ask("/score", {"instances": ROWS}).json() == {"predictions": expected(ROWS)}
        inputs = service.ask("/v2/models/tf-mnist").json()["inputs"]
        assert inputs == [{"name": "x", "datatype": "FP32", "shape": [-1, 3]}]
        named = service.ask("/v1/models/tf-mnist:predict", {"signature_name": "serving_default", "inputs": {"x": ROWS}})
        assert named.json() == {"outputs": expected(ROWS)}
        wrong = service.ask("/v1/models/tf-mnist:predict", {"instances": [[1.0]]})
        assert wrong.status == 400
        assert "'x'" in wrong.json()["error"]
        assert service.drain() == 0
