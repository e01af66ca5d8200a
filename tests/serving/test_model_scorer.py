"""If these fail, requests that arrive together get each other's answers, or none at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.numpy_runtime import NumpyRuntime, request

from runyard.contracts.services.worker import Batch, ServedModel
from runyard.serving import model_scorer
from runyard.serving.failure import CannotServe
from runyard.serving.model_scorer import ModelScorer, threads_for


class Asked:
    def __init__(self, path: str, document: Any, *headers: str) -> None:
        body = document if isinstance(document, bytes) else json.dumps(document).encode()
        self.request, self.in_full = request(path, body, *headers), True
        self.prepared: object = None


def scorer(monkeypatch: pytest.MonkeyPatch, runtime: NumpyRuntime, size: int = 8) -> ModelScorer:
    monkeypatch.setattr(model_scorer, "load", lambda model, threads: runtime)
    return ModelScorer([ServedModel("m", 2, "")], Batch(size))


def answers(made: ModelScorer, *every: Asked) -> list[Any]:
    return [json.loads(each.body) for each in made.execute(list(every))]


def rows(*values: list[float]) -> Asked:
    return Asked("/score", {"instances": list(values)})


def test_requests_go_through_the_model_together_and_come_back_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    runtime = NumpyRuntime()
    made = scorer(monkeypatch, runtime)
    asked = [rows([1, 2], [3, 4]), rows([5, 6]), rows([7, 8], [9, 10], [11, 12])]
    kinds = {made.prepare(each) for each in asked}
    assert {count for _, count in kinds} == {2, 1, 3}
    assert len({kind for kind, _ in kinds}) == 1
    found = answers(made, *asked)
    assert runtime.calls == [6]
    assert [[row["first"] for row in each["predictions"]] for each in found] == [[1, 3], [5], [7, 9, 11]]
    assert (made.batches, made.batch_rows) == (1, 6)


def test_what_differs_is_not_put_together(monkeypatch: pytest.MonkeyPatch) -> None:
    made = scorer(monkeypatch, NumpyRuntime())
    one = made.prepare(rows([1, 2]))[0]
    given = {"name": "x", "shape": [1, 2], "datatype": "FP32", "data": [1, 2]}
    other = made.prepare(Asked("/v2/models/m/infer", {"inputs": [given], "outputs": [{"name": "y"}]}))[0]
    assert None not in (one, other)
    assert one != other
    assert made.prepare(Asked("/score", {"instances": [[1, 2]] * 8})) == (None, 1)  # as many as a batch has
    assert made.prepare(Asked("/score", b" " * (model_scorer.LARGE + 1))) == (None, 1)
    off = scorer(monkeypatch, NumpyRuntime(), size=1)
    assert off.prepare(rows([1, 2])) == (None, 1)
    fixed = scorer(monkeypatch, NumpyRuntime(by_rows=False))
    assert fixed.prepare(rows([1, 2])) == (None, 1)


def test_one_that_fails_does_not_take_the_others_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    made = scorer(monkeypatch, NumpyRuntime())
    asked = [rows([1, 2]), rows([-1, 2]), rows([3, 4])]
    for each in asked:
        made.prepare(each)
    found = made.execute(list(asked))
    assert [each.status for each in found] == [200, 500, 200]
    assert b"a negative number" in found[1].body


def test_a_model_that_is_not_row_by_row_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    made = scorer(monkeypatch, NumpyRuntime(summing=True))
    asked = [rows([1, 2]), rows([3, 4])]
    for each in asked:
        made.prepare(each)
    assert [each["predictions"][0]["first"] for each in answers(made, *asked)] == [1, 3]
    assert made.prepare(rows([1, 2])) == (None, 1)


def test_paths_of_other_protocols(monkeypatch: pytest.MonkeyPatch) -> None:
    made = scorer(monkeypatch, NumpyRuntime())

    def at(path: str) -> tuple[int, Any]:
        found = made.at_once(request(path, b""))
        assert found is not None
        return found.status, json.loads(found.body)

    assert at("/v2/health/live") == (200, {"live": True})
    assert at("/v2")[1]["extensions"] == ["binary_tensor_data", "model_repository"]
    assert at("/v2/repository/index")[1][0]["version"] == "2"
    assert at("/score/v2/models/m/ready")[0] == 200
    assert at("/v2/models/m/versions/1")[0] == 404
    assert at("/v2/models/other")[0] == 404
    assert at("/v2/nothing")[0] == 404
    assert at("/v1/models/m/metadata")[1]["model_spec"]["version"] == "2"
    assert at("/v1/models/m:classify")[0] == 501
    assert made.at_once(request("/v2/models/m/infer", b"")) is None
    assert made.execute([Asked("/v2/models/other/infer", {})])[0].status == 404


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b"\xff", b'{"inputs": []}', b'{"data": 1}', b'{"instances": []}'])
def test_what_is_no_request_is_a_400(monkeypatch: pytest.MonkeyPatch, body: bytes) -> None:
    (found,) = scorer(monkeypatch, NumpyRuntime()).execute([Asked("/score", body)])
    assert found.status == 400
    assert json.loads(found.body)["message"]


def test_without_a_model_there_is_no_service(tmp_path: Path) -> None:
    with pytest.raises(CannotServe):
        ModelScorer([], Batch())
    assert threads_for(1) == 0
    assert threads_for(1000) == 1


X = {"dims": ["1", "2"], "dataType": 1, "rawData": "AACAPwAAAEA="}
TORN = [
    {"data": {"columns": ["a"], "data": [1]}},
    {"data": {"columns": [["a"]], "data": [["b"]]}},
    {"data": [["a"], ["b", "c"]]},
    {"data": [{"a": 1}, {}]},
    {"instances": [[1, 2]], "signature_name": []},
    {"instances": [{}]},
    {"inputs": {"x": X}, "outputFilter": 5},
    {"inputs": {"x": {**X, "dims": [-1, -2]}}},
    {"inputs": {"x": {**X, "dims": [1, 2, 1 << 70, 0]}}},
    {"inputs": {"x": {"dims": [1, 2], "dataType": 8, "stringData": [1]}}},
    {"inputs": {"x": {"dims": [1, 2], "dataType": 6, "int32Data": ["a", None]}}},
    {"inputs": {"x": {"dims": [1, 2], "floatData": 1}}},
    {"inputs": [{"name": "x", "shape": [0, 1 << 62, 1 << 70], "datatype": "FP32", "data": []}]},
    {"inputs": [{"name": "x", "shape": [10**18] * 10_000, "datatype": "FP32", "data": [1]}]},
]


@pytest.mark.parametrize("size", [1, 8])
@pytest.mark.parametrize("document", TORN, ids=[str(each)[:60] for each in TORN])
def test_what_only_looks_like_a_request_is_refused_and_says_what_is_wrong(
    monkeypatch: pytest.MonkeyPatch, document: Any, size: int
) -> None:
    """Any of these would otherwise end the process, with the requests of others in it."""
    made, asked = scorer(monkeypatch, NumpyRuntime(), size), Asked("/score", document)
    made.prepare(asked)
    (found,) = made.execute([asked])
    told = json.loads(found.body)["message"]
    assert found.status == 400, told
    assert "cannot be read" not in told, "a reason of its own"
    assert len(told) < 500


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["x", "FP32", "predict", "AACAPw==", ""]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    *(
                        "inputs",
                        "instances",
                        "data",
                        "Inputs",
                        "GlobalParameters",
                        "method",
                        "columns",
                        "name",
                        "shape",
                    ),
                    *("datatype", "dims", "dataType", "rawData", "int64Data", "stringData", "outputFilter"),
                    *("outputs", "parameters", "binary_data_size", "signature_name", "b64", "x"),
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(
    document=st.dictionaries(st.sampled_from(["inputs", "instances", "data", "Inputs"]), ANYTHING, min_size=1),
    path=st.sampled_from(["/score", "/v2/models/m/infer", "/v1/models/m:predict"]),
    length=st.sampled_from(["", "5", "999", "\xb2", "-1", "9" * 30]),
)
@settings(max_examples=300, deadline=None)
def test_no_request_is_an_error_of_the_server(document: Any, path: str, length: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        made = scorer(patch, NumpyRuntime())
        asked = Asked(path, document, *([f"Inference-Header-Content-Length: {length}"] if length else []))
        made.prepare(asked)
        (found,) = made.execute([asked])
    assert found.status < 500 or b"a negative number" in found.body
    assert b"cannot be read" not in found.body
