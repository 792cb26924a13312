"""Compiles folders of classes with heads and compares scores with those of
transformers in float64 (make_head_goldens.py).

usage: check_heads.py GOLDENS WORK FOLDER[:FLAG...]...

FLAGs go to heddle-compile, which says nothing. No score differs by more than 1e-5:
logits are sums of a few hundred products of f32, and a wrong activation, norm or
pooling moves a score by more than 1e-3.
"""

import json
import pathlib
import subprocess
import sys

BOUND = 1e-5


def run(*command, text=None):
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    if done.returncode != 0 or done.stderr:
        raise SystemExit(f"{command[1]}: {done.stderr.rstrip()}")
    return done.stdout


def places_of(line):
    """The scores of each place of a text, by label or id."""
    if "masks" in line:
        return [
            {str(fill["id"]): fill["score"] for fill in mask["fills"]}
            for mask in line["masks"]
        ]
    return [place["scores"] for place in line.get("tags", [line])]


def check(folder, flags, artifact):
    """The largest difference of a score."""
    run("heddle-compile", folder, "-o", artifact, "--target", "x86-64-v3", *flags)
    golden = json.loads((folder / "scores.json").read_text())
    texts = json.loads((folder / "texts.json").read_text())
    command = ["heddle-run", artifact, "--task", golden["task"], "--top", "100"]
    lines = run(*command, text="".join(text + "\n" for text in texts)).splitlines()
    assert len(lines) == len(texts), folder.name
    largest = 0
    for line, expected in zip(lines, golden["lines"]):
        found = places_of(json.loads(line))
        assert len(found) == len(expected), (folder.name, line)
        for scores, golden_scores in zip(found, expected):
            assert scores.keys() == golden_scores.keys(), (folder.name, line)
            for label, score in scores.items():
                largest = max(largest, abs(score - golden_scores[label]))
    return largest


def main(goldens, work, *folders):
    failed = False
    for each in folders or sorted(folder.name for folder in goldens.iterdir()):
        name, *flags = each.split(":")
        difference = check(goldens / name, flags, work / "artifact")
        print(f"{each}: {difference:.1e}")
        failed |= not difference <= BOUND
    return failed


if __name__ == "__main__":
    sys.exit(main(*map(pathlib.Path, sys.argv[1:3]), *sys.argv[3:]))
