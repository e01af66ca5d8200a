"""ONNX models, by ONNX Runtime."""

from __future__ import annotations

from typing import Any, Mapping, Sequence

import numpy
import onnxruntime

from runyard.contracts.services.worker import ServedModel
from runyard.serving.runtimes.base import Array, Shape, Signature, Tensor
from runyard.serving.runtimes.recognise import one

_TYPES = {
    "float": "FP32",
    "double": "FP64",
    "float16": "FP16",
    "string": "BYTES",
    "bool": "BOOL",
    **{f"{sign}int{bits}": f"{sign.upper()}INT{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
}


class OnnxRuntime:
    platform = "onnx_onnxv1"
    default = "serving_default"

    def __init__(self, path: str, threads: int) -> None:
        options = onnxruntime.SessionOptions()
        if threads:
            options.intra_op_num_threads = threads
        # Threads that wait in a loop for the next operator take the cores from other workers.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        providers = onnxruntime.get_available_providers()
        self._session = onnxruntime.InferenceSession(path, options, providers=providers)
        inputs = tuple(_tensor(each) for each in self._session.get_inputs())
        outputs = tuple(_tensor(each) for each in self._session.get_outputs())
        by_rows = all(each.shape and each.shape[0] is None for each in (*inputs, *outputs))
        self.signatures = {self.default: Signature(inputs, outputs, by_rows)}

    def infer(self, signature: str, inputs: Mapping[str, Array], outputs: Sequence[str]) -> dict[str, Array]:
        made = self._session.run(list(outputs), dict(inputs))
        return {name: _array(each) for name, each in zip(outputs, made)}


def load(model: ServedModel, threads: int) -> OnnxRuntime:
    return OnnxRuntime(one(model.path, (".onnx",), "ONNX file"), threads)


def _tensor(argument: Any) -> Tensor:
    kind = argument.type
    if not kind.startswith("tensor("):  # a sequence of maps, as scikit-learn's classifiers are converted
        return Tensor(argument.name, "FP32", (None, None))
    shape: Shape = tuple(size if isinstance(size, int) else None for size in argument.shape)
    return Tensor(argument.name, _TYPES.get(kind[7:-1], ""), shape)


def _array(made: Any) -> Array:
    """Probabilities by class, which come as a list of dictionaries, become a table in the order of the classes."""
    if isinstance(made, list):
        return numpy.array([list(each.values()) if isinstance(each, dict) else each for each in made], numpy.float32)
    return made
