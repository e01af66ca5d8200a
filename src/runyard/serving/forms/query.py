"""What every form of request comes to: named arrays for a signature of a model, and how its answer is to be written."""

from __future__ import annotations

import json
from typing import Any, Callable, Iterable, Mapping

from runyard.serving.http.head import BadRequest
from runyard.serving.http.message import Body, Response
from runyard.serving.runtimes.base import Array, Runtime, Signature, Tensor

Write = Callable[[Mapping[str, Array]], Response]


class Query:
    """`write` makes the answer of the outputs."""

    __slots__ = ("inputs", "outputs", "signature", "write")

    def __init__(self, signature: str, inputs: dict[str, Array], outputs: list[str], write: Write) -> None:
        self.signature, self.inputs, self.outputs, self.write = signature, inputs, outputs, write

    def rows(self) -> int:
        """How many rows all inputs have; 0 when they have not the same number, or are no arrays."""
        # A table has a type for each column: it goes alone.
        sizes = {each.shape[0] if hasattr(each, "dtype") and each.ndim else 0 for each in self.inputs.values()}
        return int(sizes.pop()) if len(sizes) == 1 else 0

    def kind(self) -> tuple[object, ...]:
        """What queries must have in common to be answered by one call."""
        described = tuple((name, str(each.dtype), each.shape[1:]) for name, each in sorted(self.inputs.items()))
        return self.signature, tuple(self.outputs), described


def document(body: Body) -> dict[str, Any]:
    """The JSON object of a body. BadRequest."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise BadRequest(400, f"The body is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise BadRequest(400, "The body is not a JSON object.")
    return found


def find(signature: Signature, name: str) -> Tensor:
    """The input of that name. BadRequest."""
    if signature.any_name:
        given = signature.inputs[0]
        return given if given.name == name else Tensor(name, given.datatype, given.shape)
    for each in signature.inputs:
        if each.name == name:
            return each
    raise BadRequest(400, f"The model has no input {name!r}; it takes {_listed(signature.inputs)}.")


def complete(signature: Signature, given: Iterable[str]) -> None:
    """BadRequest when an input is missing."""
    names = set(given)
    if signature.any_name and len(names) > 1:
        raise BadRequest(400, f"The model takes one input, and {len(names)} were sent.")
    missing = [each for each in signature.inputs if each.name not in names]
    if missing and not (signature.any_name and names):
        raise BadRequest(
            400, f"The request lacks the input {missing[0].name!r}; the model takes {_listed(signature.inputs)}."
        )


def wanted(signature: Signature, names: Iterable[str] | None) -> list[str]:
    """The outputs to give. BadRequest for one that the model has not."""
    known = [each.name for each in signature.outputs]
    if not names:
        return list(signature.usual) or known
    asked = list(names)
    for name in asked:
        if known and name not in known:
            raise BadRequest(400, f"The model has no output {name!r}; it gives {', '.join(known)}.")
    return asked


def signature_named(runtime: Runtime, name: Any) -> str:
    if name is None or name == "":
        return runtime.default
    if not isinstance(name, str) or name not in runtime.signatures:
        raise BadRequest(400, f"The model has no signature {name!r}; it has {', '.join(runtime.signatures)}.")
    return name


def _listed(tensors: Iterable[Tensor]) -> str:
    return ", ".join(f"{each.name} ({each.datatype or 'any type'} {each.shown()})" for each in tensors)
