from __future__ import annotations

from typing import TYPE_CHECKING

from runyard.cli import errors

if TYPE_CHECKING:
    from tests.cli.conftest import Shell

LOGS_ALL_KINDS = """
from azureml.core import Run
run = Run.get_context()
for step in range(1000):
    run.log("loss", 7.0 if step == 500 else 1.0)
run.log("odd", float("nan"))
run.log("best", 3, step=12)
run.log_list("list", [1, 2, 3])
run.log_row("rows", x=1, y=2.5)
run.log_row("rows", x=2, y=float("inf"))
"""


def test_metrics_at_a_glance_and_point_by_point(shell: Shell) -> None:
    run_id = shell.completed(LOGS_ALL_KINDS)["id"]
    lines = {line.split()[0]: line.split()[1:] for line in shell.call("metrics", run_id).stdout.splitlines()}
    assert lines["loss"] == ["values", "1,000", "1", "1", "7"]
    assert lines["odd"][:3] == ["values", "1", "nan"]
    assert lines["list"] == ["values", "3", "3", "1", "3"]
    assert "y=inf" in lines["rows"]

    points = shell.call("metrics", run_id, "loss").stdout.splitlines()
    assert len(points) == 1001
    assert points[501].split()[0] == "500"
    assert points[501].split()[-1] == "7"
    assert shell.call("metrics", run_id, "best").stdout.splitlines()[1].split()[0] == "12"

    rows = [line.split() for line in shell.call("metrics", run_id, "rows").stdout.splitlines()]
    assert rows == [["x", "y"], ["1", "2.5"], ["2", "inf"]]


def test_a_thinned_series_keeps_its_peak(shell: Shell) -> None:
    run_id = shell.completed(LOGS_ALL_KINDS)["id"]
    thinned = shell.json("metrics", run_id, "loss", "--buckets", "10")[0]
    assert len(thinned["buckets"]) <= 10
    assert max(bucket["max"] for bucket in thinned["buckets"]) == 7
    assert sum(bucket["count"] for bucket in thinned["buckets"]) == 1000
    plain = shell.call("metrics", run_id, "loss", "--buckets", "10").stdout.splitlines()
    assert len(plain) <= 11
    assert any("7" in line.split() for line in plain)


def test_json_gives_whole_series_and_values_that_json_cannot_hold(shell: Shell) -> None:
    run_id = shell.completed(LOGS_ALL_KINDS)["id"]
    found = {metric["name"]: metric for metric in shell.json("metrics", run_id)}
    assert len(found["loss"]["values"]) == 1000
    assert found["odd"]["values"] == [{"f": "nan"}]
    assert found["rows"]["columns"]["y"] == [2.5, {"f": "inf"}]


def test_no_metrics_and_no_such_metric(shell: Shell) -> None:
    run_id = shell.completed()["id"]
    assert shell.call("metrics", run_id).stdout == "No metrics.\n"
    assert shell.json("metrics", run_id) == []
    error = shell.refusal("metrics", run_id, "loss", expect=errors.NOT_FOUND)
    assert error["code"] == "metric_not_found"
