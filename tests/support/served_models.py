"""Small models of each framework, made by the framework itself in its own environment, for tests that serve them.

`python served_models.py <kind> <folder>` writes one; the tests know what it computes (`expected`).
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any


def expected(rows: list[list[float]]) -> list[list[float]]:
    """What each of the models gives for rows of three numbers: twice the sum, and the first number plus one."""
    return [[2 * sum(row), row[0] + 1] for row in rows]


def make(kind: str, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    makers: dict[str, Any] = {
        "onnx": _onnx,
        "onnx-fixed": lambda folder: _onnx(folder, rows=1),
        "onnx-strings": _onnx_strings,
        "sklearn": _sklearn,
        "torchscript": _torchscript,
        "exported": _exported,
        "state-dict": _state_dict,
        "saved-model": _saved_model,
        "keras": _keras,
    }
    makers[kind](folder)


def _onnx(folder: Path, rows: Any = "rows") -> None:
    from onnx import TensorProto, checker, helper, save

    weights = helper.make_tensor("w", TensorProto.FLOAT, [3, 2], [2, 1, 2, 0, 2, 0])
    bias = helper.make_tensor("b", TensorProto.FLOAT, [2], [0, 1])
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["m"]), helper.make_node("Add", ["m", "b"], ["y"])],
        "linear",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [rows, 3])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [rows, 2])],
        [weights, bias],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    checker.check_model(model)
    save(model, str(folder / "model.onnx"))


def _onnx_strings(folder: Path) -> None:
    from onnx import TensorProto, helper, save

    graph = helper.make_graph(
        [helper.make_node("Identity", ["text"], ["same"])],
        "same",
        [helper.make_tensor_value_info("text", TensorProto.STRING, ["rows"])],
        [helper.make_tensor_value_info("same", TensorProto.STRING, ["rows"])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    save(model, str(folder / "model.onnx"))


def _sklearn(folder: Path) -> None:
    import joblib
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression().fit([[0.0, 0.0], [0.0, 1.0], [3.0, 3.0], [4.0, 3.0]], [0, 0, 1, 1])
    joblib.dump(model, folder / "model.pkl")


def _linear() -> Any:
    import torch

    model = torch.nn.Linear(3, 2)
    with torch.no_grad():
        model.weight.copy_(torch.tensor([[2.0, 2.0, 2.0], [1.0, 0.0, 0.0]]))
        model.bias.copy_(torch.tensor([0.0, 1.0]))
    return model.eval()


def _torchscript(folder: Path) -> None:
    import torch

    torch.jit.script(_linear()).save(str(folder / "model.pt"))


def _exported(folder: Path) -> None:
    import torch

    rows = torch.export.Dim("rows")
    program = torch.export.export(_linear(), (torch.zeros(2, 3),), dynamic_shapes=({0: rows},))
    torch.export.save(program, str(folder / "model.pt2"))


def _state_dict(folder: Path) -> None:
    import torch

    torch.save(_linear().state_dict(), folder / "model.pt")


def _saved_model(folder: Path) -> None:
    import tensorflow

    class Linear(tensorflow.Module):  # type: ignore[misc, unused-ignore]
        @tensorflow.function(input_signature=[tensorflow.TensorSpec([None, 3], tensorflow.float32, "x")])  # type: ignore[untyped-decorator, unused-ignore]
        def serve(self, x: Any) -> Any:
            return {"y": x @ tensorflow.constant([[2.0, 1.0], [2.0, 0.0], [2.0, 0.0]]) + [0.0, 1.0]}

    module = Linear()
    tensorflow.saved_model.save(module, str(folder / "model"), signatures={"serving_default": module.serve})


def _keras(folder: Path) -> None:
    import tensorflow

    given = tensorflow.keras.Input((3,), name="x")
    made = tensorflow.keras.layers.Dense(2, name="y")(given)
    model = tensorflow.keras.Model(given, made)
    weights = [[[2.0, 1.0], [2.0, 0.0], [2.0, 0.0]], [0.0, 1.0]]
    model.layers[-1].set_weights([tensorflow.constant(each).numpy() for each in weights])
    model.save(str(folder / "model.keras"))


if __name__ == "__main__":
    for each in sys.argv[2:]:
        make(each, Path(sys.argv[1]) / each)
