#!/usr/bin/env python3
"""Keeps a page of docs/ true: runs its commands and compares what they print.

    page_test.py ASSAY ROOT PAGE [--update]

A block ```sh that stands directly before a block ``` is run, and the second block is what it prints on
standard output. Commands see `assay` on the PATH, ROOT's datasets/ and docs/, and an empty out/. Figures
in the text around the blocks (decimals, and numbers of three or more digits) must stand in some output.
--update writes the outputs into the page.
"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

PAIR = re.compile(r"```sh\n(.*?)```\n```\n(.*?)```\n", re.S)
BLOCK = re.compile(r"```.*?```", re.S)
FIGURE = re.compile(r"(?<![\w.])\d+\.\d+(?:e[+-]?\d+)?|(?<![\w.,])\d{3,}(?![\w])")


def run(commands, folder, assay):
    environment = dict(os.environ, PATH=f"{assay.parent}:{os.environ['PATH']}")
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", commands], cwd=folder, env=environment,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300)
    if done.returncode != 0:
        sys.exit(f"exit {done.returncode} of\n{commands}{done.stderr}")
    return done.stdout


def work_folder(root, folder):
    for name in ("datasets", "docs"):
        (folder / name).symlink_to(root / name)
    (folder / "out").mkdir()


def check_figures(page, text):
    shown = set(FIGURE.findall(" ".join(BLOCK.findall(text))))
    around = BLOCK.sub("", text)
    wrong = [f for f in FIGURE.findall(around) if f not in shown]
    return [f"the text says {f}, which no command of {page} prints" for f in wrong]


def main(arguments):
    update = "--update" in arguments
    assay, root, page = (Path(a).resolve() for a in arguments if a != "--update")
    text = page.read_text()
    faults = []

    def replace(match):
        commands, want = match.groups()
        got = run(commands, folder, assay)
        if got != want:
            faults.append(f"{page.name} differs from what this prints now:\n{commands}\nthe page:\n{want}\nnow:\n{got}")
        return f"```sh\n{commands}```\n```\n{got}```\n"

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        work_folder(root, folder)
        fresh = PAIR.sub(replace, text)
    if not PAIR.search(text):
        faults.append(f"{page.name} holds no command with an output")
    if update:
        page.write_text(fresh)
        faults = []
    faults += check_figures(page.name, fresh)
    for fault in faults:
        print(fault)
    if faults:
        sys.exit(f"to renew: python3 tests/scripts/page_test.py {arguments[0]} {arguments[1]} {arguments[2]} --update")
    print("passed")


if __name__ == "__main__":
    main(sys.argv[1:])
