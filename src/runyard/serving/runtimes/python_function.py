"""Models that MLflow wrote, by their `python_function` flavour: `mlflow` itself loads them and predicts.

Requests come in MLflow's forms (`runyard.serving.forms.invocations`) or in those of other models, for one input.
"""

from __future__ import annotations

import os
from typing import Any, Mapping, Sequence

import numpy

from runyard.contracts.services.worker import ServedModel
from runyard.serving.failure import CannotServe
from runyard.serving.http.head import BadRequest
from runyard.serving.runtimes.base import Array, Signature, Tensor
from runyard.serving.runtimes.recognise import files
from runyard.system.records import record

INPUT, OUTPUT, DESCRIPTION = "input-0", "predictions", "MLmodel"


@record(frozen=True)
class Invocation:
    """What came in one of MLflow's forms. It is answered with what the model gives, as that is."""

    data: Any
    params: Mapping[str, Any] | None = None


class PythonFunctionRuntime:
    """`schema` is that of the inputs, where the model was logged with one."""

    platform = "mlflow_python_function"
    default = "serving_default"

    def __init__(self, model: Any) -> None:
        self._model = model
        self.schema = model.metadata.get_input_schema()
        names = self.schema.input_names() if self.schema is not None else []
        self.columns = [str(name) for name in names]
        given = Tensor(INPUT, "FP64", (None, len(self.columns) or None))
        self.signatures = {self.default: Signature((given,), (Tensor(OUTPUT, "", None),), any_name=True)}

    def infer(self, signature: str, inputs: Mapping[str, Array], outputs: Sequence[str]) -> dict[str, Array]:
        (given,) = inputs.values()
        if isinstance(given, Invocation):
            return {OUTPUT: self.predict(given.data, given.params)}
        made = self.predict(given)
        if hasattr(made, "columns"):  # a table: an object for each row, as MLflow answers it
            records = made.to_dict(orient="records")
            rows = numpy.empty(len(records), dtype=object)
            rows[:] = records
            return {OUTPUT: rows}
        return {OUTPUT: numpy.asarray(made)}

    def predict(self, given: Any, params: Mapping[str, Any] | None = None) -> Any:
        """Whatever the model gives. BadRequest where the schema of the model does not take what was sent."""
        import mlflow.exceptions
        import pandas

        if self.columns and isinstance(given, numpy.ndarray) and given.ndim == 2:
            if given.shape[1] != len(self.columns):
                told = f"The model takes {len(self.columns)} columns ({', '.join(self.columns)[:500]})"
                raise BadRequest(400, f"{told}, and the rows have {given.shape[1]}.")
            given = pandas.DataFrame(given, columns=self.columns)
        try:
            # Models of the first clients of 2.x know of no parameters.
            return self._model.predict(given, params=dict(params)) if params else self._model.predict(given)
        except mlflow.exceptions.MlflowException as error:
            raise BadRequest(400, f"The model does not take what was sent: {str(error)[:2000]}") from error


def load(model: ServedModel, threads: int) -> PythonFunctionRuntime:
    try:
        import mlflow.pyfunc
    except ModuleNotFoundError as error:
        raise CannotServe("mlflow is not in the service's environment.") from error
    found = [each for each in files(model.path) if os.path.basename(each) == DESCRIPTION]
    if not found:
        listed = ", ".join(map(os.path.basename, files(model.path)[:5])) or "nothing"
        raise CannotServe(
            f"There is no {DESCRIPTION} in {model.path}, which holds {listed}.",
            "Register the folder that mlflow.<flavour>.log_model wrote.",
        )
    return PythonFunctionRuntime(mlflow.pyfunc.load_model(os.path.dirname(found[0])))
