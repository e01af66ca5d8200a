"""What a model's files are, by their names and first bytes, without loading a framework."""

from __future__ import annotations

import os
import zipfile

_NAMES = {
    ".onnx": "Onnx",
    ".h5": "TfKeras",
    ".hdf5": "TfKeras",
    ".keras": "TfKeras",
    ".pt2": "PyTorch",
    ".joblib": "ScikitLearn",
}


def files(path: str) -> list[str]:
    """All files of a model, the ones nearest to its root first."""
    if os.path.isfile(path):
        return [path]
    found = [os.path.join(folder, name) for folder, _, names in os.walk(path) for name in sorted(names)]
    return sorted(found, key=lambda each: (each.count(os.sep), each))


def recognise(path: str) -> str | None:
    """The framework; None when nothing tells it."""
    found = files(path)
    if any(os.path.basename(each) == "saved_model.pb" for each in found):
        return "TensorFlow"
    kinds = {kind for kind in map(_kind, found) if kind is not None}
    return kinds.pop() if len(kinds) == 1 else None


def _kind(path: str) -> str | None:
    ending = os.path.splitext(path)[1].lower()
    if ending in _NAMES:
        return _NAMES[ending]
    try:
        with open(path, "rb") as file:
            start = file.read(8)
    except OSError:
        return None
    if start == b"\x89HDF\r\n\x1a\n":
        return "TfKeras"
    if start[:2] == b"PK" and ending in (".pt", ".pth", ".zip", "", ".bin"):
        return _of_archive(path)
    if start[:1] == b"\x80" and ending in (".pkl", ".pickle"):  # several frameworks pickle; most of these are its
        return None
    return None


def _of_archive(path: str) -> str | None:
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (OSError, zipfile.BadZipFile):
        return None
    if any(name.endswith(("/data.pkl", "constants.pkl", "/archive_format")) for name in names):
        return "PyTorch"
    return "TfKeras" if "config.json" in names and "metadata.json" in names else None


def one(path: str, endings: tuple[str, ...], what: str) -> str:
    """The one file with such an ending. FileNotFoundError, ValueError with words."""
    found = [each for each in files(path) if each.lower().endswith(endings)]
    if not found:
        listed = ", ".join(os.path.relpath(each, path) for each in files(path)[:5]) or "nothing"
        raise FileNotFoundError(f"There is no {what} in {path}, which holds {listed}.")
    top = [each for each in found if each.count(os.sep) == found[0].count(os.sep)]
    if len(top) > 1:
        raise ValueError(f"There are several files that could be the {what}: {', '.join(map(os.path.basename, top))}.")
    return found[0]
