"""ONNX Runtime runs what Assay writes: written_models_peer.py ASSAY ROOT

Every model of the digits folder and of .deps/models (when bench/models.py has made them) goes through `assay fuse --mode none`,
which reads and writes it; ONNX Runtime without its own rewrites must give the same bits on both files. A file written
with --mode all must load too.
"""
import pathlib, subprocess, sys, tempfile

import numpy as np
import onnxruntime as ort

ort.set_default_logger_severity(4)
SIZES = {"digits": 28, "ocr_det": 64, "ocr_rec": 48, "ocr_cls": 48}


def session(file):
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    return ort.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])


def feeds(of, name):
    size = SIZES.get(name, 224)
    shape = lambda dims: [d if isinstance(d, int) and d > 0 else 1 if i == 0 else 3 if i == 1 else size for i, d in enumerate(dims)]
    random = np.random.default_rng(0)
    return {i.name: random.standard_normal(shape(i.shape)).astype(np.float32) for i in of.get_inputs()}


def check(assay, model, work):
    original = session(model)
    given = feeds(original, model.stem.split(".")[0])
    want = original.run(None, given)
    for mode in ("none", "all"):
        written = work / f"{model.stem}.{mode}.onnx"
        subprocess.run([assay, "fuse", model, "-o", written, "--mode", mode, "--quiet"], check=True, stdout=subprocess.DEVNULL)
        got = session(written).run(None, given)
        if mode == "none" and not all(np.array_equal(a, b) for a, b in zip(want, got)):
            return "the written file gives other bits"
        if not all(np.allclose(a, b, 1e-3, 1e-3) for a, b in zip(want, got)):
            return "the fused file gives other values"
    return ""


def main():
    assay, root = sys.argv[1], pathlib.Path(sys.argv[2])
    models = [root / "datasets/digits/digits.onnx", *sorted((root / ".deps/models").glob("*.onnx"))]
    failed = 0
    with tempfile.TemporaryDirectory() as work:
        for model in models:
            if "." in model.stem or model.stem in ("resnet50",):  # other tools' versions; one ResNet is enough
                continue
            try:
                why = check(assay, model, pathlib.Path(work))
            except Exception as e:
                why = f"{type(e).__name__}: {e}"
            failed += bool(why)
            print(model.name, why or "ok", flush=True)
    return 1 if failed else 0


sys.exit(main())
