"""Makes the weights and the goldens of encoder-decoder.mlir.

usage: make_example.py

Needs numpy alone. The oracle follows arXiv:1706.03762 in float64, one sentence
at a time, the whole prefix again for every token: no batch, no padding, no
cache. Writes, beside itself:

    weights.safetensors  what --weights reads
    source.ids           sentences, a line each
    target.ids           words to score, without the start
    logits.npy           f32 [sentences, longest target, vocabulary]: [r, k]
                         follows the start and the first k words of row r; NaN
                         behind a row's end
    greedy.ids           greedy output, with its end
"""

import json
import math
import pathlib
import struct

import numpy as np

FOLDER = pathlib.Path(__file__).parent
VOCABULARY, WIDTH, HEADS, HIDDEN = 12, 8, 2, 16
MATRICES = ["query", "key", "value", "output"]
START, END, MAX_LENGTH = 1, 2, 10
SOURCES = [[7, 4, 9, 2], [5, 2], [3, 11, 10, 6, 8, 4, 2]]
TARGETS = [[3, 8, 5, 2], [10, 4, 7, 7, 6, 2], [9, 2]]
# Its greedy outputs differ, end before the limit and at it, and lead every
# other word by a hundred times the tolerance of the test.
SEED = 628


def draw_weights(seed):
    random = np.random.default_rng(seed)

    def draw(*shape, scale, around=0):
        return random.normal(around, scale, shape).astype(np.float32)

    weights = {"embedding": draw(VOCABULARY, WIDTH, scale=WIDTH**-0.5)}
    weights["output"] = weights["embedding"]
    sublayers = {
        "encoder": ["self_attention", "ffn"],
        "decoder": ["self_attention", "cross_attention", "ffn"],
    }
    for side, names in sublayers.items():
        for name in names:
            prefix = f"{side}.{name}"
            if name == "ffn":
                weights[f"{prefix}.w1"] = draw(WIDTH, HIDDEN, scale=0.5)
                weights[f"{prefix}.b1"] = draw(HIDDEN, scale=0.3)
                weights[f"{prefix}.w2"] = draw(HIDDEN, WIDTH, scale=0.5)
                weights[f"{prefix}.b2"] = draw(WIDTH, scale=0.3)
            else:
                for matrix in MATRICES:
                    square = draw(WIDTH, WIDTH, scale=0.6)
                    weights[f"{prefix}.{matrix}"] = square
            weights[f"{prefix}.norm.gain"] = draw(WIDTH, scale=0.3, around=1)
            weights[f"{prefix}.norm.bias"] = draw(WIDTH, scale=0.3)
    return weights


class Oracle:
    def __init__(self, weights):
        self.weights = {k: v.astype(np.float64) for k, v in weights.items()}

    def embed(self, ids):
        x = math.sqrt(WIDTH) * self.weights["embedding"][ids]
        for position in range(len(ids)):
            for i in range(WIDTH // 2):
                angle = position / 10000 ** (2 * i / WIDTH)
                x[position, 2 * i] += math.sin(angle)
                x[position, 2 * i + 1] += math.cos(angle)
        return x

    def attend(self, prefix, x, memory, causal):
        wq, wk, wv, wo = (self.weights[f"{prefix}.{name}"] for name in MATRICES)
        q = (x @ wq).reshape(len(x), HEADS, -1)
        k = (memory @ wk).reshape(len(memory), HEADS, -1)
        v = (memory @ wv).reshape(len(memory), HEADS, -1)
        heads = np.zeros((len(x), HEADS, WIDTH // HEADS))
        for head in range(HEADS):
            for i in range(len(x)):
                end = i + 1 if causal else len(memory)
                scores = k[:end, head] @ q[i, head] / math.sqrt(WIDTH // HEADS)
                weights = np.exp(scores - scores.max())
                heads[i, head] = weights / weights.sum() @ v[:end, head]
        return self.normalize(prefix, x + heads.reshape(len(x), WIDTH) @ wo)

    def feed(self, prefix, x):
        w = self.weights
        hidden = np.maximum(0, x @ w[f"{prefix}.w1"] + w[f"{prefix}.b1"])
        y = hidden @ w[f"{prefix}.w2"] + w[f"{prefix}.b2"]
        return self.normalize(prefix, x + y)

    def normalize(self, prefix, x):
        deviation = np.sqrt(x.var(-1, keepdims=True) + 1e-5)
        normal = (x - x.mean(-1, keepdims=True)) / deviation
        gain, bias = (
            self.weights[f"{prefix}.norm.{name}"] for name in ["gain", "bias"]
        )
        return normal * gain + bias

    def encode(self, ids):
        x = self.embed(ids)
        x = self.attend("encoder.self_attention", x, x, causal=False)
        return self.feed("encoder.ffn", x)

    def decode(self, ids, memory):
        x = self.embed(ids)
        x = self.attend("decoder.self_attention", x, x, causal=True)
        x = self.attend("decoder.cross_attention", x, memory, causal=False)
        return self.feed("decoder.ffn", x) @ self.weights["output"].T

    def translate(self, ids):
        """Greedy output, and the smallest lead of a word over the others."""
        memory, target, lead = self.encode(ids), [], math.inf
        while len(target) < MAX_LENGTH and target[-1:] != [END]:
            logits = self.decode([START, *target], memory)[-1]
            second, first = np.sort(logits)[-2:]
            lead = min(lead, first - second)
            target.append(int(logits.argmax()))
        return target, lead


def score(oracle):
    longest = max(map(len, TARGETS))
    logits = np.full((len(TARGETS), longest, VOCABULARY), np.nan, np.float32)
    for row, (source, target) in enumerate(zip(SOURCES, TARGETS)):
        memory = oracle.encode(source)
        prefix = [START, *target[:-1]]
        logits[row, : len(target)] = oracle.decode(prefix, memory)
    return logits


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


def write_ids(path, lines):
    path.write_text("".join(" ".join(map(str, ids)) + "\n" for ids in lines))


def main():
    weights = draw_weights(SEED)
    oracle = Oracle(weights)
    outputs = [oracle.translate(source) for source in SOURCES]
    logits = score(oracle)
    assert len({tuple(ids) for ids, _ in outputs}) == len(SOURCES)
    assert min(lead for _, lead in outputs) > 1e-3 * np.nanmax(abs(logits))
    write_safetensors(FOLDER / "weights.safetensors", weights)
    write_ids(FOLDER / "source.ids", SOURCES)
    write_ids(FOLDER / "target.ids", TARGETS)
    np.save(FOLDER / "logits.npy", logits)
    write_ids(FOLDER / "greedy.ids", [ids for ids, _ in outputs])


if __name__ == "__main__":
    main()
