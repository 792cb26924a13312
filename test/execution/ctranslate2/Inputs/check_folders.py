"""Compiles the folders of test/goldens/ctranslate2 and compares what they compute with
what CTranslate2 computed (make_ctranslate2_goldens.py).

usage: check_folders.py FOLDERS WORK FLAG...

Of floats and int16, which are widened, ids are equal and log-probabilities within 1e-4.
Integers of 8 bits are multiplied as CTranslate2 multiplies them, but for the order of
sums of f32 in front of a rounding: log-probabilities are within 0.02, and all lines are
equal, as those of its own kernels (GENERIC, AVX, AVX2, AVX512) are on these folders.
Vectors of an encoder are within 1e-5 of the largest number: their norms, of f32, are some
thousand roundings apart.
"""

import json
import pathlib
import subprocess
import sys

import numpy as np

folders, work = map(pathlib.Path, sys.argv[1:3])
flags = sys.argv[3:]
work.mkdir(parents=True, exist_ok=True)
MAX_LENGTH = "16"
failures = []


def run(*command, lines):
    text = "".join(" ".join(map(str, line)) + "\n" for line in lines)
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr}")
    return done.stdout.splitlines()


def log_softmax(logits):
    logits = logits.astype(np.float64)
    top = logits.max(axis=-1, keepdims=True)
    return logits - top - np.log(np.exp(logits - top).sum(axis=-1, keepdims=True))


def check(folder):
    artifact = work / f"{folder.name}.heddle"
    # Goldens of old layouts are what their weights give in float32.
    is_int8 = "int8" in folder.name and not folder.name.startswith("version")
    run("heddle-compile", folder, "-o", artifact, *flags,
        *([] if is_int8 else ["--dtype", "f32"]), lines=[])
    expected = json.loads((folder / "expected.json").read_text())
    inputs = expected["inputs"]
    if "vectors" in expected:
        found = [json.loads(line)["vector"] for line in
                 run("heddle-run", artifact, "--ids", lines=inputs)]
        known = np.array(expected["vectors"])
        error = np.abs(np.array(found) - known).max() / np.abs(known).max()
        if not error <= 1e-5:
            failures.append(f"{folder.name}: vectors off by {error:.2e}")
        return

    def compare(what, *options):
        found = run("heddle-run", artifact, "--ids", "--max-length", MAX_LENGTH, *options,
                    lines=inputs)
        for line, ids in zip(found, expected[what], strict=True):
            if line != " ".join(map(str, ids)):
                failures.append(f"{folder.name} {what}: {line}, expected {ids}")

    compare("greedy", "--beam", "1")
    # The search of translate_batch without options; generate_batch has one beam.
    compare("two", *(["--beam", "2"] if (folder / "vocabulary.json").exists() else []))
    compare("four", "--beam", "4", "--length-penalty", "0.6")
    teacher, logits = work / "teacher.ids", work / "logits.npy"
    teacher.write_text("".join(" ".join(map(str, line)) + "\n" for line in expected["teacher"]))
    for form in ("full", "step"):
        run("heddle-run", artifact, "--ids", "--form", form, "--teacher", teacher,
            "--logits", logits, lines=inputs)
        scores = log_softmax(np.load(logits))
        for row, (ids, known) in enumerate(zip(expected["teacher"], expected["scores"])):
            # The engine scores the end of each line, too; it has no row here.
            found = [scores[row, at, token] for at, token in enumerate(ids)]
            error = np.abs(np.array(found) - np.array(known[: len(found)])).max()
            if not error <= (0.02 if is_int8 else 1e-4):
                failures.append(f"{folder.name} {form} line {row}: off by {error:.2e}")


for folder in sorted(folders.iterdir()):
    check(folder)
print(*failures, sep="\n")
sys.exit(len(failures) > 0)
