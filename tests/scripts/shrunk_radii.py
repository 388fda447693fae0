#!/usr/bin/env python3
"""Makes each proved radius 2^10 times smaller and expects the tests that guard it to fail.

    python3 tests/scripts/shrunk_radii.py BUILD [NAME]     # BUILD: a configured build of this checkout (ci or dev)
    python3 tests/scripts/shrunk_radii.py --check          # only: does every radius have a guard?

The radii of runtime/numeric are those that the sources name with proved<"..."> (runtime/numeric/proved.h); one program,
assay_shrunk_radii, serves them all. Those of certificates are constants: each costs a change of a source and a build of
assay_defects. Prints one line per radius and "N guarded, N not"; exit code 1 when a guard does not fail.
"""
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NUMERIC = ROOT / "runtime/numeric"

# name in the sources: filter of the tests that have to fail. {Fn} is the function's name.
GUARDS = {
    "float32, elementary": "Elementary*.{Fn}",
    "float64, elementary": "Elementary*.{Fn}",
    "float32, power": "ElementaryPow.*",
    "float32, dot product": "Gemm.*",
    "float32, Winograd": "Winograd.*",
    "float32, compensated dot product": "GemmExact.*",
    "dd, one operation": "DoubleDouble.*",
    "dd, elementary": "ElementaryLog.*",
    "dot product, canonical order": "DotRadius.*",
    "dot product, any order": "DotRadius.*",
    "float32, sum": "RowsHostile.Sum",
    "float32, mean": "RowsHostile.Mean",
    "float32, sum of magnitudes": "RowsHostile.SumAbs",
    "float32, sum of squares": "RowsHostile.SumSquare",
    "float32, L2 norm": "RowsHostile.L2",
    "float32, log of a sum": "RowsHostile.LogSum",
    "float32, product": "RowsPinched.Product",
    "float32, softmax": "RowsPinched.Softmax*",
    "float32, log-softmax": "RowsPinched.LogSoftmax*",
    "float32, log-sum-exp": "RowsPinched.LogSumExp",
    "dd, softmax": "RowsPinched.SoftmaxBeyondDoubleDouble",
    "dd, log of a sum of exponentials": "RowsPinched.LogSoftmaxBeyondDoubleDouble",
    "float32, 1/sigma": "RowsPinched.InverseDeviation",
    "float32, Lp normalization": "RowsPinched.LpNormalize",
    "float32, layer normalization": "RowsCancelling.LayerNorm",
    "float32, RMS normalization": "RowsCancelling.RmsNorm",
    "float32, batch normalization": "RowsCancelling.BatchNorm",
    "float64, softmax": "RowsPinched.SoftmaxInFloat64",
    "float64, log-softmax": "RowsPinched.LogSoftmaxInFloat64",
    "float64, layer normalization": "RowsCancelling.LayerNormInFloat64",
    "float64, RMS normalization": "RowsCancelling.RmsNormInFloat64",
    "float64, batch normalization": "RowsCancelling.BatchNormInFloat64",
}
# Functions that share a test.
TESTS = {"Elu": "Elus", "Celu": "Elus", "Selu": "Elus"}

# name, file, text, shrunk text; the guard is the suite of seeded defects.
CONSTANTS = [
    ("certificates, float64", "radius.cpp", "return {0x1p-53, 0x1p-1074};", "return {0x1p-63, 0x1p-1074};"),
    ("certificates, float32", "radius.cpp", "return {0x1p-24, 0x1p-149};", "return {0x1p-34, 0x1p-159};"),
    ("budget of weights, other tools", "budget.h", "(2.5 + std::max(1, steps)) * 0x1p-24", "(2.5 + std::max(1, steps)) * 0x1p-34"),
    ("budget of shifts, other tools", "budget.h", "return 0x1p-24 *\n             ((5.5", "return 0x1p-34 *\n             ((5.5"),
    ("budget of own constants", "budget.h", "if (b.own) return 0.5 * spacing(star, b)", "if (b.own) return 0x1p-11 * spacing(star, b)"),
]


def functions(member):
    """The functions whose `member` (kError, kError64) is a radius: 0 says that the value is exact."""
    for file in sorted(NUMERIC.glob("elementary_*.cpp")):
        text = file.read_text()
        for fn in re.findall(r"^ASSAY_ELEMENTARY\((\w+)Fn\)", text, re.M):
            body = text[text.index(f"struct Impl<{fn}Fn>"):]
            if re.search(rf"\b{member} = ([^;]+);", body).group(1) != "0":
                yield fn


def radii():
    """(value of ASSAY_SHRUNK_RADIUS, filter of its guard) of every radius that the sources name."""
    text = "".join(file.read_text() for file in sorted(NUMERIC.iterdir()) if file.name != "proved.h")
    for name, kind in sorted(set(re.findall(r'proved<\s*"([^"]+)"\s*(,\s*Fn)?\s*>', text))):
        if name not in GUARDS:
            sys.exit(f"shrunk_radii: no guard for the radius '{name}'")
        for fn in functions("kError64" if "64" in name else "kError") if kind else [None]:
            yield (f"{name}: assay::{fn}Fn", GUARDS[name].format(Fn=TESTS.get(fn, fn))) if kind else (name, GUARDS[name])


def build(folder, target):
    if subprocess.run(["ninja", "-C", folder, "-j2", target], stdout=subprocess.DEVNULL).returncode != 0:
        sys.exit(f"shrunk_radii: {target} does not build")


def fails(program, guard, name=None):
    """True when a test of the guard fails with the radius `name` made too small."""
    environment = dict(os.environ, **({"ASSAY_SHRUNK_RADIUS": name} if name else {}))
    run = subprocess.run([program, f"--gtest_filter={guard}"], env=environment, capture_output=True, text=True)
    if "[==========] Running 0 tests" in run.stdout:
        sys.exit(f"shrunk_radii: the guard '{guard}' names no test")
    return "[  FAILED  ]" in run.stdout


def defects_fail(folder, constant):
    """The same for a constant of validation/certificate and the seeded defects."""
    name, file, text, shrunk = constant
    path = ROOT / "validation/certificate" / file
    source = path.read_text()
    if text not in source:
        sys.exit(f"shrunk_radii: {file} has no '{text}' any more")
    try:
        path.write_text(source.replace(text, shrunk))
        build(folder, "assay_defects")
        program = [f"{folder}/tests/assay_defects", str(ROOT / "tests/defects/defects.json"), "--seeds", "3"]
        return subprocess.run(program, capture_output=True, cwd=ROOT).returncode != 0
    finally:
        path.write_text(source)


def report(name, guard, found):
    print(f"{name}: {'guarded by ' + guard if found else 'NOT guarded'}", flush=True)
    return not found


def main(folder, wanted=""):
    numeric = [entry for entry in radii() if wanted in entry[0]]
    constants = [entry for entry in CONSTANTS if wanted in entry[0]]
    unguarded = 0
    if numeric:
        build(folder, "assay_shrunk_radii")
        program = f"{folder}/tests/assay_shrunk_radii"
        for guard in sorted({guard for _, guard in numeric}):
            if fails(program, guard):
                sys.exit(f"shrunk_radii: '{guard}' fails without any change")
    for name, guard in numeric:
        unguarded += report(name, guard, fails(program, guard, name))
    for constant in constants:
        unguarded += report(constant[0], "seeded defects", defects_fail(folder, constant))
    print(f"{len(numeric) + len(constants) - unguarded} guarded, {unguarded} not")
    return 1 if unguarded else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    if sys.argv[1] == "--check":
        print(f"{len(list(radii()))} radii of runtime/numeric, {len(CONSTANTS)} of certificates")
    else:
        sys.exit(main(*sys.argv[1:]))
