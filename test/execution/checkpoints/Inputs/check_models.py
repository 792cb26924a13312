"""Compiles the checkpoints of a folder of goldens and compares what they compute with what
their trainer computed of them (make_fairseq_goldens.py, make_opennmt_goldens.py).

usage: check_models.py GOLDENS WORK FLAG...

Ids are equal: greedy, with four beams, and by the search that the trainer has by default.
Logits in float32 are within 1e-5 of the largest one.
"""

import json
import pathlib
import subprocess
import sys

import numpy as np

goldens, work = map(pathlib.Path, sys.argv[1:3])
flags = sys.argv[3:]
work.mkdir(parents=True, exist_ok=True)
MAX_LENGTH = "16"
failures = []


def run(*command, lines=()):
    text = "".join(" ".join(map(str, line)) + "\n" for line in lines)
    done = subprocess.run(list(map(str, command)), input=text, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr}")
    return done.stdout.splitlines()


def check(folder, path):
    artifact = work / f"{folder.name}.heddle"
    run("heddle-compile", path, "-o", artifact, "--dtype", "f32", *flags)
    expected = json.loads((folder / "expected.json").read_text())
    inputs = expected["inputs"]

    def compare(what, *options):
        found = run("heddle-run", artifact, "--ids", "--max-length", MAX_LENGTH, *options, lines=inputs)
        for line, ids in zip(found, expected[what], strict=True):
            if line != " ".join(map(str, ids)):
                failures.append(f"{folder.name} {what}: {line}, expected {ids}")

    compare("greedy", "--beam", "1")
    compare("four", "--beam", "4")
    compare("default")
    known = np.load(folder / "logits.npy").astype(np.float64)
    teacher, logits = work / "teacher.ids", work / "logits.npy"
    teacher.write_text("".join(" ".join(map(str, line)) + "\n" for line in expected["teacher"]))
    for form in ("full", "step"):
        run("heddle-run", artifact, "--ids", "--form", form, "--teacher", teacher,
            "--logits", logits, lines=inputs)
        found = np.load(logits)
        for row, ids in enumerate(expected["teacher"]):
            error = np.abs(found[row, :len(ids)] - known[row, :len(ids)]).max()
            if not error <= 1e-5 * np.nanmax(np.abs(known)):
                failures.append(f"{folder.name} {form} line {row}: off by {error:.2e}")


folders = sorted(path.parent for path in goldens.glob("*/expected.json"))
for index, folder in enumerate(folders):
    # By turns the path is that of the folder and that of the file.
    check(folder, folder if index % 2 == 0 else next(folder.glob("*.pt")))
print(*failures, sep="\n")
sys.exit(len(failures) > 0)
