"""SDK v1's form for scikit-learn: `{"data": rows, "method": "predict"}`, and that of AutoML's scripts.

Other frameworks take `data` too, for their one input.
"""

from __future__ import annotations

import json
from typing import Any, Callable, Mapping

from runyard.serving.forms.query import Query, wanted
from runyard.serving.http.head import BadRequest
from runyard.serving.http.message import Response
from runyard.serving.runtimes.base import Array, Runtime, Signature, Tensor
from runyard.serving.runtimes.tensors import from_lists, to_lists


def read(asked: dict[str, Any], runtime: Runtime) -> Query:
    """The query in the object of a request. BadRequest."""
    signature = runtime.signatures[runtime.default]
    wrapped = "Inputs" in asked
    if wrapped:
        inner, more = asked["Inputs"], asked.get("GlobalParameters")
        data = inner.get("data") if isinstance(inner, dict) else inner
        method = more.get("method") if isinstance(more, dict) else None
    else:
        data, method = asked.get("data"), asked.get("method")
    usual = getattr(runtime, "usual_method", None)
    if method is not None and usual is None:
        raise BadRequest(400, "`method` is for models of scikit-learn.")
    outputs = wanted(signature, [str(method)] if method is not None else [usual] if usual else None)
    if len(signature.inputs) != 1:
        names = ", ".join(each.name for each in signature.inputs)
        raise BadRequest(400, f"The model has several inputs: name them, as {{'inputs': {{...}}}} with {names}.")
    given = signature.inputs[0]
    return Query(
        runtime.default, {given.name: _rows(data, signature, runtime)}, outputs, _writer(wrapped, usual, outputs)
    )


def _rows(data: Any, signature: Signature, runtime: Runtime) -> Array:
    if isinstance(data, dict) and isinstance(data.get("columns"), list) and "data" in data:
        data = _with_names(data["columns"], data["data"])
    if not isinstance(data, list):
        raise BadRequest(400, "`data` must be a list of rows.")
    given = signature.inputs[0]
    if getattr(runtime, "usual_method", None) is None:
        return from_lists(given, data)
    if data and all(isinstance(each, dict) for each in data):
        return _table(data, getattr(runtime, "columns", []))
    if any(isinstance(value, str) for row in data[:1] if isinstance(row, list) for value in row):
        return from_lists(Tensor(given.name, "BYTES", given.shape), data)  # what a pipeline makes numbers of
    return from_lists(given, data)


def _with_names(columns: list[Any], rows: Any) -> list[dict[str, Any]]:
    """Pandas' form `split`, row by row."""
    wide = isinstance(rows, list) and all(isinstance(row, list) and len(row) == len(columns) for row in rows)
    if not wide or not all(isinstance(name, str) for name in columns):
        raise BadRequest(400, "`columns` must be a list of names, and each row of `data` a list with as many values.")
    return [dict(zip(columns, row)) for row in rows]


def _table(rows: list[dict[str, Any]], columns: list[str]) -> Any:
    missing = [name for name in columns for row in rows if name not in row]
    if missing:
        raise BadRequest(400, f"The rows lack the column {missing[0]!r}; the model takes {', '.join(columns)}.")
    try:
        import pandas
    except ModuleNotFoundError as error:
        raise BadRequest(400, "Rows with names need pandas, which is not in the service's environment.") from error
    return pandas.DataFrame(rows, columns=columns or None)


def _writer(wrapped: bool, usual: str | None, outputs: list[str]) -> Callable[[Mapping[str, Array]], Response]:
    def write(made: Mapping[str, Array]) -> Response:
        named = {name: to_lists(each) for name, each in made.items()}
        if wrapped:
            answer: Any = {"Results": next(iter(named.values()))}
        elif usual is not None or len(named) > 1:
            answer = named
        else:
            answer = next(iter(named.values()))
        return Response(json.dumps(answer).encode(), failed=False)

    return write
