"""Compares what a language model generates behind 50 prompts with what transformers
does: greedily with log-probabilities, and by four beams.

usage: check_language_model.py EXPECTED.jsonl ARTIFACT
"""

import json
import subprocess
import sys

known, artifact = sys.argv[1:]
lines = [json.loads(line) for line in open(known)]


def run(prompts, *flags):
    return subprocess.run(
        ["heddle-run", artifact, *flags],
        input="".join(prompt + "\n" for prompt in prompts),
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()


def ids_of(lines):
    return [" ".join(map(str, line["ids"])) for line in lines]


greedy = ["--max-length", "24", "--scores"]
found = [line.split("\t") for line in run(ids_of(lines), "--ids", *greedy)]
for line, (score, ids) in zip(lines, found, strict=True):
    assert list(map(int, ids.split())) == line["greedy"], line["text"]
    # Sums of 24 log-probabilities of f32.
    assert abs(float(score) - line["log_prob"]) < 1e-3, (line["text"], score)

beamed = [line for line in lines if "beam4_16" in line]
found = run(ids_of(beamed), "--ids", "--max-length", "16", "--beam", "4", "--scores")
for line, answer in zip(beamed, found, strict=True):
    score, ids = answer.split("\t")
    assert list(map(int, ids.split())) == line["beam4_16"], line["text"]
    assert abs(float(score) - line["beam4_score"]) < 1e-4, (line["text"], score)

# A text has the ids of its tokenizer; what is generated is text, too.
texts = [line for line in lines if "\n" not in line["text"] and "\n" not in line["greedy_text"]]
found = run([line["text"] for line in texts], "--max-length", "24")
assert found == [line["greedy_text"] for line in texts]
print(len(lines), "prompts,", len(beamed), "with beams,", len(texts), "as text")
