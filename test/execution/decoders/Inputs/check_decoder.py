"""Compiles a decoder of test/goldens/decoders and compares what it computes of prompts
with what transformers computed in float64: logits in the full form, step by step and as a
prefill, what greedy search finds, as text, too, and four beams with their scores.

usage: check_decoder.py GOLDEN WORK [FLAG...]

FLAGs go to heddle-compile.
"""

import json
import pathlib
import subprocess
import sys

import numpy as np

# Of the largest logit: float32 against float64 leaves 2e-6; a wrong frequency, epsilon or
# activation is above 1e-4.
BOUND = 1e-5


def run(*command, text=None):
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{command}: {done.stderr.rstrip()}")
    return done.stdout


def check_logits(golden, artifact, prompts):
    expected = np.load(golden / "logits.npy")
    full = {}
    for form in ("full", "step", "prefill"):
        for batch in (8, 1, 3):
            file = artifact.with_suffix(".npy")
            teacher = ["--form", form, "--teacher", golden / "teacher.ids", "--logits", file]
            run("heddle-run", artifact, "--ids", "--batch", str(batch), *teacher, text=prompts)
            found = np.load(file)
            assert (np.isnan(found) == np.isnan(expected)).all(), form
            error = np.nanmax(abs(found - expected)) / np.nanmax(abs(expected))
            assert error <= BOUND, (golden.name, form, error)
            # Neither a batch's size nor its padding changes a bit.
            assert full.setdefault(form, found.tobytes()) == found.tobytes(), form
    assert full["prefill"] == full["full"]


def main(golden, work, *flags):
    golden, artifact = pathlib.Path(golden), pathlib.Path(work) / "artifact"
    run("heddle-compile", golden, "-o", artifact, *flags)
    prompts = (golden / "inputs.ids").read_text()
    check_logits(golden, artifact, prompts)
    limit = []
    if (golden / "max-length").exists():
        limit = ["--max-length", (golden / "max-length").read_text().strip()]
    expected = (golden / "greedy.ids").read_text()
    for more in (["--batch", "1"], ["--batch", "3", "--threads", "2"], ["--batch", "8"]):
        found = run("heddle-run", artifact, "--ids", *limit, *more, text=prompts)
        assert found == expected, (golden.name, found, expected)
    command = ["heddle-run", artifact, "--ids", "--beam", "4", "--n-best", "4", *limit]
    found = [line.split(" ||| ") for line in run(*command, text=prompts).splitlines()]
    for line in (golden / "beams.jsonl").read_text().splitlines():
        beams = json.loads(line)
        hypotheses, found = found[: len(beams["ids"])], found[len(beams["ids"]) :]
        ids = [list(map(int, each[1].split())) for each in hypotheses]
        assert ids == beams["ids"], (golden.name, ids, beams)
        for each, score in zip(hypotheses, beams["scores"]):
            # Sums of f32 log-probabilities, see BOUND.
            assert abs(float(each[3]) - score) < 1e-4, (golden.name, each, score)
    assert not found
    if (golden / "prompts.txt").exists():
        texts, expected = (
            (golden / name).read_text() for name in ("prompts.txt", "greedy.txt")
        )
        assert run("heddle-run", artifact, *limit, text=texts) == expected, golden.name
        # A text alone is continued in lines of its own.
        for prompt, line in zip(texts.splitlines(), expected.splitlines(), strict=True):
            found = run("heddle-run", artifact, *limit, "--", prompt)
            assert found.endswith("\n") and found[:-1].replace("\n", " ") == line, prompt


main(*sys.argv[1:])
