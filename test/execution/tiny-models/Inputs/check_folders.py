"""Compiles the folders of test/goldens/folders and compares what each finds by its
own search with generate() of transformers (make_folder_goldens.py). The reference
lowering computes: settings of the folders are what is looked at.

usage: check_folders.py FOLDERS WORK

Ids and texts are equal, scores within 1e-4 max(1, |score|): a sum of
log-probabilities has the errors of the logits, 1e-4 of the largest (check.sh).
"""

import pathlib
import subprocess
import sys

folders, work = map(pathlib.Path, sys.argv[1:])
work.mkdir(parents=True, exist_ok=True)


def run(*command, stdin=None):
    done = subprocess.run(command, stdin=stdin, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr}")
    return done.stdout.splitlines()


def is_near(found, expected):
    score, line = found.split("\t")
    known, text = expected.split("\t")
    near = abs(float(score) - float(known)) <= 1e-4 * max(1, abs(float(known)))
    return near and line == text


failures = []
for folder in sorted(folders.iterdir()):
    artifact = work / f"{folder.name}.heddle"
    flags = ["--target", "x86-64-v3", "--reference"]
    run("heddle-compile", folder, "-o", artifact, *flags)
    flags = (folder / "flags").read_text().split()
    with open(folder / "lines", encoding="utf-8") as lines:
        found = run("heddle-run", artifact, "--scores", *flags, stdin=lines)
    expected = (folder / "expected").read_text(encoding="utf-8").splitlines()
    if len(found) != len(expected):
        failures.append(f"{folder.name}: {len(found)} lines")
    for pair in zip(found, expected):
        if not is_near(*pair):
            failures.append(f"{folder.name}: {pair[0]!r}, expected {pair[1]!r}")
print("\n".join(failures))
sys.exit(len(failures) > 0)
