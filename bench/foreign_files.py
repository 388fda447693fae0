#!/usr/bin/env python3
"""Writes what other tools make of the networks in .deps/models, for the tests of fusion certificates.

    .deps/peers/bin/python bench/foreign_files.py [FOLDER]

Beside NAME.onnx: NAME.ort_basic.onnx, NAME.ort_extended.onnx, NAME.ort_all.onnx (what ONNX Runtime saves at these
optimization levels), NAME.onnxsim.onnx (onnx-simplifier), NAME.onnxoptimizer.onnx (its fusion and elimination passes).
Each file is run in ONNX Runtime against its original before it is kept. What exists is left alone.
"""
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NAMES = ("digits", "resnet18", "mobilenetv2", "ocr_det", "ocr_cls", "ocr_rec")
SHAPES = {"digits": (2, 1, 28, 28), "ocr_det": (1, 3, 96, 160), "ocr_cls": (2, 3, 48, 192), "ocr_rec": (2, 3, 48, 96)}
# Columns of 5x7 letters, top to bottom.
GLYPHS = {"H": "11111110001000000100000010001111111", "E": "11111111001001100100110010011000001",
          "L": "11111110000001000000100000010000001", "O": "01111101000001100000110000010111110"}
OPTIMIZER_PASSES = [
    "eliminate_deadend", "eliminate_identity", "eliminate_nop_dropout", "eliminate_nop_pad", "eliminate_nop_transpose",
    "eliminate_duplicate_initializer", "eliminate_unused_initializer", "extract_constant_to_initializer",
    "fuse_add_bias_into_conv", "fuse_bn_into_conv", "fuse_consecutive_squeezes", "fuse_consecutive_transposes",
    "fuse_matmul_add_bias_into_gemm", "fuse_pad_into_conv"]

try:
    import numpy as np
    import onnx
    import onnxoptimizer
    import onnxruntime
    import onnxsim
except ModuleNotFoundError as error:
    sys.exit(f"foreign_files: {error}: run scripts/setup --peers and use .deps/peers/bin/python")


def session(path, level="ORT_DISABLE_ALL", saved=None):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, level)
    options.log_severity_level = 3
    if saved:
        options.optimized_model_filepath = str(saved)
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def ort(level):
    return lambda source, target: session(source, level, target)


def simplify(source, target):
    simplified, same = onnxsim.simplify(onnx.load(source))
    if not same:
        sys.exit(f"foreign_files: onnxsim says its result differs from {source}")
    onnx.save(simplified, target)


def optimize(source, target):
    available = onnxoptimizer.get_available_passes()
    missing = [name for name in OPTIMIZER_PASSES if name not in available]
    if missing:
        sys.exit(f"foreign_files: onnxoptimizer has no pass {missing[0]}")
    onnx.save(onnxoptimizer.optimize(onnx.load(source), OPTIMIZER_PASSES), target)


TOOLS = {"ort_basic": ort("ORT_ENABLE_BASIC"), "ort_extended": ort("ORT_ENABLE_EXTENDED"),
         "ort_all": ort("ORT_ENABLE_ALL"), "onnxsim": simplify, "onnxoptimizer": optimize}


def text(shape):
    """The word HELLO in dark 5x7 letters on light ground: the text detector's output is all but zero without text."""
    letters = [GLYPHS[letter] + "0" * 7 for letter in "HELLO"]
    word = np.concatenate([np.array(list(letter), np.float32).reshape(6, 7).T for letter in letters], axis=1)
    scale = max(1, min(shape[2] // 14, shape[3] // 40))
    word = np.kron(word, np.ones((scale, scale), np.float32))[:, :shape[3]]
    x = 0.9 + 0.05 * np.random.default_rng(7).random(shape, dtype=np.float32)
    top, left = (shape[2] - word.shape[0]) // 2, (shape[3] - word.shape[1]) // 2
    x[:, :, top:top + word.shape[0], left:left + word.shape[1]] -= 1.7 * word
    return x


def difference(original, changed, shape):
    """Largest difference of the two files' outputs, relative to the largest value of the original's."""
    x = text(shape)
    outputs = [runner.run(None, {runner.get_inputs()[0].name: x})[0] for runner in (session(original), session(changed))]
    return float(np.abs(outputs[0] - outputs[1]).max() / np.abs(outputs[0]).max())


def make(source, target, tool, shape):
    # ONNX Runtime wants a name that ends in .onnx; the draft starts with a dot so that nobody takes it for finished.
    draft = target.with_name(f".draft.{target.name}")
    tool(source, draft)
    error = difference(source, draft, shape)
    # A folded batch normalization moves results by a few roundings per layer; a wrong file by far more than this.
    if not error < 1e-3:
        sys.exit(f"foreign_files: {target} differs from {source} by {error:.3g} of the largest output")
    os.replace(draft, target)
    print(f"{target}  (made, largest difference {error:.2g})", flush=True)


def main():
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / ".deps/models"
    for name in NAMES:
        source = folder / f"{name}.onnx"
        if not source.exists():
            sys.exit(f"foreign_files: {source} not found: run bench/models.py")
        for suffix, tool in TOOLS.items():
            target = folder / f"{name}.{suffix}.onnx"
            if target.exists():
                print(f"{target}  (kept)")
            else:
                make(source, target, tool, SHAPES.get(name, (2, 3, 224, 224)))


if __name__ == "__main__":
    main()
