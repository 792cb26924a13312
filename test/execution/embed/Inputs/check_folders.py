"""Compiles folders of embedders and compares their vectors with those of
sentence-transformers in float64 (make_embed_goldens.py).

usage: check_folders.py GOLDENS WORK FOLDER[:FLAG...]...

A FOLDER is a changed copy in WORK or else one of GOLDENS; FLAGs go to heddle-compile,
which says nothing. No number of a file differs by more than 2e-6 of its largest number:
float32 of the library itself differs by up to 5e-7. Lines on standard input have the
vectors of arguments, bit by bit.
"""

import json
import pathlib
import subprocess
import sys

import numpy as np

BOUND = 2e-6


class Failure(Exception):
    """What is wrong with a folder."""


def run(*command, text=None):
    """Runs a command and returns what it says."""
    data = None if text is None else text.encode()
    done = subprocess.run(command, input=data, capture_output=True)
    if done.returncode != 0:
        raise Failure(done.stderr.decode().rstrip())
    return done.stderr.decode().rstrip()


def compare(name, found, expected):
    """What is wrong with vectors, or nothing."""
    if found.shape != expected.shape:
        return f"{name}: {found.shape}, expected {expected.shape}"
    largest = np.abs(expected).max()
    rows = np.abs(found.astype(np.float64) - expected).max(axis=1) / largest
    print(f"{name}: {rows.max():.1e}")
    if np.all(rows <= BOUND):
        return ""
    wrong = {int(i): f"{rows[i]:.1e}" for i in np.flatnonzero(~(rows <= BOUND))}
    return f"{name}: texts {wrong} differ, expected at most {BOUND:.0e}"


def check(folder, flags, work):
    """Yields what is wrong with a folder."""
    artifact, found = work / "artifact", work / "found.npy"
    title = " ".join([folder.name, *flags])
    said = run(
        "heddle-compile", folder, "-o", artifact, "--target", "x86-64-v3", *flags
    )
    if said:
        yield f"{title}: {said}"
    texts = json.loads((folder / "texts.json").read_text(encoding="utf-8"))
    runs = json.loads((folder / "runs.json").read_text())
    # Of some layers there are means alone.
    if flags[:1] == ["--layers"]:
        runs = {f"layer{flags[1]}": []}
    for name, options in runs.items():
        command = ["heddle-run", artifact, "--output", found, *options]
        run(*command, text="".join(text + "\n" for text in texts))
        of_lines = found.read_bytes()
        run(*command, "--", *texts)
        if found.read_bytes() != of_lines:
            yield f"{title}/{name}: lines have other vectors than arguments"
        yield compare(
            f"{title}/{name}", np.load(found), np.load(folder / f"{name}.npy")
        )


def main(goldens, work, *folders):
    failures = []
    for each in folders:
        name, *flags = each.split(":")
        folder = work / name if (work / name).exists() else goldens / name
        try:
            failures += filter(None, check(folder, flags, work))
        except Failure as failure:
            failures.append(f"{name}: {failure}")
    print("\n".join(failures))
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main(*map(pathlib.Path, sys.argv[1:3]), *sys.argv[3:]))
