#!/usr/bin/env python3
"""How the three runtimes scale: threads, batch, image size and channels, float32, one series each.

    python3 bench/scaling.py [--turns 9] [--assay build/release/assay]

Prints one table per series for docs/performance.md: median times of Assay, ONNX Runtime and OpenVINO, run in turn as in
peers.py, and Assay's ratio to the faster of the two. Makes the models that it needs beside the others in .deps/models.
"""
import argparse
import sys
from pathlib import Path

import peers

SERIES = [
    ("threads", "resnet18", [(threads, 1, "resnet18") for threads in (1, 2)]),
    ("batch", "resnet18", [(2, batch, "resnet18") for batch in (1, 2, 8, 32)]),
    ("batch", "mobilenetv2", [(2, batch, "mobilenetv2") for batch in (1, 2, 8, 32)]),
    ("image side", "resnet18", [(2, 1, f"resnet18_side{side}") for side in (112, 224, 448)]),
    ("image side", "mobilenetv2", [(2, 1, f"mobilenetv2_side{side}") for side in (112, 224, 448)]),
    ("channels", "four 3x3 Conv + Relu, 28x28", [(2, 1, f"convs{channels}") for channels in (16, 32, 64, 128, 256, 512)]),
]


def with_side(source, side, path):
    """The network for square images of another size: only the declared sizes change."""
    import onnx
    model = onnx.load(source)
    for value in model.graph.input:
        dims = value.type.tensor_type.shape.dim
        if len(dims) == 4:
            dims[2].dim_value, dims[3].dim_value = side, side
    del model.graph.value_info[:]
    onnx.save(onnx.shape_inference.infer_shapes(model), path)


def convolutions(channels, path):
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    generator, nodes, weights, name = np.random.default_rng(channels), [], [], "input"
    for layer in range(4):
        values = generator.uniform(-1, 1, (channels, channels, 3, 3)) * (6 / (9 * channels)) ** 0.5
        weights.append(numpy_helper.from_array(values.astype(np.float32), f"w{layer}"))
        nodes.append(helper.make_node("Conv", [name, f"w{layer}"], [f"c{layer}"], kernel_shape=[3, 3], pads=[1, 1, 1, 1]))
        name = f"y{layer}"
        nodes.append(helper.make_node("Relu", [f"c{layer}"], [name]))
    value = lambda label: helper.make_tensor_value_info(label, TensorProto.FLOAT, ["batch", channels, 28, 28])
    graph = helper.make_graph(nodes, "convolutions", [value("input")], [value(name)], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)


def prepare_model(name):
    """Makes the file when it is missing and tells peers.py its input."""
    path = peers.MODELS / f"{name}.onnx"
    if name.startswith("convs"):
        channels = int(name[len("convs"):])
        peers.SHAPES[name] = (channels, 28, 28)
        if not path.exists():
            convolutions(channels, path)
    elif "_side" in name:
        source, side = name.split("_side")
        peers.SHAPES[name] = (3, int(side), int(side))
        if not path.exists():
            with_side(peers.MODELS / f"{source}.onnx", int(side), path)


def label_of(series, point):
    threads, batch, name = point
    return {"threads": threads, "batch": batch, "image side": name.rsplit("_side", 1)[-1],
            "channels": name[len("convs"):]}[series]


def rows_of(arguments, series, points):
    for point in points:
        threads, batch, name = point
        prepare_model(name)
        # The cap is named only to find the rows: the default instruction set runs.
        run = peers.time_cell(arguments, (name, "f32", threads, batch, ["amx"]))
        row = peers.summarize(run, "amx", "f32")
        times = {key.split("/")[0]: value["median"] for key, value in row["ms"].items()}
        if row["error"]:
            raise RuntimeError(row["error"])
        yield (f"| {label_of(series, point)} | {times['assay']:.3f} | {times['onnxruntime']:.3f} | {times['openvino']:.3f} | "
               f"{row['ratio']:.2f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--assay", type=Path, default=peers.ROOT / "build/release/assay")
    parser.add_argument("--turns", type=int, default=9, help="turns of each runtime")
    parser.add_argument("--turn-ms", type=int, default=150, help="length of a turn")
    arguments = parser.parse_args()
    arguments.without_assay = False
    peers.prepare(arguments)
    arguments.serve = peers.can_serve(arguments.assay)
    for series, network, points in SERIES:
        print(f"\n**{series}**, {network}\n\n| {series} | Assay ms | ONNX Runtime ms | OpenVINO ms | ratio to the faster |\n"
              "|---:|---:|---:|---:|---:|", flush=True)
        for row in rows_of(arguments, series, points):
            print(row, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
