"""If these fail, a model of scikit-learn is not served without code as SDK v1 served it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.support.serving import Service


def test_methods_and_forms(made: Callable[[str], tuple[Path, Path]], tmp_path: Path) -> None:
    path, python = made("sklearn")
    model = {"name": "clf", "version": 1, "path": str(path), "framework": "ScikitLearn"}
    with Service(tmp_path, python, models=[model]).ready() as service:
        rows = [[0.0, 0.0], [4.0, 4.0]]
        chances = service.ask("/score", {"data": rows}).json()["predict_proba"]
        assert [round(chance[1]) for chance in chances] == [0, 1]
        assert service.ask("/score", {"data": rows, "method": "predict"}).json() == {"predict": [0, 1]}
        wrapped = {"Inputs": {"data": rows}, "GlobalParameters": {"method": "predict"}}
        assert service.ask("/score", wrapped).json() == {"Results": [0, 1]}
        given = {"name": "anything", "shape": [2, 2], "datatype": "FP64", "data": [0, 0, 4, 4]}
        answer = service.ask("/v2/models/clf/infer", {"inputs": [given]}).json()
        assert answer["outputs"] == [{"name": "predict", "datatype": "INT64", "shape": [2], "data": [0, 1]}]
        wrong = service.ask("/score", {"data": [[1.0]]})
        assert wrong.status == 400
        assert "[-1, 2]" in wrong.json()["message"]
        assert "no output 'fly'" in service.ask("/score", {"data": rows, "method": "fly"}).json()["message"]
        assert service.ask("/score", {"data": [["a", "b"]]}).status in (400, 500)
        assert service.drain() == 0


def test_a_file_that_does_not_load_is_named_with_its_reason(
    made: Callable[[str], tuple[Path, Path]], tmp_path: Path
) -> None:
    _, python = made("sklearn")
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "model.pkl").write_bytes(b"\x80\x04torn")
    model = {"name": "clf", "version": 1, "path": str(tmp_path / "m"), "framework": "ScikitLearn"}
    with Service(tmp_path / "s", python, models=[model]) as service:
        assert service.ended() == 3
        error = service.status.error
        assert error is not None
        assert "The model clf does not load" in error.message
