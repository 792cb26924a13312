"""Compares searches of folders of CTranslate2 with what CTranslate2 found
(make_decoding_goldens.py): the same hypotheses in the same order, scores within 1e-4.

usage: check_decoding.py FOLDERS WORK FLAG...
"""

import json
import pathlib
import subprocess
import sys

folders, work = map(pathlib.Path, sys.argv[1:3])
work.mkdir(parents=True, exist_ok=True)
FLAGS = {"beam_size": "--beam", "patience": "--patience", "length_penalty": "--length-penalty",
         "num_hypotheses": "--n-best"}
failures = []


def run(*command, lines=()):
    text = "".join(" ".join(map(str, line)) + "\n" for line in lines)
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr}")
    return done.stdout.splitlines()


def check_search(artifact, inputs, search):
    flags = [str(part) for name, value in search["options"].items()
             for part in (FLAGS[name], value)]
    lists = [[] for _ in inputs]
    for line in run("heddle-run", artifact, "--ids", "--max-length", "16", *flags, lines=inputs):
        number, ids, *_, score = line.split(" ||| ")
        lists[int(number)].append(([int(i) for i in ids.split()], float(score)))
    for number, found in enumerate(lists):
        expected = list(zip(search["hypotheses"][number], search["scores"][number]))
        if [ids for ids, _ in found] != [ids for ids, _ in expected] or any(
                abs(ours - theirs) > 1e-4 for (_, ours), (_, theirs) in zip(found, expected)):
            failures.append(f"{artifact.stem} {flags} line {number}: {found}, expected {expected}")


def check(folder):
    artifact = work / f"{folder.name}.heddle"
    run("heddle-compile", folder, "-o", artifact, "--dtype", "f32", *sys.argv[3:])
    inputs = json.loads((folder / "expected.json").read_text())["inputs"]
    known = json.loads((folder / "decoding.json").read_text())
    for search in known["patience"]:
        check_search(artifact, inputs, search)


files = sorted(folders.glob("*/decoding.json"))
for file in files:
    check(file.parent)
print(*failures, sep="\n")
sys.exit(len(failures) > 0 or not files)
