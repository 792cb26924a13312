"""GPT-2 in float64: the greedy continuation of each line of ids, and the sum of
its log-probabilities. Arguments: config.json, weights, how many tokens."""

import json
import math
import struct
import sys

import numpy as np


def read(path):
    data = open(path, "rb").read()
    (size,) = struct.unpack_from("<Q", data)
    tensors = {}
    for name, tensor in json.loads(data[8 : 8 + size]).items():
        if name != "__metadata__":
            begin, end = tensor["data_offsets"]
            values = np.frombuffer(data[8 + size + begin : 8 + size + end], np.float32)
            tensors[name] = values.reshape(tensor["shape"]).astype(np.float64)
    return tensors


config, w = json.load(open(sys.argv[1])), read(sys.argv[2])
heads, epsilon = config["n_head"], config["layer_norm_epsilon"]


def norm(x, name):
    x = x - x.mean(-1, keepdims=True)
    x = x / np.sqrt((x * x).mean(-1, keepdims=True) + epsilon)
    return x * w[name + ".weight"] + w[name + ".bias"]


def linear(x, name):
    return x @ w[name + ".weight"] + w[name + ".bias"]


def gelu(x):
    return x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def attend(q, k, v):
    scores = q @ k.T / math.sqrt(q.shape[1])
    scores[np.triu_indices(len(q), 1)] = -np.inf
    p = np.exp(scores - scores.max(1, keepdims=True))
    return p / p.sum(1, keepdims=True) @ v


def logits(ids):
    x = w["transformer.wte.weight"][ids] + w["transformer.wpe.weight"][: len(ids)]
    for layer in range(config["n_layer"]):
        h = f"transformer.h.{layer}."
        parts = np.split(linear(norm(x, h + "ln_1"), h + "attn.c_attn"), 3, axis=1)
        rows = [np.split(part, heads, axis=1) for part in parts]
        y = np.concatenate([attend(*each) for each in zip(*rows)], axis=1)
        x = x + linear(y, h + "attn.c_proj")
        x = x + linear(
            gelu(linear(norm(x, h + "ln_2"), h + "mlp.c_fc")), h + "mlp.c_proj"
        )
    return norm(x, "transformer.ln_f")[-1] @ w["lm_head.weight"].T


for line in sys.stdin:
    ids, found, total = list(map(int, line.split())), [], 0.0
    for _ in range(int(sys.argv[3])):
        scores = logits(ids + found)
        top = np.sort(scores)
        assert top[-1] - top[-2] > 1e-4, "two tokens are too close"
        found.append(int(scores.argmax()))
        total += scores.max() - scores.max() - math.log(
            np.exp(scores - scores.max()).sum()
        )
    print(f"{total:.5f}\t{' '.join(map(str, found))}")
