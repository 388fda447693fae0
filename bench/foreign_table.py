#!/usr/bin/env python3
"""Judges what other tools made of the networks in .deps/models and prints the table of docs/certificates.md.

    .deps/peers/bin/python bench/foreign_table.py ASSAY [FOLDER] [NAME ...]

The files come from bench/foreign_files.py. One line per file: nodes of the fused file that differ from the original, the
share of them that is aligned and judged, verdicts, the recipe of the folded constants. Exits 1 when a file fails or less
than 95 % of its nodes are judged.
"""
import collections
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import onnx

ROOT = Path(__file__).resolve().parents[1]
SHAPES = {"digits": "2x1x28x28", "ocr_det": "1x3x96x160", "ocr_cls": "2x3x48x192", "ocr_rec": "1x3x48x96",
          "mobilenetv2": "1x3x224x224", "resnet18": "1x3x224x224"}
TOOLS = ("ort_basic", "ort_extended", "ort_all", "onnxsim", "onnxoptimizer")


def judge(assay, folder, name, tool):
    source = folder / f"{name}.onnx"
    entry = onnx.load(source, load_external_data=False).graph.input[0].name
    with tempfile.TemporaryDirectory() as out:
        command = [assay, "validate", source, "--fused", folder / f"{name}.{tool}.onnx", "--shape",
                   f"{entry}={SHAPES[name]}", "--limit", "1", "--certify-samples", "1", "--layer-samples", "1", "--quiet",
                   "-o", Path(out) / "r"]
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
        report = Path(out) / "r" / "report.json"
        if not report.exists():
            sys.exit(f"foreign_table: {name}.{tool}: exit {done.returncode}: {done.stderr.strip()}")
        return done.returncode, json.loads(report.read_text())


def recipe(report):
    names = collections.Counter(f["constants"]["recipe"] for f in report["fusions"]
                                if f["verdict"] == "E2" and "recipe" in f.get("constants", {}))
    return "; ".join(f"{text.rsplit(' (', 1)[0]} ({count})" for text, count in names.most_common()) or "–"


def main(assay, folder, names):
    failed = False
    print("| file | fused nodes | judged | verdicts | recipe (folds) |\n|---|---|---|---|---|")
    for name in names:
        for tool in TOOLS:
            code, report = judge(assay, folder, name, tool)
            coverage = report["coverage"]["fusions"]
            verdicts = collections.Counter(f["verdict"] for f in report["fusions"])
            failed |= code != 0 or coverage["share_judged"] < 0.95
            print(f"| {name}.{tool} | {coverage['nodes_changed']} | {100 * coverage['share_judged']:.1f} % | "
                  + ", ".join(f"{count} × {verdict}" for verdict, count in sorted(verdicts.items()))
                  + f" | {recipe(report)} |" + ("" if code == 0 else f" exit {code}"), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], Path(sys.argv[2]) if len(sys.argv) > 2 else ROOT / ".deps/models",
                  sys.argv[3:] or list(SHAPES)))
