"""Labels of every letter of roberta-antibody-heavy or albert-ja-tagger, from the hidden
states of the encoder and a head in float64; masked letters by the task `fill`, too.

usage: check_letters.py KNOWN ARTIFACT

Logits of up to 30 are within 2e-4 of those of transformers in float64: transformers in
float32 differs by 6e-5 and 9e-5. The best ones are 2e-3 apart at least.
"""

import json
import pathlib
import subprocess
import sys

import numpy as np
from head_formulas import gelu, linear, norm, read

known, artifact = pathlib.Path(sys.argv[1]), sys.argv[2]
tensor = read(known / "model.safetensors")
with open(known / "expected.jsonl", encoding="utf-8") as file:
    lines = [json.loads(line) for line in file]
ids = "".join(" ".join(map(str, line["ids"])) + "\n" for line in lines)


def run(*flags):
    command = ["heddle-run", artifact, "--ids", *flags]
    done = subprocess.run(
        command, input=ids, text=True, check=True, stdout=subprocess.PIPE
    )
    return done.stdout


def roberta(x):
    x = norm(tensor, gelu(linear(tensor, x, "lm_head.dense")), "lm_head.layer_norm", 1e-5)
    words = tensor("roberta.embeddings.word_embeddings.weight")
    return x @ words.T + tensor("lm_head.bias")


def albert(x):
    x = gelu(linear(tensor, x, "predictions.dense"))
    x = norm(tensor, x, "predictions.LayerNorm", 1e-12)
    words = tensor("albert.embeddings.word_embeddings.weight")
    # Labels are the first 18 words.
    return x @ words[:18].T + tensor("predictions.bias")[:18]


run("--hidden", "hidden.npy")
hidden = np.load("hidden.npy").astype(np.float64)
isAlbert = (known / "characters.json").exists()
head = albert if isAlbert else roberta
logits = [head(hidden[i, : len(line["ids"])]) for i, line in enumerate(lines)]
if isAlbert:
    expected = {i: np.load(known / f"expected-logits18-{i}.npy") for i in (0, 9, 49)}
else:
    whole = np.load(known / "expected-logits.npy")
    ends = np.cumsum([len(line["ids"]) for line in lines])
    expected = dict(enumerate(np.split(whole, ends[:-1])))
difference = max(np.abs(logits[i] - expected[i]).max() for i in expected)
print(f"logits: {difference:.1e}")
assert difference <= 2e-4
for line, found in zip(lines, logits):
    assert found.argmax(axis=1).tolist() == line["labels" if isAlbert else "best"]
if not isAlbert:
    for line, found in zip(lines, run("--task", "fill").splitlines()):
        for mask in json.loads(found)["masks"]:
            assert mask["fills"][0]["id"] == line["best"][mask["token"]]
