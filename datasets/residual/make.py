#!/usr/bin/env python3
"""Writes residual.onnx: the residual block that docs/residual_example.md takes apart.

    .deps/peers/bin/python datasets/residual/make.py datasets/residual/residual.onnx

    y = relu(bn(conv(x)) + x),  Conv2d(3, 3, kernel_size=3, padding=1) with its default bias, BatchNorm2d(3)

Weights are small numbers of a fixed sequence: state' = state * 6364136223846793005 + 1442695040888963407
modulo 2^64 from the state 1; the upper 24 bits k give low + (high - low) * k / 2^24, rounded to float32.
Conv weight and bias lie in +-1/sqrt(27), which is where PyTorch starts them.
"""
import math
import sys

try:
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper
except ModuleNotFoundError as error:
    sys.exit(f"make: {error}: run scripts/setup --peers and use .deps/peers/bin/python")

SHAPE = [1, 3, 32, 32]


def numbers(seed=1):
    state = seed
    while True:
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        yield state >> 40


def fill(sequence, shape, low, high):
    count = math.prod(shape)
    values = [low + (high - low) * (next(sequence) / 2**24) for _ in range(count)]
    return np.array(values, np.float64).astype(np.float32).reshape(shape)


def main(path):
    sequence = numbers()
    bound = 1 / math.sqrt(27)
    constants = {
        "conv.weight": fill(sequence, [3, 3, 3, 3], -bound, bound),
        "conv.bias": fill(sequence, [3], -bound, bound),
        "bn.weight": fill(sequence, [3], 0.5, 1.5),
        "bn.bias": fill(sequence, [3], -0.5, 0.5),
        "bn.running_mean": fill(sequence, [3], -0.25, 0.25),
        "bn.running_var": fill(sequence, [3], 0.25, 1.0),
    }
    nodes = [
        helper.make_node("Conv", ["x", "conv.weight", "conv.bias"], ["conv_out"], name="conv", pads=[1, 1, 1, 1]),
        helper.make_node("BatchNormalization", ["conv_out", "bn.weight", "bn.bias", "bn.running_mean",
                                                "bn.running_var"], ["bn_out"], name="bn", epsilon=1e-5),
        helper.make_node("Add", ["bn_out", "x"], ["add_out"], name="add"),
        helper.make_node("Relu", ["add_out"], ["y"], name="relu"),
    ]
    graph = helper.make_graph(
        nodes, "ResidualModel", [helper.make_tensor_value_info("x", TensorProto.FLOAT, SHAPE)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, SHAPE)],
        [numpy_helper.from_array(value, name) for name, value in constants.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8,
                              producer_name="datasets/residual/make.py")
    onnx.checker.check_model(model)
    onnx.save(model, path)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
