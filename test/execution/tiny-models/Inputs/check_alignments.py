"""Compares what tokens of a greedy search attend to in their sources with the golden's
alignments.json.

usage: check_alignments.py GOLDEN MODEL
"""

import json
import pathlib
import subprocess
import sys

golden, model = pathlib.Path(sys.argv[1]), sys.argv[2]
command = ["heddle-run", model, "--ids", "--beam", "1", "--n-best", "1", "--alignments=weights"]
with open(golden / "inputs.ids") as inputs:
    lines = subprocess.run(command, stdin=inputs, capture_output=True, text=True, check=True)
found = [[[float(weight) for weight in row.split(",")] for row in line.split(" ||| ")[2].split()]
         for line in lines.stdout.splitlines()]
expected = json.loads((golden / "alignments.json").read_text())
assert len(found) == len(expected)
for number, (ours, theirs) in enumerate(zip(found, expected)):
    assert [len(row) for row in ours] == [len(row) for row in theirs], number
    # Both are rounded to 6 digits; f32 is 2e-6 off, and another layer or head 1e-2.
    wrong = [(row, a, b) for row, (one, other) in enumerate(zip(ours, theirs))
             for a, b in zip(one, other) if abs(a - b) > 1e-5]
    assert not wrong, (number, wrong[:3])
