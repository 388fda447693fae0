#!/usr/bin/env python3
"""Writes the pairs of small models that docs/certificates.md walks through.

    .deps/peers/bin/python docs/examples/certificates.py FOLDER

For each NAME: NAME.onnx (the original) and NAME.fused.onnx (what a converter might have made of it);
for e4 also e4.npy, the input that shows the difference.
"""
import sys
from pathlib import Path

try:
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper
except ModuleNotFoundError as error:
    sys.exit(f"certificates: {error}: run scripts/setup --peers and use .deps/peers/bin/python")

SHAPE = [1, 2, 8, 8]
RNG = np.random.default_rng(1)
W = RNG.standard_normal((2, 2, 3, 3)).astype(np.float32)
GAMMA, BETA, MEAN, VAR = (np.array(v, np.float32) for v in ([1.3, 0.7], [0.1, -0.2], [0.4, 0.3], [0.9, 1.7]))


def save(path, nodes, constants, shape=None, out=None, kind=TensorProto.FLOAT):
    def value(name, dims, element=TensorProto.FLOAT):
        return helper.make_tensor_value_info(name, element, dims)
    tensors = [numpy_helper.from_array(np.asarray(a, np.float32), name) for name, a in constants.items()]
    if kind == TensorProto.INT8:
        tensors.append(numpy_helper.from_array(np.int8(0), "z"))
    graph = helper.make_graph(nodes, "example", [value("x", shape or SHAPE)], [value("y", out, kind)], tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, path)


def node(op, inputs, output, **attributes):
    return helper.make_node(op, inputs.split(), [output], name=f"{op}_{output}", **attributes)


def conv(inputs, output):
    return node("Conv", inputs, output, pads=[1, 1, 1, 1])


def batch_norm(gamma, beta, mean, var, epsilon):
    nodes = [conv("x w", "c"), node("BatchNormalization", "c g b m v", "y", epsilon=epsilon)]
    return nodes, {"w": W, "g": gamma, "b": beta, "m": mean, "v": var}


def fold(gamma, beta, mean, var, epsilon, w=W):
    """The usual float32 recipe."""
    s = gamma / np.sqrt(var + np.float32(epsilon))
    return [conv("x w2 b2", "y")], {"w2": w * s[:, None, None, None], "b2": beta - mean * s}


def two_blocks(wrong):
    """Conv, BN, Relu, Conv, BN, Add, Relu, and its fold; `wrong` is a factor of one weight of the second."""
    rng = np.random.default_rng(2)
    w = [rng.standard_normal((8, 8, 3, 3)).astype(np.float32) for _ in range(2)]
    norm = [(rng.uniform(0.5, 1.5, 8), rng.normal(0, 0.2, 8), rng.normal(0, 0.2, 8), rng.uniform(0.5, 2, 8)) for _ in range(2)]
    norm = [[v.astype(np.float32) for v in n] for n in norm]

    def nodes(first, second):
        return [*first, node("Relu", "n1", "r1"), *second, node("Add", "n2 x", "a"), node("Relu", "a", "y")]
    original = nodes([conv("x w1", "c1"), node("BatchNormalization", "c1 g1 b1 m1 v1", "n1", epsilon=1e-5)],
                     [conv("r1 w2", "c2"), node("BatchNormalization", "c2 g2 b2 m2 v2", "n2", epsilon=1e-5)])
    constants = {f"{k}{i + 1}": v for i in range(2) for k, v in zip("wgbmv", [w[i], *norm[i]])}
    folds = [fold(*norm[i], 1e-5, w[i])[1] for i in range(2)]
    folds[1]["w2"][3, 5, 1, 1] *= np.float32(wrong)
    fused = nodes([conv("x wf1 bf1", "n1")], [conv("r1 wf2 bf2", "n2")])
    return (original, constants), (fused, {f"{k}f{i + 1}": folds[i][k + "2"] for i in range(2) for k in "wb"})


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)

    def pair(name, original, fused, **more):
        save(folder / f"{name}.onnx", *original, **more)
        save(folder / f"{name}.fused.onnx", *fused, **more)

    # E0: the same operators in the same order; only a copy is gone.
    pair("e0", ([conv("x w", "c"), node("Identity", "c", "d"), node("Relu", "d", "y")], {"w": W}),
         ([conv("x w", "c"), node("Relu", "c", "y")], {"w": W}), out=SHAPE)
    # E1: every scale is a power of two, so folding rounds nothing.
    powers = (np.float32([2, 0.5]), np.float32([0, 0]), np.float32([0, 0]), np.float32([1, 4]), 0.0)
    pair("e1", batch_norm(*powers), fold(*powers), out=SHAPE)
    # E2: an ordinary fold. E5: the converter took 1e-3 for epsilon.
    numbers = (GAMMA, BETA, MEAN, VAR)
    pair("e2", batch_norm(*numbers, 1e-5), fold(*numbers, 1e-5), out=SHAPE)
    pair("e5", batch_norm(*numbers, 1e-5), fold(*numbers, 1e-3), out=SHAPE)
    # An epsilon off by a thousandth of its value: no constant leaves its budget.
    pair("hidden", batch_norm(*numbers, 1e-5), fold(*numbers, 1.001e-5), out=SHAPE)
    # E3: the converter dropped the quantizer behind the Conv.
    scales = {"w": W, "s": np.float32(0.1), "t": np.float32(0.07)}
    last = node("QuantizeLinear", "r t z", "y")
    pair("e3", ([conv("x w", "c"), node("QuantizeLinear", "c s z", "q"), node("DequantizeLinear", "q s z", "d"),
                 node("Relu", "d", "r"), last], scales),
         ([conv("x w", "c"), node("Relu", "c", "r2"), node("QuantizeLinear", "r2 t z", "y")], scales),
         out=SHAPE, kind=TensorProto.INT8)
    # E5 by a witness: ReLU before the addition.
    pair("e5_order", ([conv("x w", "c"), node("Add", "c x", "a"), node("Relu", "a", "y")], {"w": W}),
         ([conv("x w", "c"), node("Relu", "c", "b"), node("Add", "b x", "y")], {"w": W}), out=SHAPE)
    # E4: sum first, then scale by 1e20; folded, each product overflows before the sum cancels.
    weights = np.float32([[[[1]], [[-1]]]])
    pair("e4", ([node("Conv", "x w", "c"), node("Mul", "c s", "y")], {"w": weights, "s": [1e20]}),
         ([node("Conv", "x w2", "y")], {"w2": weights * np.float32(1e20)}), shape=[1, 2, 1, 1], out=[1, 1, 1, 1])
    np.save(folder / "e4.npy", np.full((1, 2, 1, 1), 3e19, np.float32))
    # Two folds, of which the second has one weight off by a thousandth: for --bisect and reduce.
    pair("wrong", *two_blocks(1.001), shape=[2, 8, 16, 16], out=[2, 8, 16, 16])
    # U: equal functions, but no rule of the algebra says so.
    pair("u", ([node("Sigmoid", "x", "s"), node("Mul", "x s", "y")], {}),
         ([node("Neg", "x", "n"), node("Exp", "n", "e"), node("Add", "e one", "d"), node("Div", "x d", "y")],
          {"one": [1.0]}), out=SHAPE)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
