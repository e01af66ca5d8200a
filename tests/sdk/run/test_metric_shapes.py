"""`get_metrics` must give the shapes that scripts for SDK v1 take apart."""

from __future__ import annotations

import math
from typing import Any

import pytest

from runyard.contracts.documents import MetricDocument
from runyard.sdk.run.metric_shapes import shape


@pytest.mark.parametrize(
    ("metric", "value"),
    [
        ({"kind": "values", "values": [0.5]}, 0.5),
        ({"kind": "values", "values": [1, 2.5, "x", None]}, [1, 2.5, "x", None]),
        ({"kind": "values", "values": []}, []),
        ({"kind": "values", "values": [{"f": "-inf"}]}, -math.inf),
        ({"kind": "table", "columns": {"x": [1], "y": ["a"]}}, {"x": 1, "y": "a"}),
        ({"kind": "table", "columns": {"x": [1, 2], "y": ["a", "b"]}}, {"x": [1, 2], "y": ["a", "b"]}),
        ({"kind": "file", "values": ["roc_1.png"]}, "aml://artifactId/ExperimentRun/dcid.r/roc_1.png"),
    ],
)
def test_shapes(metric: MetricDocument, value: Any) -> None:
    assert shape("r", metric) == value
