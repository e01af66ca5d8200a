"""Metrics go in through `Run` and come back in SDK v1's shapes; what no metric can hold is refused."""

from __future__ import annotations

import math
from typing import Any

import pytest
from tests.sdk.run.interactive_run import MATRIX, begin

from runyard.sdk.exceptions import AzureMLException
from runyard.sdk.experiment import Experiment


def test_metrics_come_back_in_their_shapes(experiment: Experiment) -> None:
    run = begin(experiment)
    run.log("once", 0.5, description="what it is")
    for step in range(3):
        run.log("often", step, step=step)
    run.log("nan", math.nan)
    run.log("text", "good")
    run.log_list("one", [7])
    run.log_list("list", [1, 2.5])
    run.log_list("list", [3])
    run.log_row("row", x=1, y="a")
    run.log_table("table", {"x": [1, 2], "y": [3, 4]})
    run.log_row("table", x=5, y=6)
    run.log_confusion_matrix("matrix", MATRIX)
    found = run.get_metrics()
    assert math.isnan(found.pop("nan"))
    artifact = found.pop("matrix")
    assert found == {
        "once": 0.5,
        "often": [0, 1, 2],
        "text": "good",
        "one": 7,
        "list": [1.0, 2.5, 3],
        "row": {"x": 1, "y": "a"},
        "table": {"x": [1, 2, 5], "y": [3, 4, 6]},
    }
    assert artifact.startswith(f"aml://artifactId/ExperimentRun/dcid.{run.id}/matrix_")
    assert run.get_metrics("often") == {"often": [0, 1, 2]}
    assert run.get_metrics("no such") == {}
    assert b'"class_labels"' in run.get_metrics("matrix", populate=True)["matrix"].content
    run.complete()
    assert run.get_metrics(recursive=True)[run.id]["once"] == 0.5


def test_images_are_files_of_the_run(experiment: Experiment) -> None:
    from matplotlib.figure import Figure

    run = begin(experiment)
    figure = Figure()
    figure.subplots().plot([1])
    run.log_image("plot", plot=figure)
    run.log_image("plot", plot=figure)
    first, second = run.get_metrics()["plot"]
    assert first != second
    names = run.get_file_names()
    assert {first.rpartition("/")[2], second.rpartition("/")[2]} <= set(names)
    run.complete()


@pytest.mark.parametrize(
    "call",
    [
        lambda run: run.log_table("t", {"x": [1], "y": [1, 2]}),
        lambda run: run.log_row("r", x=[1]),
        lambda run: run.log_list("l", [[1]]),
        lambda run: run.log_table("t", [1]),
        lambda run: run.log_row("r"),
        lambda run: run.log("v", [1]),
        lambda run: run.log_image("i"),
    ],
)
def test_what_a_metric_cannot_hold_is_refused(experiment: Experiment, call: Any) -> None:
    run = begin(experiment)
    with pytest.raises(AzureMLException):
        call(run)
    assert run.get_metrics() == {}
    run.complete()


def test_a_data_frame_is_told_how_to_become_a_table(experiment: Experiment) -> None:
    class Frame:
        def to_dict(self, orient: str) -> dict[str, list[int]]:
            return {"x": [1, 2]}

    run = begin(experiment)
    with pytest.raises(AzureMLException, match="to_dict"):
        run.log_table("frame", Frame())  # type: ignore[arg-type]
    run.log_table("frame", Frame().to_dict("list"))
    run.complete()
