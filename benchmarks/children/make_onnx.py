"""Writes an ONNX model of the size of MNIST's: 784 inputs, a hidden layer of 128, ten outputs."""

from __future__ import annotations

import sys

import numpy
from onnx import TensorProto, helper, numpy_helper, save

random = numpy.random.default_rng(0)


def weights(name: str, *shape: int) -> TensorProto:
    return numpy_helper.from_array(random.normal(size=shape).astype(numpy.float32), name)


graph = helper.make_graph(
    [
        helper.make_node("Gemm", ["x", "w1", "b1"], ["h"]),
        helper.make_node("Relu", ["h"], ["r"]),
        helper.make_node("Gemm", ["r", "w2", "b2"], ["l"]),
        helper.make_node("Softmax", ["l"], ["y"]),
    ],
    "mnist",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["rows", 784])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["rows", 10])],
    [weights("w1", 784, 128), weights("b1", 128), weights("w2", 128, 10), weights("b2", 10)],
)
save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), sys.argv[1])
