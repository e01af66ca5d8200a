"""Models of PyTorch that carry their own code: TorchScript, and exported programs (`torch.export.save`)."""

from __future__ import annotations

from typing import Any, Mapping, Sequence

import torch

from runyard.contracts.services.worker import ServedModel
from runyard.serving.failure import CannotServe
from runyard.serving.runtimes.base import Array, Shape, Signature, Tensor
from runyard.serving.runtimes.recognise import one

_TYPES = {
    torch.float32: "FP32",
    torch.float64: "FP64",
    torch.float16: "FP16",
    torch.int8: "INT8",
    torch.int16: "INT16",
    torch.int32: "INT32",
    torch.int64: "INT64",
    torch.uint8: "UINT8",
    torch.bool: "BOOL",
}


class TorchModel:
    """TorchScript tells the names of its arguments, and neither types nor shapes: those are taken as they come."""

    default = "serving_default"

    def __init__(self, function: Any, signature: Signature, platform: str) -> None:
        self._function, self.platform = function, platform
        self.signatures = {self.default: signature}
        self._device = "cuda" if torch.cuda.is_available() else "cpu"

    def infer(self, signature: str, inputs: Mapping[str, Array], outputs: Sequence[str]) -> dict[str, Array]:
        given = [torch.from_numpy(_owned(inputs[each.name])) for each in self.signatures[signature].inputs]
        with torch.inference_mode():
            made = self._function(*[each.to(self._device) for each in given])
        named = _named(made)
        return {name: named[name].cpu().numpy() for name in (outputs or named) if name in named}


def load(model: ServedModel, threads: int) -> TorchModel:
    if threads:
        torch.set_num_threads(threads)
    path = one(model.path, (".pt2", ".pt", ".pth", ".ts", ".zip", ".bin"), "TorchScript file or exported program")
    return _exported(path) if path.endswith(".pt2") else _scripted(path)


def _scripted(path: str) -> TorchModel:
    try:
        function = torch.jit.load(path, map_location="cuda" if torch.cuda.is_available() else "cpu").eval()
    except RuntimeError as error:
        raise CannotServe(
            "The file holds no TorchScript. torch.save of a model, or of its state_dict, keeps the weights and not "
            "what to do with them.",
            "Save torch.jit.trace(model, example) with .save(path), use torch.export.save, or export it to ONNX.",
        ) from error
    names = [each.name for each in function.forward.schema.arguments if each.name != "self"]
    inputs = tuple(Tensor(name, "", None) for name in names)
    one_input = len(inputs) == 1
    return TorchModel(function, Signature(inputs, (), True, any_name=one_input), "pytorch_torchscript")


def _exported(path: str) -> TorchModel:
    program = torch.export.load(path)
    values = {node.name: node.meta.get("val") for node in program.graph.nodes if node.op == "placeholder"}
    inputs = tuple(_tensor(name, values.get(name)) for name in program.graph_signature.user_inputs)
    results = next(node for node in program.graph.nodes if node.op == "output").args[0]
    user = set(program.graph_signature.user_outputs)
    made = [node for node in results if getattr(node, "name", None) in user]
    outputs = tuple(_tensor(f"output_{number}", node.meta.get("val")) for number, node in enumerate(made))
    by_rows = all(each.shape and each.shape[0] is None for each in (*inputs, *outputs))
    return TorchModel(program.module(), Signature(inputs, outputs, by_rows), "pytorch_exported")


def _tensor(name: str, value: Any) -> Tensor:
    if not isinstance(value, torch.Tensor):
        return Tensor(name, "", None)
    shape: Shape = tuple(size if isinstance(size, int) else None for size in value.shape)
    return Tensor(name, _TYPES.get(value.dtype, ""), shape)


def _named(made: Any) -> dict[str, Any]:
    if isinstance(made, dict):
        return {str(name): each for name, each in made.items()}
    every = list(made) if isinstance(made, (list, tuple)) else [made]
    return {f"output_{number}": each for number, each in enumerate(every)}


def _owned(array: Array) -> Array:
    """torch wants memory that it may write to."""
    return array if array.flags.writeable else array.copy()
