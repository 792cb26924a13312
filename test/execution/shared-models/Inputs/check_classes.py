"""Classifies the texts of rxn-bert-class, and once more from the hidden states of its
encoder.

usage: check_classes.py KNOWN ARTIFACT

Pooler and classifier compute in float64. Logits of up to 20 are within 1e-4 of those
of transformers in float64, since twelve layers in float32 are: transformers itself
differs by 3.5e-5. The best logits are 0.26 apart at least, so classes are the same.
"""

import json
import pathlib
import subprocess
import sys

import numpy as np
from head_formulas import linear, read

known, artifact = pathlib.Path(sys.argv[1]), sys.argv[2]
with open(known / "expected.jsonl", encoding="utf-8") as file:
    lines = [json.loads(line) for line in file]
ids = "".join(" ".join(map(str, line["ids"])) + "\n" for line in lines)
command = ["heddle-run", artifact, "--ids", "--hidden", "hidden.npy"]
subprocess.run(command, input=ids, text=True, check=True)
first = np.load("hidden.npy")[:, 0].astype(np.float64)

tensor = read(known / "model.safetensors")
pooled = np.tanh(linear(tensor, first, "bert.pooler.dense"))
logits = linear(tensor, pooled, "classifier")
expected = np.load(known / "expected-logits.npy")
assert logits.shape == expected.shape, (logits.shape, expected.shape)
difference = np.abs(logits - expected).max()
print(f"logits of up to {np.abs(expected).max():.3g}: {difference:.1e}")
assert difference <= 1e-4
assert logits.argmax(axis=1).tolist() == [line["label"] for line in lines]

# The task itself: labels are their numbers, probabilities those of the logits.
command = ["heddle-run", artifact, "--ids"]
done = subprocess.run(command, input=ids, text=True, check=True, stdout=subprocess.PIPE)
found = [json.loads(line) for line in done.stdout.splitlines()]
assert [label["label"] for label in found] == [f"LABEL_{line['label']}" for line in lines]
exponentials = np.exp(expected - expected.max(axis=1, keepdims=True))
best = (exponentials / exponentials.sum(axis=1, keepdims=True)).max(axis=1)
difference = np.abs([label["score"] for label in found] - best).max()
print(f"probabilities: {difference:.1e}")
# Half of what logits may differ by.
assert difference <= 5e-5
