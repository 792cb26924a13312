"""Compares what heddle-run prints of labels.

usage: compare_labels.py GOLDEN PREFIX --within BOUND

GOLDEN is a labels.json, and PREFIX.classify, PREFIX.tag and PREFIX.fill have all
scores, a JSON object a line. No score differs by more than BOUND, and the best
ones stand first.
"""

import argparse
import json

parser = argparse.ArgumentParser()
parser.add_argument("golden")
parser.add_argument("prefix")
parser.add_argument("--within", type=float, required=True)
arguments = parser.parse_args()

NAMES = {"classify": ["bad", "good"], "tag": ["nothing", "name", "place"]}


def scores_of(task, line):
    """Of each place, by its token: a score for each label or word."""
    if task == "fill":
        return {
            mask["token"]: {fill["id"]: fill["score"] for fill in mask["fills"]}
            for mask in line["masks"]
        }
    places = [line | {"token": 0}] if task == "classify" else line["tags"]
    for place in places:
        assert next(iter(place["scores"])) == place["label"]
        assert place["scores"][place["label"]] == place["score"]
    return {
        place["token"]: {
            NAMES[task].index(label): score for label, score in place["scores"].items()
        }
        for place in places
    }


largest = 0
for task, texts in json.load(open(arguments.golden)).items():
    lines = open(f"{arguments.prefix}.{task}").read().splitlines()
    assert len(lines) == len(texts)
    for line, text in zip(lines, texts):
        places = scores_of(task, json.loads(line))
        assert [str(token) for token in places] == list(text), line
        for scores, expected in zip(places.values(), text.values()):
            assert list(scores.values()) == sorted(scores.values(), reverse=True)
            assert sorted(scores) == list(range(len(expected))), line
            for label, score in scores.items():
                largest = max(largest, abs(score - expected[label]))
print(f"largest difference {largest:.2g}")
assert largest <= arguments.within
