"""A model in numpy alone, behind the interface of the runtimes: for tests of what is in front of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy

from runyard.serving.http.head import parse
from runyard.serving.http.message import Request
from runyard.serving.runtimes.base import Signature, Tensor


class NumpyRuntime:
    """`y` is twice the sum of each row of `x`; `first` its first number."""

    platform, default = "numpy", "serving_default"

    def __init__(self, by_rows: bool = True, summing: bool = False) -> None:
        outputs = (Tensor("y", "FP32", (None,)), Tensor("first", "FP32", (None,)))
        self.signatures: Mapping[str, Signature] = {
            self.default: Signature((Tensor("x", "FP32", (None, 2)),), outputs, by_rows)
        }
        self.calls: list[int] = []
        self._summing = summing

    def infer(self, signature: str, inputs: Mapping[str, Any], outputs: Sequence[str]) -> dict[str, Any]:
        rows = inputs["x"]
        self.calls.append(len(rows))
        if (rows < 0).any():
            raise ValueError("a negative number")
        made = {"y": rows.sum(axis=1) * 2, "first": rows[:, 0]}
        if self._summing:  # no row of its own for each row
            made = {name: numpy.array([each.sum()], numpy.float32) for name, each in made.items()}
        return {name: made[name] for name in outputs}


def request(path: str, body: bytes, *headers: str) -> Request:
    return Request(parse("\r\n".join([f"POST {path} HTTP/1.0", *headers]).encode()), body)
