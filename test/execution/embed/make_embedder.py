"""Makes the weights and the goldens of embedder.mlir.

usage: make_embedder.py

Needs numpy alone. The oracle computes in float64, one text at a time: no batch,
no padding. Writes, beside itself:

    weights.safetensors  what --weights reads
    lines.ids            texts, a line each
    vectors.npy          f32 [texts, 24]: their vectors
"""

import json
import math
import pathlib
import struct

import numpy as np

FOLDER = pathlib.Path(__file__).parent
VOCABULARY, WIDTH, HEADS, HIDDEN = 12, 8, 2, 16
PAD, POSITIONS, BUCKETS, FAR = 1, 16, 16, 12
MATRICES = ["query", "key", "value", "output"]
# Padding in the middle and at the end, a token alone, repeated ones, and a text
# of all positions.
LINES = [
    [7, 4, 9, 2],
    [5],
    [3, 1, 10, 1, 8, 4, 2],
    [6, 6, 6],
    [2, 11, 0, 1],
    [3, 11, 10, 6, 8, 4, 2, 0, 9, 5, 7, 3, 3, 8, 1, 2],
]


def draw_weights(seed):
    random = np.random.default_rng(seed)

    def draw(*shape, scale, around=0):
        return random.normal(around, scale, shape).astype(np.float32)

    weights = {
        "words": draw(VOCABULARY, WIDTH, scale=1),
        "types": draw(2, WIDTH, scale=1),
        "positions": draw(PAD + 1 + POSITIONS, WIDTH, scale=1),
        "buckets": draw(BUCKETS, HEADS, scale=1),
        "ffn.w1": draw(WIDTH, HIDDEN, scale=0.5),
        "ffn.b1": draw(HIDDEN, scale=0.3),
        "ffn.w2": draw(HIDDEN, WIDTH, scale=0.5),
        "ffn.b2": draw(WIDTH, scale=0.3),
    }
    for name in MATRICES:
        weights[f"attention.{name}"] = draw(WIDTH, WIDTH, scale=0.6)
    for layer in ["embedding", "attention", "ffn"]:
        weights[f"{layer}.gain"] = draw(WIDTH, scale=0.3, around=1)
        weights[f"{layer}.bias"] = draw(WIDTH, scale=0.3)
    return weights


def bucket_of(distance):
    """T5's bucket of key - query, of both directions."""
    side = BUCKETS // 2
    exact = side // 2
    first = side if distance > 0 else 0
    away = abs(distance)
    if away < exact:
        return first + away
    beyond = math.log(away / exact) / math.log(FAR / exact) * (side - exact)
    # No distance of a text is where rounding decides.
    assert away >= FAR or away == exact or abs(beyond - round(beyond)) > 1e-6
    return first + min(exact + int(beyond), side - 1)


def positions_of(ids):
    """RoBERTa's: padding has position PAD, other tokens count from PAD + 1."""
    counts = np.cumsum(np.array(ids) != PAD)
    return np.where(np.array(ids) == PAD, PAD, PAD + counts)


class Oracle:
    def __init__(self, weights):
        self.weights = {k: v.astype(np.float64) for k, v in weights.items()}

    def normalize(self, layer, x):
        deviation = np.sqrt(x.var(-1, keepdims=True) + 1e-5)
        normal = (x - x.mean(-1, keepdims=True)) / deviation
        return normal * self.weights[f"{layer}.gain"] + self.weights[f"{layer}.bias"]

    def encode(self, ids):
        w = self.weights
        # Tokens of lines of ids have type 0.
        x = w["words"][ids] + w["types"][0] + w["positions"][positions_of(ids)]
        x = self.normalize("embedding", x)
        q, k, v = (
            (x @ w[f"attention.{name}"]).reshape(len(ids), HEADS, -1)
            for name in MATRICES[:3]
        )
        heads = np.zeros_like(q)
        for head in range(HEADS):
            for i in range(len(ids)):
                biases = [w["buckets"][bucket_of(j - i), head] for j in range(len(ids))]
                scores = k[:, head] @ q[i, head] * 0.5 + biases
                weights = np.exp(scores - scores.max())
                heads[i, head] = weights / weights.sum() @ v[:, head]
        x = self.normalize(
            "attention", x + heads.reshape(x.shape) @ w["attention.output"]
        )
        hidden = np.maximum(0, x @ w["ffn.w1"] + w["ffn.b1"])
        return self.normalize("ffn", x + hidden @ w["ffn.w2"] + w["ffn.b2"])

    def embed(self, ids):
        memory = self.encode(ids)
        vector = np.concatenate([memory[0], memory.max(0), memory.mean(0)])
        return vector / np.linalg.norm(vector)


def write_safetensors(path, tensors):
    header, offset = {}, 0
    for name, values in tensors.items():
        end = offset + values.nbytes
        header[name] = {
            "dtype": "F32",
            "shape": list(values.shape),
            "data_offsets": [offset, end],
        }
        offset = end
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for values in tensors.values():
            file.write(values.tobytes())


def main():
    weights = draw_weights(7)
    oracle = Oracle(weights)
    write_safetensors(FOLDER / "weights.safetensors", weights)
    lines = "".join(" ".join(map(str, ids)) + "\n" for ids in LINES)
    (FOLDER / "lines.ids").write_text(lines)
    vectors = np.array([oracle.embed(ids) for ids in LINES])
    np.save(FOLDER / "vectors.npy", vectors.astype(np.float32))


if __name__ == "__main__":
    main()
