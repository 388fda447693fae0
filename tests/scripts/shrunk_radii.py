#!/usr/bin/env python3
"""Shrinks proved radii by 2^10, one at a time, and expects the tests that guard them to fail.

    python3 tests/scripts/shrunk_radii.py BUILD [NAME]     # BUILD: a finished build of this checkout (ci or dev)

Changes a source, builds assay_tests (or assay_defects), runs the guard, and puts the source back. By hand: each
radius costs a build. Prints one line per radius and "N guarded, N not"; exit code 1 when a guard does not fail.
"""
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
N, V = "runtime/numeric/", "validation/certificate/"
DEFECTS = "defects"

# name, file, text, shrunk text, filter of the guard (or DEFECTS: the suite of seeded defects)
RADII = [
    ("dot products (Ziv)", N + "gemm_sinks.cpp", "return static_cast<double>(depth) * 0x1p-53", "return 0x1p-10 * static_cast<double>(depth) * 0x1p-53", "Gemm.*:Conv*"),
    ("dot products, running bound", N + "dot_running.h", "? kUnitFloat : kUnitDouble;", "? 0x1p-10 * kUnitFloat : 0x1p-10 * kUnitDouble;", "DotRadius.*:Radius.*"),
    ("elementary functions: exp family", N + "elementary_exp.cpp", "kError = 0x1p-", "kError = 0x1p-10 * 0x1p-", "Elementary*"),
    ("elementary functions: log family", N + "elementary_log.cpp", "kError = 0x1p-", "kError = 0x1p-10 * 0x1p-", "Elementary*"),
    ("elementary functions: erf family", N + "elementary_erf.cpp", "kError = 0x1p-", "kError = 0x1p-10 * 0x1p-", "Elementary*"),
    ("elementary functions in float64", N + "elementary_exp.cpp", "kError64 = 0x1p-", "kError64 = 0x1p-10 * 0x1p-", "Elementary*"),
    ("Lipschitz bounds of operators", "runtime/ops/support/bound.cpp", "const double passed = lipschitz *", "const double passed = 0x1p-10 * lipschitz *", "Radius.*"),
    ("sums", N + "rows_reduce.cpp", "return {value, 1.01 * depth(x.size()) * kUnit * size};", "return {value, 0x1p-10 * depth(x.size()) * kUnit * size};", "RowsHostile.*"),
    ("sums of squares", N + "rows_reduce.cpp", "return {value, 1.01 * depth(x.size()) * kUnit * value};", "return {value, 0x1p-10 * depth(x.size()) * kUnit * value};", "RowsHostile.*"),
    ("sums of magnitudes", N + "rows_reduce.cpp", "round_if_certain<float>(sum, 1.01 *", "round_if_certain<float>(sum, 0x1p-10 *", "RowsHostile.*"),
    ("means", N + "rows_reduce.cpp", "const double error = sum.error / by * (1 + 0x1p-50)", "const double error = 0x1p-10 * sum.error / by * (1 + 0x1p-50)", "RowsHostile.*"),
    ("L2 norms", N + "rows_reduce.cpp", "root * (0.51 * sum.error / sum.value + 2 * kUnit)", "0x1p-10 * root * (0.51 * sum.error / sum.value + 2 * kUnit)", "RowsHostile.*"),
    ("logarithms of sums", N + "rows_reduce.cpp", "const double error = 2 * sum.error / sum.value +", "const double error = 0x1p-10 * 2 * sum.error / sum.value +", "RowsHostile.*"),
    ("float64 radius of certificates", V + "radius.cpp", "return {0x1p-53, 0x1p-1074};", "return {0x1p-63, 0x1p-1084};", DEFECTS),
    ("float32 radius of certificates", V + "radius.cpp", "return {0x1p-24, 0x1p-149};", "return {0x1p-34, 0x1p-159};", DEFECTS),
    ("budget of weights, other tools", V + "budget.h", "(2.5 + std::max(1, steps)) * 0x1p-24", "(2.5 + std::max(1, steps)) * 0x1p-34", DEFECTS),
    ("budget of shifts, other tools", V + "budget.h", "return 0x1p-24 *\n             ((5.5", "return 0x1p-34 *\n             ((5.5", DEFECTS),
    ("budget of own constants", V + "budget.h", "if (b.own) return 0.5 * spacing(star, b)", "if (b.own) return 0x1p-11 * spacing(star, b)", "OwnRules.*:Certify.*"),
]


def build(folder, target):
    return subprocess.run(["ninja", "-C", folder, "-j2", target], capture_output=True, text=True)


def fails(folder, guard):
    """True when the guard finds the change; None when the changed source does not build."""
    target = "assay_defects" if guard == DEFECTS else "assay_tests"
    if build(folder, target).returncode != 0:
        return None
    program = f"{folder}/tests/{target}"
    command = [program, str(ROOT / "tests/defects/defects.json"), "--seeds", "3"] if guard == DEFECTS else [program, f"--gtest_filter={guard}"]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT).returncode != 0


def main(folder, wanted=""):
    guarded = open_ = 0
    for name, file, text, shrunk, guard in RADII:
        if wanted not in name:
            continue
        path = ROOT / file
        source = path.read_text()
        if text not in source:
            sys.exit(f"{file} has no '{text}' any more")
        try:
            path.write_text(source.replace(text, shrunk))
            found = fails(folder, guard)
        finally:
            path.write_text(source)
        guarded += found is True
        open_ += found is not True
        print(f"{name}: {'guarded by ' + guard if found else 'does not build' if found is None else 'NOT guarded'}", flush=True)
    print(f"{guarded} guarded, {open_} not")
    return 1 if open_ else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) > 1 else __doc__)
