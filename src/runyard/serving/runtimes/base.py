"""The seam between a framework and everything else: what a model takes and gives, and one call of it.

A runtime is a module with a function `load(model, path) -> Runtime`; `RUNTIMES` names them. Arrays are numpy's, which
each of the frameworks brings.
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any, Mapping, Optional, Protocol, Sequence, Tuple, cast

from runyard.contracts.services.worker import ServedModel
from runyard.serving.failure import CannotServe
from runyard.serving.runtimes.recognise import recognise
from runyard.system.records import record

if TYPE_CHECKING:
    Array = Any  # numpy.ndarray; the framework's environment has it, that of the types has not
else:
    Array = object

Shape = Optional[Tuple[Optional[int], ...]]
"""None within it: any size. None for all of it: not known."""

RUNTIMES = {
    "Onnx": "onnx",
    "ScikitLearn": "scikit_learn",
    "TensorFlow": "tensorflow",
    "TfKeras": "tensorflow",
    "PyTorch": "pytorch",
    "MLflow": "python_function",
}
"""The module in this folder by the name of the framework."""


@record(frozen=True)
class Tensor:
    """An input or output. `datatype` is named as in the open inference protocol; "" when it is not known."""

    name: str
    datatype: str
    shape: Shape

    def shown(self) -> list[int]:
        return [-1 if size is None else size for size in self.shape] if self.shape is not None else [-1]


@record(frozen=True)
class Signature:
    """One way to call a model. `by_rows`: each row of the outputs depends on the same row of the inputs only, as far
    as the shapes tell, so that rows of several requests can go through the model together."""

    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    by_rows: bool = False
    any_name: bool = False  # whether the one input may be called anything
    usual: tuple[str, ...] = ()  # the outputs that are given when none is asked for; (): all


class Runtime(Protocol):
    """`signatures` by name; `default` is the name of the one that is used when none is named."""

    platform: str
    signatures: Mapping[str, Signature]
    default: str

    def infer(self, signature: str, inputs: Mapping[str, Array], outputs: Sequence[str]) -> dict[str, Array]:
        """The outputs that are named, for inputs that were checked. Called by one thread, or by several at a time."""
        ...


def load(model: ServedModel, threads: int = 0) -> Runtime:
    """The runtime of a model; `threads` it may use for one call, 0: as many as it likes. CannotServe."""
    name = RUNTIMES.get(model.framework)
    if name is None:
        raise CannotServe(
            f"The model {model.name} is of the framework {model.framework!r}, which is not served without code.",
            f"Give the service an entry script, or register the model as one of {', '.join(RUNTIMES)}.",
        )
    if not os.path.exists(model.path):
        raise CannotServe(f"The model {model.name} is not at {model.path}.")
    # What MLflow wrote has the files of the framework in it.
    found = None if name == "python_function" else recognise(model.path)
    if found is not None and RUNTIMES.get(found) != name:
        raise CannotServe(
            f"The model {model.name} is registered as {model.framework}, but holds a model of {found}.",
            f"Register it with model_framework={found!r}.",
        )
    try:
        module = importlib.import_module(f"runyard.serving.runtimes.{name}")
        return cast(Runtime, module.load(model, threads))
    except CannotServe:
        raise
    except ModuleNotFoundError as error:
        raise CannotServe(f"A model of {model.framework} cannot be served here: {error}") from error
    except Exception as error:
        raise CannotServe(
            f"The model {model.name} does not load: {type(error).__name__}: {str(error)[:2000]}",
            _version_help(model),
        ) from error


def _version_help(model: ServedModel) -> str:
    said = f" It was registered as {model.framework} {model.framework_version}." if model.framework_version else ""
    return f"Load it with the framework itself in the service's environment to see the same error.{said}"
