"""Compares searches with those of transformers (test/goldens/README.md).

usage: check_search.py MODEL.heddle GOLDEN_FOLDER

Sequences are equal, or their scores are as near as those of one sequence in two
precisions: 1e-4 max(1, |score|), since a sum of log-probabilities has the errors
of the logits, 1e-4 of the largest (../tiny-models/Inputs/check.sh), while a
search takes any of several that are as good. How many differ is printed.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

artifact, folder = sys.argv[1], pathlib.Path(sys.argv[2])
cases = json.loads((folder / "search.json").read_text())
count = len(cases[0]["rows"])
sources = "".join((folder / "inputs.ids").read_text().splitlines(True)[:count])


def join(ids):
    return " ".join(map(str, ids))


def run(flags, scratch, *more):
    command = ["heddle-run", artifact, "--ids", "--no-shortlist", *more]
    for flag, value in flags.items():
        if flag in ("--bad-words", "--prefix"):
            lines = value
            if flag == "--prefix":
                lines = [value[row % len(value)] for row in range(count)]
            path = pathlib.Path(scratch) / flag.strip("-")
            path.write_text("".join(join(ids) + "\n" for ids in lines))
            value = str(path)
        elif isinstance(value, list):
            value = ",".join(map(str, value))
        command += [flag] if value is True else [flag, str(value)]
    done = subprocess.run(command, input=sources, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    return done.stdout.splitlines()


def found_by(flags, scratch, *how):
    if flags["--beam"] == 1:
        if "--renormalize" not in flags:
            return [[(line, None)] for line in run(flags, scratch, *how)]
        lines = [line.split("\t") for line in run(flags, scratch, *how, "--scores")]
        return [[(ids, float(score))] for score, ids in lines]
    rows = [[] for _ in range(count)]
    for line in run(flags, scratch, *how, "--n-best", str(flags["--beam"])):
        number, ids, _, score = line.split(" ||| ")
        rows[int(number)].append((ids, float(score)))
    return rows


sequences = other = 0
with tempfile.TemporaryDirectory() as scratch:
    for case in cases:
        flags = case["flags"]
        found = found_by(flags, scratch, "--batch", "3")
        how = ["--batch", "16", "--threads", "3", "--workers", "2"]
        assert found == found_by(flags, scratch, *how), f"{flags}: batches differ"
        for row, (mine, theirs) in enumerate(zip(found, case["rows"])):
            where = f"{flags}, sentence {row + 1}"
            assert len(mine) == len(theirs), f"{where}: {len(mine)} of {len(theirs)}"
            for (ids, score), expected in zip(mine, theirs):
                sequences += 1
                other += ids != join(expected["ids"])
                if score is None:
                    assert ids == join(expected["ids"]), f"{where}: {ids}, {expected}"
                    continue
                tolerance = 1e-4 * max(1, abs(expected["score"]))
                assert abs(score - expected["score"]) <= tolerance, (
                    f"{where}: {ids} has {score}, expected {expected}"
                )
assert other * 100 <= sequences, f"{other} of {sequences} sequences differ"
print(f"{len(cases)} cases, {sequences} sequences, {other} of them others as good")
