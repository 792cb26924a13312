"""Compares what four beams find of each source with what transformers found in float64:
all hypotheses and their scores.

usage: check_beams.py GOLDEN ARTIFACT [FLAG...]

FLAGs go to heddle-run.
"""

import json
import pathlib
import subprocess
import sys

golden, artifact, *flags = sys.argv[1:]
command = ["heddle-run", artifact, "--ids", "--beam", "4", "--n-best", "4", *flags]
sources = pathlib.Path(golden, "inputs.ids").read_text()
done = subprocess.run(command, input=sources, stdout=-1, text=True, check=True)
found = [line.split(" ||| ") for line in done.stdout.splitlines()]
for line in pathlib.Path(golden, "beams.jsonl").read_text().splitlines():
    beams = json.loads(line)
    hypotheses, found = found[: len(beams["ids"])], found[len(beams["ids"]) :]
    ids = [list(map(int, each[1].split())) for each in hypotheses]
    assert ids == beams["ids"], (golden, ids, beams)
    for each, score in zip(hypotheses, beams["scores"]):
        # Sums of f32 log-probabilities: see check.sh of logits.
        assert abs(float(each[3]) - score) < 1e-4, (golden, each, score)
assert not found
