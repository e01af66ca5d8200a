"""`hvd.elastic` of TensorFlow: a state of variables and values; see `horovod.core.elastic` for what it can do."""

from __future__ import annotations

from typing import Any

from ..core.elastic import State, run
from .functions import broadcast_object

__all__ = ["ObjectState", "State", "TensorFlowKerasState", "TensorFlowState", "run"]


def _everywhere(value: Any) -> Any:
    return broadcast_object(value, 0, name="elastic state")


class ObjectState(State):
    """Values that can be pickled: `ObjectState(epoch=0, batch=0)`."""

    def __init__(self, **values: Any) -> None:
        super().__init__(_everywhere, **values)


class TensorFlowState(State):
    """Variables and values: `TensorFlowState(variables=model.trainable_variables, epoch=0)`."""

    def __init__(self, variables: Any = None, session: Any = None, **values: Any) -> None:
        self._variables = list(variables or ())
        super().__init__(_everywhere, **values)

    def content(self) -> dict[str, Any]:
        return {**super().content(), "variables": [each.numpy() for each in self._held()]}

    def put(self, content: dict[str, Any]) -> None:
        super().put(content)
        for variable, value in zip(self._held(), content["variables"]):
            variable.assign(value)

    def _held(self) -> list[Any]:
        return self._variables


class TensorFlowKerasState(TensorFlowState):
    """A model of Keras, its optimizer and values: `TensorFlowKerasState(model, optimizer, epoch=0)`."""

    def __init__(self, model: Any, optimizer: Any = None, **values: Any) -> None:
        self.model, self.optimizer = model, optimizer if optimizer is not None else getattr(model, "optimizer", None)
        super().__init__(None, None, **values)

    def _held(self) -> list[Any]:
        found = getattr(self.optimizer, "variables", [])
        return [*self.model.weights, *(found() if callable(found) else found)]
