"""Rows of a comparison: what each run has under a name, and whether all have the same."""

from __future__ import annotations

import json
from typing import Any

from runyard.server.responses import comparison


def document(run_id: str, **changes: Any) -> dict[str, Any]:
    launch = {
        "script": "train.py",
        "command": None,
        "environment": {"python": "3.11", "pip": ["torch==2.1", "numpy"]},
        "distribution": {"processes": 0},
        "inputs": [{"name": "mnist", "dataset": "id1"}],
    }
    seen = {"dataset": "id1", "files": 3, "digest": "aa"}
    return {
        "id": run_id,
        "status": "Completed",
        "experiment": "e",
        "started_at": "2026-01-01T00:00:00.000000Z",
        "ended_at": "2026-01-01T00:01:30.500000Z",
        "target": "local",
        "nodes": 1,
        "snapshot_id": "s",
        "tags": {},
        "parameters": {"lr": "0.1"},
        "properties": {"runyard.data.mnist": json.dumps(seen), "azureml.git.commit": "c1"},
        "launch": {**launch, **changes.pop("launch", {})},
        **changes,
    }


def rows_of(*runs: dict[str, Any], **metrics: list[dict[str, Any]]) -> dict[tuple[str, str], tuple[list[Any], bool]]:
    rows = comparison.rows(runs, metrics)
    return {(row["group"], row["name"]): (row["values"], row["same"]) for row in rows}


def test_equal_runs_have_equal_rows() -> None:
    found = rows_of(document("a"), document("b"))
    assert all(same for _, same in found.values())
    assert found["run", "seconds"][0] == [90.5, 90.5]
    assert found["data", "mnist: digest"][0] == ["aa", "aa"]
    assert found["environment", "torch"][0] == ["==2.1", "==2.1"]


def test_what_differs_is_told_by_name() -> None:
    second = document(
        "b",
        tags={"owner": "me"},
        parameters={"lr": "0.2", "fast": "true"},
        launch={"environment": {"python": "3.11", "pip": ["torch==2.2"]}},
    )
    metric = {"name": "acc", "kind": "values", "buckets": [{"last": 0.5}]}
    found = rows_of(document("a"), second, b=[metric, {"name": "table", "kind": "table", "columns": {}}])
    assert {name: values for name, (values, same) in found.items() if not same} == {
        ("parameters", "lr"): ["0.1", "0.2"],
        ("parameters", "fast"): [None, "true"],
        ("metrics", "acc"): [None, 0.5],
        ("tags", "owner"): [None, "me"],
        ("environment", "torch"): ["==2.1", "==2.2"],
        ("environment", "numpy"): ["any", None],
    }


def test_a_run_that_was_not_submitted_has_no_start() -> None:
    found = rows_of(document("a"), {**document("b"), "launch": None, "started_at": None})
    assert found["run", "script"] == (["train.py", None], False)
    assert found["run", "seconds"][0] == [90.5, None]


def test_a_metric_of_a_single_point_is_compared_too() -> None:
    first, second = ([{"name": "acc", "kind": "values", "values": [value]}] for value in (0.5, {"f": "nan"}))
    picture = [{"name": "plot", "kind": "file", "values": ["a.png"]}]
    found = rows_of(document("a"), document("b"), a=[*first, *picture], b=second)
    assert found["metrics", "acc"] == ([0.5, {"f": "nan"}], False)
    assert ("metrics", "plot") not in found
