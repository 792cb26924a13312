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
         "num_hypotheses": "--n-best", "coverage_penalty": "--coverage-penalty"}
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
                abs(ours - theirs) > 1e-4 + 1e-5 * abs(theirs) for (_, ours), (_, theirs) in zip(found, expected)):
            failures.append(f"{artifact.stem} {flags} line {number}: {found}, expected {expected}")


def check_alignments(artifact, inputs, search, around):
    """Probabilities within 1e-4, and pairs of the largest where that is clear. What the
    engine adds to sources has no probabilities there."""
    flags = [str(part) for name, value in search["options"].items()
             for part in (FLAGS[name], value)]
    if "--n-best" not in flags:
        flags += ["--n-best", "1"]
    command = ["heddle-run", artifact, "--ids", "--max-length", "16", *flags]
    weights = run(*command, "--alignments=weights", lines=inputs)
    pairs = run(*command, "--alignments", lines=inputs)
    ranks = [0] * len(inputs)
    for line, paired in zip(weights, pairs, strict=True):
        number, ids, rows, *_ = line.split(" ||| ")
        number = int(number)
        rank = ranks[number]
        ranks[number] += 1
        expected = search["attention"][number][rank]
        found = [[float(weight) for weight in row.split(",")] for row in rows.split()]
        whole = found
        found = [row[around[0] : len(row) - around[1]] for row in found]
        if ids != " ".join(map(str, search["hypotheses"][number][rank])) or any(
                abs(ours - theirs) > 1e-4 for row, other in zip(found, expected, strict=True)
                for ours, theirs in zip(row, other, strict=True)):
            failures.append(f"{artifact.stem} {flags} line {number}: {found}, expected {expected}")
        for row, pair in zip(whole, paired.split(" ||| ")[2].split(), strict=True):
            best = max(range(len(row)), key=row.__getitem__)
            if pair.split("-")[0] != str(best):
                failures.append(f"{artifact.stem} line {number}: pair {pair} of {row}")
    if ranks != [len(hypotheses) for hypotheses in search["hypotheses"]]:
        failures.append(f"{artifact.stem} {flags}: hypotheses {ranks}")


def check(folder):
    artifact = work / f"{folder.name}.heddle"
    run("heddle-compile", folder, "-o", artifact, "--dtype", "f32", *sys.argv[3:])
    inputs = json.loads((folder / "expected.json").read_text())["inputs"]
    known = json.loads((folder / "decoding.json").read_text())
    config = json.loads((folder / "config.json").read_text())
    around = int(config["add_source_bos"]), int(config["add_source_eos"])
    for search in known["patience"] + known["coverage"]:
        check_search(artifact, inputs, search)
    for search in known["alignments"]:
        check_alignments(artifact, inputs, search, around)


files = sorted(folders.glob("*/decoding.json"))
for file in files:
    check(file.parent)
print(*failures, sep="\n")
sys.exit(len(failures) > 0 or not files)
