"""ONNX Runtime runs the QDQ file of `assay quantize`; its codes against the onnx-qdq reference: qdq_peer.py ASSAY ROOT [IMAGES]

ONNX Runtime sums in float32, the reference rounds the exact sum once, so a code may differ where the value before
rounding lies at a tie. Such an element carries a *tie flag*: its distance to the tie is at most

  r / s + u |q|,     q = v / s the quotient that is rounded, u = 2^-24,

where r bounds |float32 value - exact value| for any order of summation. With a zero radius below DequantizeLinear,

  Conv, Gemm            gamma(K + 8) (sum |x||w| + |b|), gamma(n) = n u / (1 - n u); K + 1 roundings of a sum of K products and
                        the bias, 2 of the dequantized operands, 4 for the scale of kernels that multiply codes instead, and 1
                        because v is the reference's rounded value
  GlobalAveragePool     gamma(H W + 8) mean |x|
  Add                   r_a + r_b + 4 u (|a| + |b|)
  Relu, Clip, Flatten   unchanged

Isolated: every layer gets ONNX Runtime's own codes: 0 differing codes without a flag, none by more than one step.
Chained: the network as a whole. In every image a code that differs without a flag must lie behind one that differs.
Planted: one weight off by one code must give codes that differ without a flag.
"""
import json, pathlib, subprocess, sys, tempfile

import numpy as np
import onnx
import onnxruntime as ort
from onnx import helper, numpy_helper

ort.set_default_logger_severity(4)
IMAGES = int(sys.argv[3]) if len(sys.argv) > 3 else 16
U = 2.0**-24
LEVELS = {"disabled": ort.GraphOptimizationLevel.ORT_DISABLE_ALL, "all": ort.GraphOptimizationLevel.ORT_ENABLE_ALL}


def gamma(n):
    return n * U / (1 - n * U)


def run_ort(model, feeds, level):
    options = ort.SessionOptions()
    options.graph_optimization_level = LEVELS[level]
    options.intra_op_num_threads = 1
    session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return dict(zip([o.name for o in session.get_outputs()], session.run(None, feeds)))


def run_assay(*command):
    subprocess.run([str(c) for c in command], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


class Qdq:
    """A QDQ model, its quantizers of activations and its constants."""

    def __init__(self, model):
        self.model = model
        self.constants = {i.name: numpy_helper.to_array(i) for i in model.graph.initializer}
        self.producer = {o: n for n in model.graph.node for o in n.output}
        self.quantizers = [n for n in model.graph.node if n.op_type == "QuantizeLinear"]

    def code_type(self, quantizer):
        return helper.np_dtype_to_tensor_dtype(self.constants[quantizer.input[2]].dtype)

    def rank(self, value):
        node = self.producer.get(value)
        if node is None or node.op_type in ("Conv", "GlobalAveragePool"):
            return 4
        return 2 if node.op_type in ("Flatten", "Gemm") else self.rank(node.input[0])

    def with_codes(self):
        """The model with the codes of every quantizer as outputs."""
        m = onnx.ModelProto.FromString(self.model.SerializeToString())
        for q in self.quantizers:
            m.graph.output.append(helper.make_tensor_value_info(q.output[0], self.code_type(q), None))
        return m

    def cut(self):
        """Each layer alone: what reads codes reads them from an input, GIVEN/name, instead of the layer in front."""
        m = self.with_codes()
        names = {q.output[0]: "GIVEN" + q.output[0] for q in self.quantizers}
        for n in m.graph.node:
            if n.op_type != "DequantizeLinear" or n.input[0] not in names:
                continue
            n.input[0] = names[n.input[0]]
        for q in self.quantizers:
            shape = ["N"] + [None] * (self.rank(q.input[0]) - 1)
            m.graph.input.append(helper.make_tensor_value_info(names[q.output[0]], self.code_type(q), shape))
        return m

    def magnitudes(self, cut):
        """`cut` with sum |x||w| + |b| behind every Conv and Gemm: an output MAG/name each."""
        m = onnx.ModelProto.FromString(cut.SerializeToString())
        for n in [n for n in m.graph.node if n.op_type in ("Conv", "Gemm")]:
            twin = onnx.NodeProto.FromString(n.SerializeToString())
            for i, value in enumerate(n.input):
                twin.input[i] = f"MAG{n.output[0]}/{i}"
                m.graph.node.append(helper.make_node("Abs", [value], [twin.input[i]]))
            twin.name, twin.output[0] = "", "MAG" + n.output[0]
            m.graph.node.append(twin)
            m.graph.output.append(helper.make_tensor_value_info(twin.output[0], onnx.TensorProto.FLOAT, None))
        return m

    def radius(self, value, taps, magnitude):
        """The bound of the header for `value`; `taps` are the reference's values, `magnitude` the sums |x||w| + |b|."""
        node = self.producer.get(value)
        if node is None or node.op_type == "DequantizeLinear":
            return np.zeros(taps[value].shape)
        inner = lambda i: self.radius(node.input[i], taps, magnitude)
        size = lambda i: np.abs(taps[node.input[i]].astype(np.float64))
        if node.op_type in ("Conv", "Gemm"):
            w = self.constants[self.producer[node.input[1]].input[0]]
            k = int(np.prod(w.shape[1:])) if node.op_type == "Conv" else max(w.shape)
            return gamma(k + 8) * (1 + 1e-3) * magnitude["MAG" + value].astype(np.float64)  # the sum is itself float32
        if node.op_type == "Add":
            return inner(0) + inner(1) + 4 * U * (size(0) + size(1))
        if node.op_type == "GlobalAveragePool":
            x = size(0)
            return gamma(x.shape[2] * x.shape[3] + 8) * x.mean((2, 3), keepdims=True)
        if node.op_type in ("Relu", "Clip"):
            return inner(0)
        if node.op_type == "Flatten":
            return inner(0).reshape(taps[value].shape)
        raise SystemExit(f"no radius for {node.op_type}")

    def needed(self):
        """Float values that radius() reads."""
        names = {q.input[0] for q in self.quantizers}
        for n in self.model.graph.node:
            if n.op_type in ("Add", "GlobalAveragePool", "Relu", "Clip", "Flatten"):
                names.update([n.input[0], n.output[0], *([n.input[1]] if n.op_type == "Add" else [])])
        return sorted(names - {i.name for i in self.model.graph.input})


def golden(assay, model, feeds, folder):
    """Every value of the lowered graph under onnx-qdq, samples joined."""
    data = folder / "data.npz"
    np.savez(data, **feeds)
    run_assay(assay, "golden", "make", model, "--form", "int8", "--profile", "onnx-qdq", "--taps", "all", "--data", data,
              "--samples", IMAGES, "-o", folder / "pack", "--quiet")
    samples = json.loads((folder / "pack/manifest.json").read_text())["samples"]
    assert len(samples) == IMAGES
    parts = {}
    for sample in samples:
        for t in sample["tensors"]:
            parts.setdefault(t["name"], []).append(np.load(folder / "pack" / t["file"]))
    return {name: np.concatenate(p) for name, p in parts.items()}


def taps(assay, model, feeds, names, folder):
    """Values of the QDQ graph itself, each node correctly rounded."""
    np.savez(folder / "feeds.npz", **feeds)
    given = [f"--input={name}={folder / 'feeds.npz'}" for name in feeds]
    run_assay(assay, "run", model, *given, *[f"--tap={n}" for n in names], "-o", folder / "run", "--quiet")
    index = json.loads((folder / "run/index.json").read_text())
    return {name: np.load(folder / "run" / file) for name, file in index.items()}


def reference(assay, qdq, file, feeds, folder):
    """(codes, float values, number of codes in which the lowered graph and the QDQ graph differ). The lowered graph has no
    tensor for a quantization that a kernel keeps inside; the QDQ graph's is taken there."""
    folder.mkdir()
    codes = [q.output[0] for q in qdq.quantizers]
    lowered = golden(assay, file, feeds, folder)
    values = {**taps(assay, file, feeds, qdq.needed() + codes, folder), **feeds}
    shared = [c for c in codes if c in lowered]
    wrong = sum(int((lowered[c] != values[c]).sum()) for c in shared)
    print(f"  lowered graph: {len(shared)} of {len(codes)} code tensors, {wrong} codes differ from the QDQ graph node by node")
    return {**{c: values[c] for c in codes}, **lowered}, values, wrong


def tie_distance(v, scale):
    """Of the exact quotient v / s to the next half, in steps; v and s are float32, so float64 has 2^-45 to spare."""
    q = v.astype(np.float64) / np.float64(scale)
    return np.abs(np.abs(q) - np.floor(np.abs(q)) - 0.5), q


def compare(qdq, got, want, floats, magnitude):
    """({codes: (differs, has a tie flag)}, figures)."""
    rows, n = {}, dict(codes=0, flags=0, differ=0, unflagged=0, steps=0, ulps=0.0, share=0.0)
    for q in qdq.quantizers:
        name, v, scale = q.output[0], floats[q.input[0]], qdq.constants[q.input[1]]
        distance, quotient = tie_distance(v, scale)
        reach = qdq.radius(q.input[0], floats, magnitude) / scale + U * np.abs(quotient)
        flag = distance <= reach
        step = np.abs(got[name].astype(int) - want[name].astype(int))
        differ = step != 0
        rows[name] = (differ, flag)
        for key, count in (("codes", differ.size), ("flags", flag.sum()), ("differ", differ.sum()), ("unflagged", (differ & ~flag).sum())):
            n[key] += int(count)
        n["steps"] = max(n["steps"], int(step.max()))
        at = differ & flag
        n["share"] = max(n["share"], float((distance[at] / reach[at]).max(initial=0)))
        n["ulps"] = max(n["ulps"], float((distance[at] * scale / np.spacing(np.abs(v[at]))).max(initial=0)))
    return rows, n


def ancestors(qdq, value):
    node = qdq.producer.get(value)
    return set() if node is None else {value}.union(*(ancestors(qdq, i) for i in node.input))


def unexplained(qdq, rows):
    """Chained: images with a code that differs without a flag although no code in front of it differs."""
    bad = set()
    for q in qdq.quantizers:
        differ, flag = rows[q.output[0]]
        front = [rows[a][0] for a in ancestors(qdq, q.input[0]) if a in rows]
        for image in range(IMAGES):
            if (differ & ~flag)[image].any() and not any(f[image].any() for f in front):
                bad.add(image)
    return bad


def images(root):
    pixels = np.load(root / "datasets/digits/test.npz")["input"][:IMAGES]
    return {"input": ((pixels.astype(np.float32) / np.float32(255) - np.float32(0.1307)) / np.float32(0.3081)).astype(np.float32)}


def chained(qdq, got, want, floats, magnitude):
    """The whole network on ONNX Runtime's own codes and on the reference's; returns the number of faults."""
    rows, n = compare(qdq, got, want, floats, magnitude)
    bad = unexplained(qdq, rows)
    moved = sum(any(d[i].any() for d, _ in rows.values()) for i in range(IMAGES))
    wrong = int((got["logits"].argmax(1) != want["logits"].argmax(1)).sum())
    print(f"  chained: {n['differ']} of {n['codes']} codes differ, in {moved} of {IMAGES} images, {len(bad)} images unexplained; "
          f"{wrong} other classes; largest difference of a logit {np.abs(got['logits'] - want['logits']).max():.3g}")
    return len(bad) + wrong


def isolated(qdq, cut, given, level, mine, values, magnitude):
    """Every layer on the same codes; returns the number of faults."""
    _, n = compare(qdq, run_ort(cut, given, level), mine, values, magnitude)
    print(f"  isolated: {n['differ']} of {n['codes']} codes differ, {n['unflagged']} without a tie flag ({n['flags']} flags), by at most {n['steps']}; "
          f"farthest from its tie: {n['ulps']:.1f} float32 ulps, {100 * n['share']:.2f} % of the radius")
    return n["unflagged"] + max(0, n["steps"] - 1)


def planted(qdq, cut, given, mine, values, magnitude):
    """1 when a weight that is off by one code is not seen."""
    model = onnx.ModelProto.FromString(cut.SerializeToString())
    tensor = next(i for i in model.graph.initializer if i.name.endswith("weight_folded_quantized"))
    w = numpy_helper.to_array(tensor).copy()
    w.flat[0] += 1 if w.flat[0] < 127 else -1
    tensor.CopyFrom(numpy_helper.from_array(w, tensor.name))
    _, n = compare(qdq, run_ort(model, given, "disabled"), mine, values, magnitude)
    print(f"  planted weight: {n['unflagged']} codes without a tie flag")
    return int(n["unflagged"] == 0)


def check(assay, root, scheme, work):
    file, cut_file = work / "qdq.onnx", work / "cut.onnx"
    run_assay(assay, "quantize", root / "datasets/digits/digits.onnx", "--data", root / "datasets/digits", "--scheme", scheme, "-o", file, "--quiet")
    qdq = Qdq(onnx.load(file))
    cut, feeds = qdq.cut(), images(root)
    onnx.save(cut, cut_file)
    print(f"scheme {scheme}", flush=True)
    want, floats, failed = reference(assay, qdq, file, feeds, work / "chained")
    for level in LEVELS:
        print(f" ONNX Runtime, graph optimizations: {level}", flush=True)
        got = run_ort(qdq.with_codes(), feeds, level)
        given = {**feeds, **{"GIVEN" + q.output[0]: got[q.output[0]] for q in qdq.quantizers}}
        magnitude = run_ort(qdq.magnitudes(cut), given, "disabled")
        mine, values, wrong = reference(assay, qdq, cut_file, given, work / f"cut_{level}")
        failed += wrong + isolated(qdq, cut, given, level, mine, values, magnitude)
        failed += chained(qdq, got, want, floats, magnitude)
    return failed + planted(qdq, cut, given, mine, values, magnitude)


def main():
    assay, root = sys.argv[1], pathlib.Path(sys.argv[2])
    failed = 0
    for scheme in ("u8", "s8"):
        with tempfile.TemporaryDirectory() as work:
            failed += check(assay, root, scheme, pathlib.Path(work))
    print("passed" if failed == 0 else "FAILED")
    return 1 if failed else 0


sys.exit(main())
