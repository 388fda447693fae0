#!/usr/bin/env python3
"""Writes what other tools make of the networks in .deps/models, for the tests of fusion certificates.

    .deps/peers/bin/python bench/foreign_files.py [FOLDER]

Beside NAME.onnx: NAME.ort_basic.onnx, NAME.ort_extended.onnx, NAME.ort_all.onnx (what ONNX Runtime saves at these
optimization levels), NAME.onnxsim.onnx (onnx-simplifier), NAME.onnxoptimizer.onnx (its fusion and elimination passes) and
NAME.ort_qdq.onnx (ONNX Runtime's static quantization: folded, u8 activations, s8 weights per channel, minimum and
maximum of seeded inputs). Each file is run in ONNX Runtime against its original before it is kept. What is newer
than its original is left alone.
"""
import logging
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NAMES = ("digits", "resnet18", "mobilenetv2", "ocr_det", "ocr_cls", "ocr_rec")
QUANTIZED_ONLY = ("resnet50", "efficientnet_lite0")
SHAPES = {"digits": (2, 1, 28, 28), "ocr_det": (1, 3, 96, 160), "ocr_cls": (2, 3, 48, 192), "ocr_rec": (1, 3, 48, 96)}
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
    from PIL import Image
    from onnxruntime import quantization
    import models
except ModuleNotFoundError as error:
    sys.exit(f"foreign_files: {error}: run scripts/setup --peers and use .deps/peers/bin/python")
# The quantizer advises a pre-processing step that the folding below stands for.
logging.disable(logging.WARNING)


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


class Inputs(quantization.CalibrationDataReader):
    def __init__(self, name, images):
        self.feeds = iter([{name: image} for image in images])

    def get_next(self):
        return next(self.feeds, None)


def quantize(source, target):
    """Per-channel scales need opset 13; the OCR networks keep their elementwise chains in float."""
    name = source.name.split(".")[0]
    model = onnx.load(source)
    operators = ["Conv"]
    if name.startswith("ocr"):
        model = onnx.version_converter.convert_version(model, 13)
        images = [text(SHAPES[name])]
    else:
        operators += ["Gemm", "Add", "MaxPool", "GlobalAveragePool", "Relu", "Clip"]
        images = np.split(models.seeded_images(4).astype(np.float32), 2)
        if name == "digits":
            images = digits_images()
    draft = target.with_name(f"{target.name}.opset13.onnx")
    onnx.save(model, draft)
    folded = target.with_name(f"{target.name}.folded.onnx")
    session(draft, "ORT_ENABLE_BASIC", folded)
    quantization.quantize_static(folded, target, Inputs(model.graph.input[0].name, images), per_channel=True,
                                 activation_type=quantization.QuantType.QUInt8, op_types_to_quantize=operators,
                                 weight_type=quantization.QuantType.QInt8)
    draft.unlink()
    folded.unlink()


def digits_images():
    """The calibration images, prepared as data.json says."""
    files = sorted((ROOT / "datasets/digits/calibration").glob("*.png"))
    images = np.stack([np.asarray(Image.open(file), np.float32)[None] for file in files])
    return np.split((images / 255 - np.float32(0.1307)) / np.float32(0.3081), 4)


def text(shape):
    """The word HELLO in dark 5x7 letters on light ground, in the second image of a batch upside down.

    Without text the text detector's output is all but zero.
    """
    letters = [GLYPHS[letter] + "0" * 7 for letter in "HELLO"]
    word = np.concatenate([np.array(list(letter), np.float32).reshape(6, 7).T for letter in letters], axis=1)
    scale = max(1, min(shape[2] // 14, shape[3] // 40))
    word = np.kron(word, np.ones((scale, scale), np.float32))[:, :shape[3]]
    x = 0.9 + 0.05 * np.random.default_rng(7).random(shape, dtype=np.float32)
    top, left = (shape[2] - word.shape[0]) // 2, (shape[3] - word.shape[1]) // 2
    x[:, :, top:top + word.shape[0], left:left + word.shape[1]] -= 1.7 * word
    x[1:] = x[:1, :, ::-1, ::-1]
    return x


def outputs(original, changed, shape):
    x = text(shape)
    return [runner.run(None, {runner.get_inputs()[0].name: x})[0].astype(np.float64)
            for runner in (session(original), session(changed))]


def largest(expected, actual):
    """Largest difference, relative to the largest value expected."""
    return np.abs(expected - actual).max() / np.abs(expected).max()


def angle(expected, actual):
    """One less the cosine."""
    return 1 - (expected * actual).sum() / np.sqrt((expected ** 2).sum() * (actual ** 2).sum())


TOOLS = {"ort_basic": ort("ORT_ENABLE_BASIC"), "ort_extended": ort("ORT_ENABLE_EXTENDED"),
         "ort_all": ort("ORT_ENABLE_ALL"), "onnxsim": simplify, "onnxoptimizer": optimize,
         "ort_qdq": quantize}
# A folded batch normalization moves results by a few roundings per layer, a wrong file by far more than 1e-3. Eight
# bits turn the output by 0.15 at most here (the OCR networks suffer; these files are for arithmetic and speed).
MEASURES = {"ort_qdq": (angle, 0.3)}


def make(source, target, suffix, shape):
    # ONNX Runtime wants a name that ends in .onnx; the draft starts with a dot so that nobody takes it for finished.
    draft = target.with_name(f".draft.{target.name}")
    TOOLS[suffix](source, draft)
    measure, limit = MEASURES.get(suffix, (largest, 1e-3))
    error = measure(*outputs(source, draft, shape))
    if not error < limit:
        sys.exit(f"foreign_files: {target} differs from {source} by {error:.3g} ({measure.__name__}), limit {limit}")
    os.replace(draft, target)
    print(f"{target}  (made, {measure.__name__} difference {error:.2g})", flush=True)


def main():
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / ".deps/models"
    for name in NAMES + QUANTIZED_ONLY:
        source = folder / f"{name}.onnx"
        if not source.exists():
            sys.exit(f"foreign_files: {source} not found: run bench/models.py")
        for suffix in ["ort_qdq"] if name in QUANTIZED_ONLY else TOOLS:
            target = folder / f"{name}.{suffix}.onnx"
            if target.exists() and target.stat().st_mtime >= source.stat().st_mtime:
                print(f"{target}  (kept)")
            else:
                make(source, target, suffix, SHAPES.get(name, (2, 3, 224, 224)))


if __name__ == "__main__":
    main()
