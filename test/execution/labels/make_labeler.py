"""Makes the weights and the goldens of labeler.mlir.

usage: make_labeler.py

Needs numpy alone. The oracle computes in float64, one text at a time: no batch,
no padding. Writes, beside itself:

    weights.safetensors  what --weights reads
    lines.ids            texts, a line each
    labels.json          of each task, for each text: the probabilities of each
                         place, by token
"""

import json
import pathlib
import sys

import numpy as np

FOLDER = pathlib.Path(__file__).parent
sys.path.insert(0, str(FOLDER.parent / "embed"))
from make_embedder import write_safetensors

VOCABULARY, WIDTH, HEADS, POSITIONS, MASK = 12, 8, 2, 16, 3
LABELS = {"classify": 2, "tag": 3}
MATRICES = ["query", "key", "value", "output"]
# Masks at both ends, side by side, alone and none; and a text of all positions.
LINES = [
    [7, 4, 3, 2],
    [5],
    [3],
    [3, 3, 10, 1, 8, 4, 3],
    [2, 11, 0, 1],
    [0, 11, 10, 6, 8, 4, 2, 0, 9, 5, 7, 1, 3, 8, 1, 2],
]


def draw_weights(seed):
    random = np.random.default_rng(seed)

    def draw(*shape, scale, around=0):
        return random.normal(around, scale, shape).astype(np.float32)

    weights = {
        "words": draw(VOCABULARY, WIDTH, scale=0.6),
        "positions": draw(POSITIONS, WIDTH, scale=1),
        "gain": draw(WIDTH, scale=0.3, around=1),
        "bias": draw(WIDTH, scale=0.3),
        "pooler.weight": draw(WIDTH, WIDTH, scale=0.5),
        "pooler.bias": draw(WIDTH, scale=0.3),
        "fill.bias": draw(VOCABULARY, scale=0.3),
    }
    weights["fill.weight"] = weights["words"]
    for name in MATRICES:
        weights[name] = draw(WIDTH, WIDTH, scale=0.6)
    for task, count in LABELS.items():
        weights[f"{task}.weight"] = draw(WIDTH, count, scale=0.4)
        weights[f"{task}.bias"] = draw(count, scale=0.3)
    return weights


def softmax(logits):
    powers = np.exp(logits - logits.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


class Oracle:
    def __init__(self, weights):
        self.weights = {k: v.astype(np.float64) for k, v in weights.items()}

    def encode(self, ids):
        w = self.weights
        x = w["words"][ids] + w["positions"][: len(ids)]
        q, k, v = (
            (x @ w[name]).reshape(len(ids), HEADS, -1).swapaxes(0, 1)
            for name in MATRICES[:3]
        )
        heads = softmax(q @ k.swapaxes(1, 2) * 0.5) @ v
        x = x + heads.swapaxes(0, 1).reshape(x.shape) @ w["output"]
        deviation = np.sqrt(x.var(-1, keepdims=True) + 1e-5)
        return (x - x.mean(-1, keepdims=True)) / deviation * w["gain"] + w["bias"]

    def label(self, ids):
        """Of each task, the probabilities of each place by its token."""
        w, memory = self.weights, self.encode(ids)
        pooled = np.tanh(memory[0] @ w["pooler.weight"] + w["pooler.bias"])
        logits = {
            "classify": {0: pooled @ w["classify.weight"] + w["classify.bias"]},
            "tag": dict(enumerate(memory @ w["tag.weight"] + w["tag.bias"])),
            "fill": {
                i: memory[i] @ w["fill.weight"].T + w["fill.bias"]
                for i, token in enumerate(ids)
                if token == MASK
            },
        }
        return {
            task: {place: softmax(row).tolist() for place, row in rows.items()}
            for task, rows in logits.items()
        }


def main():
    weights = draw_weights(1)
    oracle = Oracle(weights)
    write_safetensors(FOLDER / "weights.safetensors", weights)
    lines = "".join(" ".join(map(str, ids)) + "\n" for ids in LINES)
    (FOLDER / "lines.ids").write_text(lines)
    texts = [oracle.label(ids) for ids in LINES]
    # The best of a place leads by more than the tests' tolerance.
    for text in texts:
        for rows in text.values():
            for row in rows.values():
                assert np.diff(sorted(row)).min() > 3e-5, row
    golden = {task: [text[task] for text in texts] for task in texts[0]}
    (FOLDER / "labels.json").write_text(json.dumps(golden, indent=1) + "\n")


if __name__ == "__main__":
    main()
