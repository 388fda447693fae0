"""ONNX Runtime runs every fused random graph: random_graphs_peer.py PROGRAM COUNT [FIRST]

PROGRAM is assay_random_graphs. Every file that it writes has to pass onnx.checker, to load where the original loads, and to give
Assay's float64 result within the certified radius of a float32 evaluation in any order. Graphs whose original ONNX Runtime cannot run (float64
convolutions, opset 6, training mode) are counted.
"""
import collections, pathlib, subprocess, sys, tempfile

import numpy as np
import onnx
import onnxruntime as ort
from onnx import numpy_helper

ort.set_default_logger_severity(4)
CHUNK = 250


def session(file):
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    return ort.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])


def tensor(file):
    proto = onnx.TensorProto()
    proto.ParseFromString(file.read_bytes())
    return proto.name, numpy_helper.to_array(proto)


def results(file, given):
    run = session(file)
    known = {i.name for i in run.get_inputs()} | {i.name for i in run.get_overridable_initializers()}
    return dict(zip((o.name for o in run.get_outputs()), run.run(None, {k: v for k, v in given.items() if k in known})))


def outside(file, given, original, counts):
    """What is wrong with one fused file, one line each."""
    onnx.checker.check_model(str(file))
    got = results(file, given)
    counts["files"] += 1
    for want_file in sorted(file.parent.glob(file.stem + ".*.want.pb")):
        name, want = tensor(want_file)
        _, radius = tensor(want_file.with_name(want_file.name.replace(".want.pb", ".radius.pb")))
        # ONNX Runtime approximates some activations: what it is off by on the original it may be off by here too.
        own = np.abs(original[name].astype(np.float64) - tensor(want_file.with_name("none" + want_file.name[len(file.stem):]))[1]).max(initial=0)
        off = np.abs(got[name].astype(np.float64) - want)
        bad = ~(off <= radius + 2 * own + 2.0**-126)
        counts["outputs"] += 1
        if bad.any():
            yield f"output '{name}' is off by {off[bad].max():.3g}, the radius there is {radius[bad].max():.3g}"


def check(folder, counts):
    given = dict(tensor(f) for f in sorted(folder.glob("input_*.pb")))
    try:
        original = results(folder / "original.onnx", given)
    except Exception:
        counts["not run: ONNX Runtime cannot run the original"] += 1
        return
    counts["graphs"] += 1
    for file in sorted(folder.glob("*.onnx")):
        if file.stem == "original":
            continue
        try:
            for why in outside(file, given, original, counts):
                yield f"seed {folder.name} set {file.stem}: {why}"
        except Exception as e:
            yield f"seed {folder.name} set {file.stem}: {type(e).__name__}: {str(e)[:200]}"


def main():
    program, count = sys.argv[1], int(sys.argv[2])
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    counts = collections.Counter()
    failures = 0
    for at in range(first, first + count, CHUNK):
        with tempfile.TemporaryDirectory() as work:
            n = min(CHUNK, first + count - at)
            subprocess.run([program, "--seed", str(at), "--count", str(n), "--write", work], check=True, stdout=subprocess.DEVNULL)
            for folder in sorted(pathlib.Path(work).iterdir(), key=lambda f: int(f.name)):
                for why in check(folder, counts):
                    failures += 1
                    print(why, flush=True)
    print(", ".join(f"{v} {k}" for k, v in counts.items()) + f", {failures} failures")
    return 1 if failures or not counts["outputs"] else 0


sys.exit(main())
