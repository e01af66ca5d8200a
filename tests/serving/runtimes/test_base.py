"""If these fail, a model that cannot be served without code is not told so before anything is loaded."""

from __future__ import annotations

from pathlib import Path

import pytest

from runyard.contracts.services.worker import ServedModel
from runyard.serving.failure import CannotServe
from runyard.serving.runtimes.base import Tensor, load


def test_what_cannot_be_served(tmp_path: Path) -> None:
    with pytest.raises(CannotServe, match="'Custom'") as wrong:
        load(ServedModel("m", 1, str(tmp_path)))
    assert "entry script" in wrong.value.help
    with pytest.raises(CannotServe, match="is not at"):
        load(ServedModel("m", 1, str(tmp_path / "nowhere"), "Onnx"))
    (tmp_path / "saved_model.pb").touch()
    with pytest.raises(CannotServe, match="holds a model of TensorFlow"):
        load(ServedModel("m", 1, str(tmp_path), "ScikitLearn"))


def test_a_shape_is_shown_as_protocols_have_it() -> None:
    assert Tensor("x", "FP32", (None, 3)).shown() == [-1, 3]
    assert Tensor("x", "FP32", None).shown() == [-1]
