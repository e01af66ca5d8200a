"""Types of arguments as `inference_schema` has them: a sample tells the type, the shape and the example."""

from __future__ import annotations

import datetime
from typing import Any

MOST_EXAMPLES = 3


class ParameterType:
    """`deserialize_input` makes a value from JSON; `input_to_swagger` describes it."""

    def __init__(self, sample_input: Any) -> None:
        self.sample_input = sample_input

    def deserialize_input(self, input_data: Any) -> Any:
        raise NotImplementedError

    def input_to_swagger(self) -> dict[str, Any]:
        raise NotImplementedError


class StandardPythonParameterType(ParameterType):
    """Numbers, text, lists and dictionaries, with other parameter types in them."""

    def deserialize_input(self, input_data: Any) -> Any:
        return _made(self.sample_input, input_data)

    def input_to_swagger(self) -> dict[str, Any]:
        return _described(self.sample_input)


class NumpyParameterType(ParameterType):
    """An array, of the sample's type and shape."""

    def __init__(self, sample_input: Any, enforce_column_type: bool = True, enforce_shape: bool = True) -> None:
        import numpy

        if not isinstance(sample_input, numpy.ndarray):
            raise TypeError(f"The sample of a NumpyParameterType must be an array, not {type(sample_input).__name__}.")
        super().__init__(sample_input)
        self.enforce_column_type, self.enforce_shape = enforce_column_type, enforce_shape

    def deserialize_input(self, input_data: Any) -> Any:
        import numpy

        if not isinstance(input_data, list):
            raise ValueError(f"A list is expected for an array, not {type(input_data).__name__}.")
        sample = self.sample_input
        made = numpy.array(input_data, dtype=sample.dtype if self.enforce_column_type else None)
        if self.enforce_shape and (made.ndim != sample.ndim or made.shape[1:] != sample.shape[1:]):
            wanted = ["any number", *map(str, sample.shape[1:])]
            raise ValueError(f"The array is of shape {made.shape}; ({', '.join(wanted)}) is expected.")
        return made

    def input_to_swagger(self) -> dict[str, Any]:
        sample = self.sample_input
        kind = {"f": "number", "i": "integer", "u": "integer", "b": "boolean"}.get(sample.dtype.kind, "string")
        described: dict[str, Any] = {"type": kind}
        if sample.dtype.kind == "f":
            described["format"] = "double"
        elif kind == "integer":
            described["format"] = "int64"
        for size in reversed(sample.shape[1:]):
            described = {"type": "array", "maxItems": size, "minItems": size, "items": described}
        return {"type": "array", "items": described, "example": sample[:MOST_EXAMPLES].tolist()}


class PandasParameterType(ParameterType):
    """A table, of the sample's columns."""

    def __init__(
        self,
        sample_input: Any,
        enforce_column_type: bool = True,
        enforce_shape: bool = True,
        apply_column_names: bool = False,
        orient: str = "records",
    ) -> None:
        super().__init__(sample_input)
        self.enforce_column_type, self.enforce_shape = enforce_column_type, enforce_shape
        self.apply_column_names, self.orient = apply_column_names, orient

    def deserialize_input(self, input_data: Any) -> Any:
        import pandas

        sample = self.sample_input
        if self.orient == "split":
            made = pandas.DataFrame(
                input_data["data"], index=input_data.get("index"), columns=input_data.get("columns")
            )
        else:
            made = pandas.DataFrame(input_data)
        if self.apply_column_names:
            made.columns = sample.columns
        if self.enforce_shape and made.shape[1] != sample.shape[1]:
            raise ValueError(f"The table has {made.shape[1]} columns; {sample.shape[1]} are expected.")
        if self.enforce_column_type:
            for column in sample.columns:
                if column not in made.columns:
                    raise ValueError(f"The table has no column {column!r}; {list(sample.columns)} are expected.")
                made[column] = made[column].astype(sample[column].dtype)
        return made

    def input_to_swagger(self) -> dict[str, Any]:
        sample = self.sample_input
        rows: list[Any] = sample.head(MOST_EXAMPLES).astype(object).to_dict(orient="records")
        row = _described(rows[0]) if rows else {"type": "object"}
        if self.orient == "split":
            parts = sample.head(MOST_EXAMPLES).astype(object).to_dict(orient="split")
            return _described({key: list(value) for key, value in parts.items()})
        row.pop("example", None)
        return {"type": "array", "items": row, "example": _plain(rows)}


def _made(sample: Any, given: Any) -> Any:
    if isinstance(sample, ParameterType):
        return sample.deserialize_input(given)
    if isinstance(sample, dict):
        if not isinstance(given, dict):
            raise ValueError(f"An object is expected, not {type(given).__name__}.")
        return {name: _made(sample[name], value) if name in sample else value for name, value in given.items()}
    if isinstance(sample, (list, tuple)):
        if not isinstance(given, list):
            raise ValueError(f"A list is expected, not {type(given).__name__}.")
        made = [_made(sample[0], each) for each in given] if sample else given
        return tuple(made) if isinstance(sample, tuple) else made
    if isinstance(sample, datetime.datetime):
        return datetime.datetime.fromisoformat(given)
    if isinstance(sample, datetime.date):
        return datetime.date.fromisoformat(given)
    if isinstance(sample, float) and type(given) is int:
        return float(given)
    if sample is not None and not isinstance(given, type(sample)):
        raise ValueError(f"{type(sample).__name__} is expected, not {type(given).__name__}.")
    return given


def _described(sample: Any) -> dict[str, Any]:
    if isinstance(sample, ParameterType):
        return sample.input_to_swagger()
    if isinstance(sample, dict):
        parts = {str(name): _described(each) for name, each in sample.items()}
        example = {name: part.get("example") for name, part in parts.items()}
        return {"type": "object", "required": list(parts), "properties": parts, "example": example}
    if isinstance(sample, (list, tuple)):
        inner = _described(sample[0]) if sample else {"type": "object"}
        inner.pop("example", None)
        return {"type": "array", "items": inner, "example": _plain(list(sample[:MOST_EXAMPLES]))}
    for kind, described in _SIMPLE:
        if isinstance(sample, kind):
            return {**described, "example": _plain(sample)}
    return {"type": "object", "example": _plain(sample)}


_SIMPLE: list[Any] = [
    (bool, {"type": "boolean"}),
    (int, {"type": "integer", "format": "int64"}),
    (float, {"type": "number", "format": "double"}),
    (str, {"type": "string"}),
    (datetime.datetime, {"type": "string", "format": "date-time"}),
    (datetime.date, {"type": "string", "format": "date"}),
]


def _plain(sample: Any) -> Any:
    """An example that can be written as JSON."""
    if isinstance(sample, ParameterType):
        return sample.input_to_swagger().get("example")
    if isinstance(sample, dict):
        return {str(name): _plain(each) for name, each in sample.items()}
    if isinstance(sample, (list, tuple)):
        return [_plain(each) for each in sample]
    if sample is None or isinstance(sample, (bool, int, float, str)):
        return sample
    return sample.item() if hasattr(sample, "item") else str(sample)
