"""Translates lines with the checkpoints of a folder of goldens that have a tokenizer beside
them, or are given one, and compares them with what their trainer made of the lines.

usage: check_texts.py GOLDENS WORK

A model of SentencePiece is that of test/goldens/marian-npz-old-pre-norm: it is given by a
flag, and then put beside the checkpoint.
"""

import json
import pathlib
import shutil
import subprocess
import sys

goldens, work = map(pathlib.Path, sys.argv[1:])
pieces = goldens.parent / "marian-npz-old-pre-norm" / "vocab.spm"
shutil.rmtree(work, ignore_errors=True)
work.mkdir(parents=True)
failures = []


def check(folder, texts, *flags):
    artifact = work / "artifact"
    done = subprocess.run(["heddle-compile", folder, "-o", artifact, "--target", "native",
                           "--dtype", "f32", *flags],
                          capture_output=True, text=True)
    if done.returncode != 0:
        failures.append(f"{folder.name}: {done.stderr}")
        return
    done = subprocess.run(["heddle-run", artifact, "--max-length", "16", "--scores"],
                          input="".join(line + "\n" for line in texts["lines"]),
                          capture_output=True, text=True)
    if done.returncode != 0:
        failures.append(f"{folder.name}: {done.stderr}")
        return
    lines = [line.partition("\t") for line in done.stdout.split("\n")[:-1]]
    for line, (score, _, found), text, known in zip(
            texts["lines"], lines, texts["expected"], texts["scores"], strict=True):
        # The score shows the source's tokens, too.
        if found != text or abs(float(score) - known) > 1e-4:
            failures.append(f"{folder.name} {line!r}: {score} {found!r}, expected {known} {text!r}")


for path in sorted(goldens.glob("*/texts.json")):
    folder, texts = path.parent, json.loads(path.read_text())
    if "pieces" not in folder.name:
        check(folder, texts)
        continue
    check(folder, texts, "--tokenizer", pieces)
    copy = work / folder.name
    shutil.copytree(folder, copy)
    shutil.copy(pieces, copy / "sentencepiece.bpe.model")
    check(copy, texts)

print(*failures, sep="\n")
sys.exit(len(failures) > 0)
