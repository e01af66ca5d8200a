"""SavedModels of TensorFlow, and models of Keras in its own formats."""

from __future__ import annotations

import os
from typing import Any, Mapping, Sequence

# TensorFlow says a lot on standard error when it is loaded, none of which is about the service.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import tensorflow

from runyard.contracts.services.worker import ServedModel
from runyard.serving.failure import CannotServe
from runyard.serving.runtimes.base import Array, Signature, Tensor
from runyard.serving.runtimes.recognise import files, one
from runyard.serving.runtimes.tensors import DTYPES

DEFAULT = "serving_default"

_TYPES = {
    **{tensorflow.dtypes.as_dtype(dtype).name: name for name, dtype in DTYPES.items() if name != "BYTES"},
    "string": "BYTES",
}


class SavedModel:
    platform = "tensorflow_savedmodel"

    def __init__(self, folder: str) -> None:
        self._model = tensorflow.saved_model.load(folder)
        self._functions = {
            name: each for name, each in self._model.signatures.items() if name != "__saved_model_init_op"
        }
        if not self._functions:
            raise CannotServe(
                "The SavedModel has no signature, so nothing tells what it takes.",
                "Save it with signatures=..., or with model.export(path) of Keras.",
            )
        self.default = DEFAULT if DEFAULT in self._functions else sorted(self._functions)[0]
        self.signatures = {name: _signature(each) for name, each in self._functions.items()}

    def infer(self, signature: str, inputs: Mapping[str, Array], outputs: Sequence[str]) -> dict[str, Array]:
        function = self._functions[signature]
        made = function(**{name: tensorflow.constant(each) for name, each in inputs.items()})
        return {name: made[name].numpy() for name in outputs}


class KerasModel:
    platform = "keras"
    default = DEFAULT

    def __init__(self, path: str) -> None:
        self._model = tensorflow.keras.models.load_model(path, compile=False)
        self._call = tensorflow.function(lambda given: self._model(given, training=False), reduce_retracing=True)
        inputs = tuple(_keras_tensor(each, f"input_{number}") for number, each in enumerate(self._model.inputs))
        names = list(getattr(self._model, "output_names", None) or [])
        made = self._model.outputs
        outputs = tuple(
            _keras_tensor(each, names[number] if len(names) == len(made) else f"output_{number}", keep=False)
            for number, each in enumerate(made)
        )
        by_rows = all(each.shape and each.shape[0] is None for each in (*inputs, *outputs))
        self.signatures = {self.default: Signature(inputs, outputs, by_rows)}

    def infer(self, signature: str, inputs: Mapping[str, Array], outputs: Sequence[str]) -> dict[str, Array]:
        known = self.signatures[self.default]
        given = [tensorflow.constant(inputs[each.name]) for each in known.inputs]
        made = self._call(given if len(given) > 1 else given[0])
        if isinstance(made, dict):
            made = list(made.values())
        every = made if isinstance(made, (list, tuple)) else [made]
        named = {each.name: value for each, value in zip(known.outputs, every)}
        return {name: named[name].numpy() for name in outputs}


def load(model: ServedModel, threads: int) -> SavedModel | KerasModel:
    if threads:
        tensorflow.config.threading.set_intra_op_parallelism_threads(threads)
    found = files(model.path)
    saved = [os.path.dirname(each) for each in found if os.path.basename(each) == "saved_model.pb"]
    if saved:
        return SavedModel(saved[0])
    if any(each.endswith((".meta", ".ckpt.index")) for each in found) or any(
        os.path.basename(each) == "checkpoint" for each in found
    ):
        raise CannotServe(
            f"The model {model.name} is a checkpoint of TensorFlow: weights, without what they mean.",
            "Save it in the training script with tf.saved_model.save (TensorFlow 1: tf.saved_model.simple_save).",
        )
    return KerasModel(one(model.path, (".keras", ".h5", ".hdf5"), "SavedModel or model of Keras"))


def _signature(function: Any) -> Signature:
    inputs = tuple(_tensor(name, each) for name, each in sorted(function.structured_input_signature[1].items()))
    outputs = tuple(_tensor(name, each) for name, each in sorted(function.structured_outputs.items()))
    by_rows = all(each.shape and each.shape[0] is None for each in (*inputs, *outputs))
    return Signature(inputs, outputs, by_rows)


def _tensor(name: str, spec: Any) -> Tensor:
    shape = spec.shape
    return Tensor(name, _TYPES.get(spec.dtype.name, ""), tuple(shape.as_list()) if shape.rank is not None else None)


def _keras_tensor(spec: Any, otherwise: str, keep: bool = True) -> Tensor:
    name = str(spec.name).partition(":")[0] if keep and getattr(spec, "name", None) else otherwise
    kind = tensorflow.dtypes.as_dtype(spec.dtype).name
    return Tensor(name, _TYPES.get(kind, ""), tuple(spec.shape))
