#!/usr/bin/env python3
"""Times Assay's oneDNN programs against ONNX Runtime and OpenVINO and holds the ratios to their figures.

    python3 bench/peers.py [--all | --quick] [--model NAME ...] [--assay build/release/assay] [--without-assay]

All runtimes get the same file, input, thread count and batch. Each is a process of its own; they run in turn (A B C A B
C ...), the ones that wait are stopped by a signal, so that no spinning pool takes a core. Before anything is timed the
outputs are compared. A ratio is Assay's time over that of the faster peer, paired turn by turn; a gated cell passes if the
median of its runs' ratios is at or under its figure. Exit code 0 only if every gated cell passes. The rows so far are
in OUTPUT with the ending .part until all are done.

  (neither)        the gated cells, one run each: 2 threads, batch 1
  --all            every cell, gated ones three times, the others once with a third of the turns
  --quick          the gated cells with few turns, to see that everything works
  --without-assay  the peers alone

The cell "amx" lets oneDNN use everything, "vnni" caps it by ONEDNN_MAX_CPU_ISA=AVX512_CORE_VNNI in Assay and OpenVINO.
ONNX Runtime's kernels have no such cap: in a "vnni" cell it may still use AMX, and a ratio to it is then a harder test.
"""
import argparse
import itertools
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from peer_workers import OneShot, Worker

ROOT = Path(__file__).resolve().parents[1]
PEERS = ROOT / ".deps/peers/bin/python"
MODELS = ROOT / ".deps/models"
CAPS = {"amx": {}, "vnni": {"ONEDNN_MAX_CPU_ISA": "AVX512_CORE_VNNI"}}
SHAPES = {"digits": (1, 28, 28), "ocr_det": (3, 640, 640), "ocr_cls": (3, 48, 192), "ocr_rec": (3, 48, 320)}

# Largest ratio to the faster peer at batch 1 and 2 threads: (with AMX, capped to VNNI).
GATES = {
    "resnet50": {"f32": (1.00, 1.00), "int8-dropped": (0.93, 0.98), "int8-qdq": (1.02, 1.02)},
    "resnet18": {"f32": (1.00, 1.00), "int8-dropped": (0.96, 0.98), "int8-qdq": (1.07, 1.07)},
    "mobilenetv2": {"f32": (0.87, 0.87), "int8-dropped": (0.92, 0.92), "int8-qdq": (0.95, 0.95)},
    "efficientnet_lite0": {"f32": (1.00, 1.00), "int8-dropped": (1.00, 1.00), "int8-qdq": (1.05, 1.05)},
    "ocr_det": {"f32": (1.00, 1.00), "int8-dropped": (1.00, 1.00), "int8-qdq": (1.05, 1.05)},
    "ocr_cls": {"f32": (1.00, 1.00), "int8-dropped": (1.00, 1.00), "int8-qdq": (1.05, 1.05)},
}
# The reference evaluations (2 threads, batch 1) against ONNX Runtime's float32 time in the same run: exact numerics cost
# more than speed, and this is how much more they may cost.
REFERENCE = {"cr": 2.5, "f64": 2.2, "f32-canonical": 1.6, "int8-exact": 2.5}
REFERENCE_MODELS = ("resnet18", "resnet50")
# What Assay is asked for in each column. The dropped form removes the rounding that a QDQ file of another tool has
# between a convolution and the addition after it (verdict E3).
FORMS = {"f32": ["--form", "fused"], "int8-qdq": ["--form", "int8"],
         "int8-dropped": ["--form", "int8", "--mid-rounding", "drop"],
         "cr": ["--form", "original", "--precision", "cr"], "f64": ["--form", "original", "--precision", "f64"],
         "f32-canonical": ["--form", "original", "--precision", "f32"], "int8-exact": ["--form", "int8"]}
# Largest 1 - cosine between the outputs of two runtimes: rounding in another order for f32, for INT8 other kernels too.
AGREEMENT = {"f32": 1e-5, "int8": 0.03}
# An INT8 network and the float32 one that it was made of.
QUANTIZATION = 0.3

VERDICTS = {True: "pass", False: "FAIL", None: "not judged"}


def start_assay(arguments, cell, column, cap, folder):
    """A paused worker for one column; `bench/README.md` describes what it expects of `assay bench`."""
    import numpy as np
    _, _, threads, batch, _ = cell
    reference = column in REFERENCE
    path, name = model_path(cell, "int8" if column == "int8-exact" else cell[1]), f"assay/{cap}/{column}"
    shape = "x".join(map(str, np.load(folder / "input.npy", mmap_mode="r").shape))
    fed = ["--input", f"{input_name(path)}={folder / 'input.npy'}", "-o", str(folder / name.replace("/", "-"))]
    command = [str(arguments.assay), "bench", str(path), *FORMS[column], "--backend",
               "reference" if reference else "onednn", "--threads", str(threads), "--batch", str(batch), "--shape", f"{input_name(path)}={shape}", "--json"]
    if arguments.serve:
        worker = Worker(name, [*command, "--serve", *fed], CAPS.get(cap, {}))
        worker.wait_ready()
        return worker
    output = [str(arguments.assay), "run", str(path), "--backend", "onednn", "--threads", str(threads), "--quiet", *fed]
    return OneShot(name, command, CAPS.get(cap, {}), output)


def start_peer(cell, runtime, cap, folder):
    name = f"{runtime}/{cap}" if cap else runtime
    command = [str(PEERS), str(ROOT / "bench/peer_workers.py"), runtime, str(model_path(cell)), str(cell[2]),
               str(folder / "input.npy"), str(folder / f"{name.replace('/', '-')}.npy")]
    worker = Worker(name, command, CAPS[cap] if cap else {})
    worker.wait_ready()
    return worker


def model_path(cell, precision=None):
    return MODELS / (f"{cell[0]}.onnx" if (precision or cell[1]) == "f32" else f"{cell[0]}.ort_qdq.onnx")


def input_name(path):
    return "x" if path.name.startswith("ocr") else "input"


def make_input(model, batch, folder):
    """Text for the OCR networks, whose output is next to nothing without any; noise for the others."""
    import numpy as np
    import foreign_files
    shape = (batch, *SHAPES.get(model, (3, 224, 224)))
    x = np.random.default_rng(11).random(shape, dtype=np.float32) * 2 - 1
    if model.startswith("ocr"):
        x = foreign_files.text(shape)
    np.save(folder / "input.npy", x)


def start(arguments, cell, folder):
    """The workers of a cell, each paused, the peers once per cap they know; and why any of Assay's did not start."""
    columns = [] if arguments.without_assay else columns_of(cell)
    workers, errors = [], {}
    try:
        workers.append(start_peer(cell, "onnxruntime", None, folder))
        for cap in cell[4]:
            workers.append(start_peer(cell, "openvino", cap, folder))
            for column in columns:
                start_or_note(workers, errors, arguments, cell, column, cap, folder)
        for column in [] if arguments.without_assay else reference_columns(cell):
            start_or_note(workers, errors, arguments, cell, column, "reference", folder)
    except BaseException:
        for worker in workers:
            worker.close()
        raise
    return {worker.name: worker for worker in workers}, errors


def start_or_note(workers, errors, arguments, cell, column, cap, folder):
    try:
        workers.append(start_assay(arguments, cell, column, cap, folder))
    except (RuntimeError, OSError, ValueError) as problem:
        errors[f"assay/{cap}/{column}"] = str(problem)


def reference_columns(cell):
    """The reference is compared where its figures are: two threads, batch 1, the ResNets in float32."""
    return list(REFERENCE) if cell[0] in REFERENCE_MODELS and cell[1:4] == ("f32", 2, 1) else []


def rows_in(cell):
    """(cap, column) of every row of a cell."""
    return [*itertools.product(cell[4], columns_of(cell)), *(("reference", column) for column in reference_columns(cell))]


def columns_of(cell):
    return ["f32"] if cell[1] == "f32" else ["int8-dropped", "int8-qdq"]


def output_file(folder, name):
    """A peer writes its first output to a file, Assay all of them (here one) to a folder."""
    file = folder / name.replace("/", "-")
    return next(iter(sorted(file.glob("*.npy"))), file) if file.is_dir() else file.with_suffix(".npy")


def difference(folder, name, precision):
    """One less the cosine between a runtime's output and ONNX Runtime's; raises where it is too large."""
    import numpy as np
    expected = np.load(output_file(folder, "onnxruntime")).astype(np.float64)
    actual = np.load(output_file(folder, name)).astype(np.float64)
    if actual.shape != expected.shape:
        raise RuntimeError(f"{name}: output of shape {actual.shape}, ONNX Runtime's has {expected.shape}")
    error = 1 - (actual * expected).sum() / np.sqrt((actual ** 2).sum() * (expected ** 2).sum())
    allowed = QUANTIZATION if name.endswith("int8-exact") else AGREEMENT[precision]
    if not error <= allowed:
        raise RuntimeError(f"{name}: output differs from ONNX Runtime's: 1 - cosine is {error:.3g}, allowed {allowed}")
    return error


def check_outputs(folder, workers, errors, precision):
    """The difference of each; a column of Assay that fails is closed and reported, a peer that fails ends the cell."""
    differences = {}
    for name in list(workers):
        try:
            differences[name] = difference(folder, name, precision)
        except (RuntimeError, OSError, ValueError) as problem:
            if not name.startswith("assay/"):
                raise
            workers.pop(name).close()
            errors[name] = str(problem)
    return differences


def take_turns(arguments, workers, turns_each):
    """Per worker the median latency of each turn, and all latencies. Who begins changes from turn to turn."""
    turns, samples = {name: [] for name in workers}, {name: [] for name in workers}
    order = list(workers)
    for turn in range(turns_each):
        for name in order[turn % len(order):] + order[:turn % len(order)]:
            latencies = workers[name].turn(arguments.turn_ms)
            turns[name].append(statistics.median(latencies))
            samples[name] += latencies
    return turns, samples


def time_cell(arguments, cell, turns_each=None):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_input(cell[0], cell[3], folder)
        workers, errors = start(arguments, cell, folder)
        try:
            differences = check_outputs(folder, workers, errors, cell[1])
            turns, samples = take_turns(arguments, workers, turns_each or arguments.turns)
        finally:
            for worker in workers.values():
                worker.close()
    return {"turns": turns, "samples": samples, "differences": differences, "errors": errors}


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))]


def summarize(run, cap, column):
    """The ratio to the faster peer, paired turn by turn, and what it is made of."""
    turns, samples, own = run["turns"], run["samples"], f"assay/{cap}/{column}"
    compared = ("onnxruntime",) if cap == "reference" else ("onnxruntime", f"openvino/{cap}")
    peers = {name: statistics.median(turns[name]) for name in compared}
    faster = min(peers, key=peers.get)
    names = [name for name in (*peers, own) if name in samples]
    result = {"faster": faster, "error": run["errors"].get(own), "ms": {
        name: {"median": statistics.median(samples[name]), "p90": percentile(samples[name], 0.9),
               "p99": percentile(samples[name], 0.99), "samples": len(samples[name]),
               "difference": run["differences"][name]} for name in names}}
    if own in turns:
        ratios = [a / b for a, b in zip(turns[own], turns[faster])]
        result |= {"ratio": statistics.median(ratios),
                   "ratio_quartiles": [percentile(ratios, 0.25), percentile(ratios, 0.75)]}
    return result


def gate_of(model, column, threads, batch, cap):
    if cap == "reference":
        return REFERENCE[column]
    if (threads, batch) != (2, 1) or model not in GATES:
        return None
    return GATES[model][column][0 if cap == "amx" else 1]


def has_amx():
    return "amx_int8" in Path("/proc/cpuinfo").read_text()


def cells(arguments):
    caps = ["amx", "vnni"] if has_amx() else ["vnni"]
    sizes = itertools.product((2, 1), (1, 8)) if arguments.all else [(2, 1)]
    for threads, batch in sizes:
        for model, precision in itertools.product(arguments.model, ("f32", "int8")):
            yield model, precision, threads, batch, caps


def row_text(row):
    ms = row["ms"]
    times = "  ".join(f"{name.split('/')[0]} {value['median']:8.3f} (p90 {value['p90']:8.3f})" for name, value in ms.items())
    ratio = "      -" if row["ratio"] is None else f"{row['ratio']:7.3f}"
    gate = "" if row["gate"] is None else f" figure {row['gate']:.2f} {VERDICTS[row['pass']]}"
    return (f"{row['model']:18} {row['column']:13} t{row['threads']} b{row['batch']} {row['cap']:9} {times}  "
            f"ratio to {row['faster'].split('/')[0]} {ratio}{gate}")


def run_cell(arguments, cell):
    """The runs of a cell, or none and the reason."""
    model, _, threads, batch, caps = cell
    gated = gate_of(model, columns_of(cell)[0], threads, batch, caps[0]) is not None
    try:
        if arguments.all and gated:
            return [time_cell(arguments, cell) for _ in range(3)], None
        return [time_cell(arguments, cell, arguments.turns if gated else max(3, arguments.turns // 3))], None
    except (RuntimeError, OSError, ValueError) as problem:
        return [], str(problem)


def rows_of(arguments, cell):
    """Runs one cell and yields a row per cap and column, with the error where it could not run."""
    model, _, threads, batch, _ = cell
    runs, error = run_cell(arguments, cell)
    for cap, column in rows_in(cell):
        gate = gate_of(model, column, threads, batch, cap)
        row = {"model": model, "column": column, "threads": threads, "batch": batch, "cap": cap, "gate": gate,
               "error": error, "ratio": None, "pass": None}
        if runs:
            summaries = sorted((summarize(run, cap, column) for run in runs), key=lambda each: each.get("ratio", 0))
            ratios = [summary["ratio"] for summary in summaries if "ratio" in summary]
            row |= summaries[len(summaries) // 2]
            row |= {"ratio": statistics.median(ratios) if ratios else None, "ratios": ratios}
            row["error"] = next((summary["error"] for summary in summaries if summary["error"]), None)
        if gate is not None and not arguments.without_assay:
            row["pass"] = row["error"] is None and row["ratio"] is not None and row["ratio"] <= gate
        yield row


def machine():
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    name = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())
    return {"cpu": name, "cores": os.cpu_count(), "amx": has_amx(), "system": platform.platform()}


def can_serve(assay):
    return "--serve" in subprocess.run([assay, "bench", "--help"], capture_output=True, text=True).stdout


def versions():
    wanted = ("onnxruntime", "openvino")
    lines = (ROOT / "scripts/requirements-peers.txt").read_text().splitlines()
    return dict(line.split("==") for line in lines if line.split("==")[0] in wanted)


def prepare(arguments):
    """Sets up what is missing, then goes on inside the peers' interpreter."""
    setup = [ROOT / "scripts/setup", "--peers", "--train"]
    if not (MODELS / "resnet50.ort_qdq.onnx").exists() or not PEERS.exists():
        subprocess.run(setup, check=True)
        subprocess.run(["/usr/bin/python3", ROOT / "bench/models.py"], check=True)
        subprocess.run([PEERS, ROOT / "bench/foreign_files.py"], check=True)
    if not arguments.without_assay and not arguments.assay.exists():
        sys.exit(f"peers: {arguments.assay} not found: build it (cmake --preset release && ninja -C build/release "
                 "assay), name another with --assay, or give --without-assay")
    if Path(sys.prefix).resolve() != PEERS.parents[1].resolve():
        os.execv(PEERS, [str(PEERS), *sys.argv])


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true", help="every cell; gated ones three times")
    parser.add_argument("--quick", action="store_true", help="few turns")
    parser.add_argument("--model", nargs="+", choices=list(GATES) + ["digits", "ocr_rec"], default=list(GATES))
    parser.add_argument("--assay", type=Path, default=ROOT / "build/release/assay")
    parser.add_argument("--without-assay", action="store_true", help="the peers alone")
    parser.add_argument("--turns", type=int, help="turns of each runtime in a run (15; 4 with --quick)")
    parser.add_argument("--turn-ms", type=int, help="length of a turn (200; 60 with --quick)")
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "bench/peers.json")
    arguments = parser.parse_args()
    arguments.turns = arguments.turns or (4 if arguments.quick else 15)
    arguments.turn_ms = arguments.turn_ms or (60 if arguments.quick else 200)
    return arguments


def report_of(arguments, rows):
    return {"schema": "assay-peers/1", "machine": machine(), "peers": versions(), "turns": arguments.turns,
            "turn_ms": arguments.turn_ms, "rows": rows}


def main():
    arguments = parse()
    prepare(arguments)
    arguments.serve = not arguments.without_assay and can_serve(arguments.assay)
    rows = []
    draft = arguments.output.with_suffix(".part")
    for cell in cells(arguments):
        for row in rows_of(arguments, cell):
            rows.append(row)
            draft.write_text(json.dumps(report_of(arguments, rows), indent=1) + "\n")
            head = f"{row['model']:18} {row['column']:13} t{row['threads']} b{row['batch']} {row['cap']:9}"
            print(f"{head} ERROR {row['error']}" if row["error"] else row_text(row), flush=True)
    failed = [row for row in rows if row["pass"] is False or row["error"]]
    gated = sum(row["gate"] is not None for row in rows)
    os.replace(draft, arguments.output)
    print(f"peers: {len(rows)} cells, {gated} gated, {len(failed)} failed; written to {arguments.output}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
