#!/usr/bin/env python3
"""Short forms of what assay writes as JSON, for the pages of this folder.

    show.py verdicts OUT                      the certificates of OUT/report.json (assay validate)
    assay compare A B --json | show.py difference
    show.py quantizers REPORT                 the scales of a report of assay quantize --report
"""
import json
import sys
from pathlib import Path


def verdicts(folder):
    for f in json.loads((Path(folder) / "report.json").read_text())["fusions"]:
        r = f.get("rounding") or {}
        size = f"largest difference {r['max_abs']:.3g}, {r['bound_usage']:.3f} of the bound" if "max_abs" in r else ""
        bits = f"bits {f['proof']['bits']}" if "bits" in f["proof"] else ""
        print(f"{f['verdict']}  {f['output']}  {', '.join(f['nodes'])}: {size or bits or f.get('reason', '')}")
        if (f.get("constants") or {}).get("rounded"):
            c = f["constants"]
            print(f"    constants: {c['rounded']} of {c['count']} rounded, by at most {c['max_ulp']:.4f} ULP")
        if "inside" in (f.get("onednn") or {}):
            place = "inside" if f["onednn"]["inside"] else "OUTSIDE"
            print(f"    oneDNN's kernel: {place} the bound for any order of summation")


def difference():
    for name, c in json.load(sys.stdin).items():
        sqnr = c["sqnr_db"] if isinstance(c["sqnr_db"], str) else f"{c['sqnr_db']:.2f} dB"
        print(f"{name}: {c.get('reason', 'the same bits')}; largest difference {c['max_abs']:.4g}; SQNR {sqnr}")


def quantizers(report):
    for v in json.loads(Path(report).read_text())["values"]:
        print(f"{v['value']}: {v['dtype']}, step {v['scale']:.4g}, half a step {v['scale'] / 2:.4g}")


def main(arguments):
    commands = {"verdicts": verdicts, "difference": difference, "quantizers": quantizers}
    if not arguments or arguments[0] not in commands:
        sys.exit(__doc__)
    commands[arguments[0]](*arguments[1:])


if __name__ == "__main__":
    main(sys.argv[1:])
