"""If these fail, a model of another framework than it says fails with words that help nobody."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from runyard.serving.runtimes.recognise import files, one, recognise


def test_models_are_known_by_their_files(tmp_path: Path) -> None:
    assert recognise(str(tmp_path)) is None
    (tmp_path / "a.onnx").touch()
    assert recognise(str(tmp_path)) == "Onnx"
    (tmp_path / "weights.h5").touch()
    assert recognise(str(tmp_path)) is None
    keras = tmp_path / "keras"
    keras.mkdir()
    (keras / "model").write_bytes(b"\x89HDF\r\n\x1a\n")
    assert recognise(str(keras)) == "TfKeras"
    torch = tmp_path / "model.pt"
    with zipfile.ZipFile(torch, "w") as archive:
        archive.writestr("model/data.pkl", "")
    assert recognise(str(torch)) == "PyTorch"
    torch.write_bytes(b"PK torn")
    assert recognise(str(torch)) is None


def test_the_one_file_nearest_to_the_root(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nothing"):
        one(str(tmp_path), (".onnx",), "ONNX file")
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "b.onnx").touch()
    (tmp_path / "a.onnx").touch()
    assert one(str(tmp_path), (".onnx",), "ONNX file") == str(tmp_path / "a.onnx")
    (tmp_path / "c.onnx").touch()
    with pytest.raises(ValueError, match=r"a\.onnx, c\.onnx"):
        one(str(tmp_path), (".onnx",), "ONNX file")
    assert len(files(str(tmp_path))) == 3
