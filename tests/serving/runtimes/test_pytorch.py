"""If these fail, a model of PyTorch is not served without code, or weights alone are not told apart from a model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.served_models import expected
from tests.support.serving import Service

ROWS = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
Made = Callable[[str], tuple[Path, Path]]


@pytest.mark.parametrize("kind", ["torchscript", "exported"])
def test_it_is_served(made: Made, tmp_path: Path, kind: str) -> None:
    path, python = made(kind)
    model = {"name": "net", "version": 1, "path": str(path), "framework": "PyTorch"}
    with Service(tmp_path, python, models=[model], batch={"size": 8}).ready() as service:
        assert service.ask("/score", {"data": ROWS}).json() == expected(ROWS)
        name = service.ask("/v2/models/net").json()["inputs"][0]["name"]
        given = {"name": name, "shape": [2, 3], "datatype": "FP32", "data": [1, 2, 3, 4, 5, 6]}
        answer = service.ask("/v2/models/net/infer", {"inputs": [given]}).json()
        assert answer["outputs"] == [
            {
                "name": "output_0",
                "datatype": "FP32",
                "shape": [2, 2],
                "data": [each for row in expected(ROWS) for each in row],
            }
        ]
        wrong = service.ask("/score", {"data": [[1.0]]})
        assert wrong.status == (400 if kind == "exported" else 500)
        assert service.drain() == 0


def test_weights_alone_are_told_with_what_to_do(made: Made, tmp_path: Path) -> None:
    path, python = made("state-dict")
    model = {"name": "net", "version": 1, "path": str(path), "framework": "PyTorch"}
    with Service(tmp_path, python, models=[model]) as service:
        assert service.ended() == 3
        error = service.status.error
        assert error is not None
        assert "no TorchScript" in error.message
        assert "torch.jit.trace" in error.help
