"""Charts and images are checked before they are kept: what a run holds can be drawn."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy
import pytest

from runyard.sdk.exceptions import AzureMLException, UserErrorException
from runyard.sdk.telemetry import charts

MATRIX: dict[str, Any] = {
    "schema_type": "confusion_matrix",
    "schema_version": "1.0.0",
    "data": {"class_labels": ["a", "b"], "matrix": [[1, 2], [3, 4]]},
}
PNG = b"\x89PNG\r\n\x1a\n..."


def test_a_dict_and_its_json_are_the_same() -> None:
    as_dict = charts.chart_json(charts.CONFUSION_MATRIX, "m", MATRIX)
    assert charts.chart_json(charts.CONFUSION_MATRIX, "m", json.dumps(MATRIX)) == as_dict
    assert json.loads(as_dict) == MATRIX


def test_numpy_inside_is_written_out() -> None:
    value = {**MATRIX, "data": {"class_labels": ["a"], "matrix": numpy.array([[numpy.int64(1)]])}}
    assert json.loads(charts.chart_json(charts.CONFUSION_MATRIX, "m", value))["data"]["matrix"] == [[1]]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("{", "no JSON"),
        (3, "dict"),
        ({"data": {}}, "schema_type"),
        ({**MATRIX, "schema_type": "residuals"}, "confusion_matrix"),
        ({**MATRIX, "data": {"matrix": []}}, r"data\.class_labels"),
        ({**MATRIX, "data": {"class_labels": [object()], "matrix": []}}, "cannot be written"),
    ],
)
def test_what_is_wrong_is_named(value: object, message: str) -> None:
    with pytest.raises(UserErrorException, match=message):
        charts.chart_json(charts.CONFUSION_MATRIX, "m", value)


def test_an_image_comes_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "image.dat").write_bytes(PNG)
    assert charts.image_bytes("i", tmp_path / "image.dat", None) == (PNG, ".png")


def test_an_image_comes_from_a_figure() -> None:
    from matplotlib.figure import Figure

    figure = Figure()
    figure.subplots().plot([1, 2])
    content, ending = charts.image_bytes("i", None, figure)
    assert content.startswith(b"\x89PNG")
    assert ending == ".png"


@pytest.mark.parametrize(("path", "plot"), [(None, None), ("a", "b")])
def test_exactly_one_source(path: object, plot: object) -> None:
    with pytest.raises(AzureMLException, match="exactly one"):
        charts.image_bytes("i", path, plot)


def test_what_is_no_image_is_refused(tmp_path: Path) -> None:
    (tmp_path / "image.png").write_bytes(b"text")
    with pytest.raises(AzureMLException, match="no image"):
        charts.image_bytes("i", tmp_path / "image.png", None)
    with pytest.raises(UserErrorException, match="cannot be read"):
        charts.image_bytes("i", tmp_path / "not there", None)
    with pytest.raises(AzureMLException, match="matplotlib"):
        charts.image_bytes("i", None, "no plot")


@pytest.mark.parametrize(
    ("content", "ending"),
    [(b"\xff\xd8\xff\xe0", ".jpg"), (b"RIFF....WEBPVP8", ".webp"), (b"<?xml?><svg>", ".svg"), (b"?", None)],
)
def test_images_are_known_by_their_bytes(content: bytes, ending: str | None) -> None:
    assert charts.image_ending(content) == ending


@pytest.mark.parametrize("metric", ["loss", "a/b", "../../etc", "ROC: class 1?", "..", "\\", "/"])
def test_any_metric_has_a_file_name(metric: str) -> None:
    name = charts.file_name(metric, ".png")
    assert name.endswith(".png")
    assert ".." not in name.split("/")
