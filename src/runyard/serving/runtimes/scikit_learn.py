"""Models of scikit-learn, pickled by joblib or pickle. Each method of a model that predicts is an output."""

from __future__ import annotations

import os
from typing import Any, Mapping, Sequence

import numpy

from runyard.contracts.services.worker import ServedModel
from runyard.serving.failure import CannotServe
from runyard.serving.http.head import BadRequest
from runyard.serving.runtimes.base import Array, Signature, Tensor
from runyard.serving.runtimes.recognise import files

METHODS = ("predict_proba", "predict", "decision_function", "predict_log_proba", "transform", "score_samples")
"""What may be asked of a model, the ones that are taken by default first."""

INPUT = "input-0"


class SklearnRuntime:
    """`usual_method` is what SDK v1 calls: probabilities where the model has them."""

    platform = "sklearn_sklearn"
    default = "serving_default"

    def __init__(self, model: Any) -> None:
        self._model = model
        methods = [name for name in METHODS if _has(model, name)]
        if not methods:
            raise CannotServe(
                f"What is in the file is no model that predicts, but {type(model).__name__}.",
                "Register a model, or give the service an entry script that uses what is in the file.",
            )
        self.usual_method = methods[0]
        width = getattr(model, "n_features_in_", None)
        self.columns = [str(name) for name in getattr(model, "feature_names_in_", [])]
        given = Tensor(INPUT, "FP64", (None, width if isinstance(width, int) else None))
        outputs = tuple(Tensor(name, "", None) for name in methods)
        usual = ("predict",) if "predict" in methods else (methods[0],)
        self.signatures = {self.default: Signature((given,), outputs, True, any_name=True, usual=usual)}

    def infer(self, signature: str, inputs: Mapping[str, Array], outputs: Sequence[str]) -> dict[str, Array]:
        (given,) = inputs.values()
        if self.columns and isinstance(given, numpy.ndarray):
            given = self._table(given)
        try:
            return {name: numpy.asarray(getattr(self._model, name)(given)) for name in outputs}
        except (ValueError, TypeError) as error:
            if str(getattr(given, "dtype", "")) != "object":
                raise
            # Text where the model has no step that makes numbers of it.
            raise BadRequest(400, f"The model cannot take what was sent: {error}.") from error

    def _table(self, given: Array) -> Any:
        """A model that was trained on a table warns about arrays, and may choose its columns by name."""
        try:
            import pandas
        except ModuleNotFoundError:
            return given
        return pandas.DataFrame(given, columns=self.columns)


def load(model: ServedModel, threads: int) -> SklearnRuntime:
    try:
        import joblib
    except ModuleNotFoundError as error:
        raise CannotServe("scikit-learn and joblib are not in the service's environment.") from error
    found = files(model.path)
    pickles = [each for each in found if each.lower().endswith((".pkl", ".joblib", ".pickle", ".sav", ".bin"))] or found
    if len(pickles) != 1:
        listed = ", ".join(map(os.path.basename, found[:5])) or "nothing"
        raise CannotServe(f"One pickled model is expected in {model.path}, which holds {listed}.")
    return SklearnRuntime(joblib.load(pickles[0]))


def _has(model: Any, name: str) -> bool:
    try:
        return callable(getattr(model, name, None))
    except Exception:  # noqa: BLE001 - some decide by a property of theirs, which may fail
        return False
