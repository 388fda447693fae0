"""Other tools' files of the digits net, judged end to end, and mutations of one of them.

usage: foreign_peer.py ASSAY SOURCE_DIR
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import onnx
from onnx import numpy_helper

assay, source = sys.argv[1], pathlib.Path(sys.argv[2])
models = source / ".deps" / "models"
failed = 0


def judge(fused, folder):
    command = [assay, "validate", str(models / "digits.onnx"), "--fused", str(fused)]
    command += ["--limit", "1", "--certify-samples", "2", "--layer-samples", "1"]
    done = subprocess.run(command + ["-o", str(folder)], capture_output=True, text=True)
    report = folder / "report.json"
    return done.returncode, json.loads(report.read_text()) if report.exists() else None


def check(name, fused, want):
    global failed
    with tempfile.TemporaryDirectory() as t:
        code, report = judge(fused, pathlib.Path(t) / "out")
    verdicts = [f["verdict"] for f in report["fusions"]] if report else []
    share = report["coverage"]["fusions"]["share_judged"] if report else 0
    good = code == want and share >= 0.95 and ("E5" in verdicts) == (want == 1)
    failed += not good
    print("passed" if good else "FAILED", name, "exit", code, "share", share, sorted(set(verdicts)))


def mutated(change):
    model = onnx.load(models / "digits.ort_basic.onnx")
    change(model.graph)
    return model


def weight(graph):
    conv = next(n for n in graph.node if n.op_type == "Conv")
    t = next(i for i in graph.initializer if i.name == conv.input[1])
    w = numpy_helper.to_array(t).copy()
    w.flat[abs(w).argmax()] *= 1.001
    t.CopyFrom(numpy_helper.from_array(w, t.name))


def relu_dropped(graph):
    next(n for n in graph.node if n.op_type == "Relu").op_type = "Identity"


def pad(graph):
    for n in graph.node:
        for a in n.attribute:
            if n.op_type == "Conv" and a.name == "pads" and list(a.ints) == [1, 1, 1, 1]:
                a.ints[:] = [0, 0, 2, 2]
                return
    raise SystemExit("no padded convolution in the file")


for tool in ("ort_basic", "ort_extended", "ort_all", "onnxsim", "onnxoptimizer"):
    check(tool, models / f"digits.{tool}.onnx", 0)
for change in (weight, relu_dropped, pad):
    with tempfile.TemporaryDirectory() as t:
        path = pathlib.Path(t) / "mutated.onnx"
        onnx.save(mutated(change), path)
        check(change.__name__, path, 1)
sys.exit(1 if failed else 0)
