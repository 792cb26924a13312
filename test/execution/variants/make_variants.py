"""Makes the weights and the goldens of this folder's modules.

usage: make_variants.py

Needs numpy alone. The oracle is written from the formulas in dialect/*.td, in
float64, one sentence at a time and one pair of query and key at a time: no
batch, no padding, no cache. Logits follow the first k target ids, as
`heddle-run --teacher` scores them.
"""

import json
import math
import pathlib
import struct

import numpy as np

INPUTS = pathlib.Path(__file__).parent / "Inputs"
VOCABULARY, WIDTH, HEADS = 23, 16, 2
START, EOS = 1, 2
# Lengths around the slots of rings and caches, and shorter than both.
SOURCE_LENGTHS = [5, 1, 8]
TARGET_LENGTHS = [9, 4, 1]

random = np.random.default_rng(11)


def draw(*shape, scale=None):
    scale = scale or 1.5 / math.sqrt(shape[0])
    return random.normal(0, scale, shape).astype(np.float32)


WEIGHTS = {
    "table": draw(VOCABULARY, WIDTH, scale=0.4),
    "positions": draw(16, WIDTH, scale=0.7),
    **{
        name: draw(WIDTH, WIDTH)
        for name in ["query", "key", "value", "output"]
    },
    **{
        name: draw(WIDTH, WIDTH)
        for name in ["cross_query", "cross_key", "cross_value"]
    },
    "grouped_key": draw(WIDTH, 8),
    "grouped_value": draw(WIDTH, 12),
    "grouped_output": draw(24, WIDTH),
    "forget": draw(WIDTH, WIDTH),
    "gamma": 1 + draw(WIDTH, scale=0.3),
    "beta": draw(WIDTH, scale=0.3),
    "slopes": np.array([0.5, 0.125], np.float32),
    "additive": draw(WIDTH // HEADS, scale=1.0),
    "head": draw(WIDTH, VOCABULARY),
    "head_bias": draw(VOCABULARY, scale=0.5),
}
# Drawn apart, so that what stands above and the ids stay as they are.
projections = np.random.default_rng(12)
for name, shape in {
    "project_keys": (4, 16),
    "project_values": (HEADS, 4, 16),
}.items():
    WEIGHTS[name] = projections.normal(0, 0.5, shape).astype(np.float32)
W = {name: values.astype(np.float64) for name, values in WEIGHTS.items()}


def sinusoidal(x, timescales, interleaved=False):
    y = x.copy()
    for p in range(len(x)):
        for k in range(WIDTH // 2):
            angle = p / 10000 ** (k / timescales)
            halves = (k, k + WIDTH // 2)
            sine, cosine = (2 * k, 2 * k + 1) if interleaved else halves
            y[p, sine] += math.sin(angle)
            y[p, cosine] += math.cos(angle)
    return y


def embed(ids):
    return 4 * W["table"][ids]


def layer_norm(x, epsilon=1e-5):
    deviation = np.sqrt(x.var(-1, keepdims=True) + epsilon)
    return (x - x.mean(-1, keepdims=True)) / deviation * W["gamma"] + W["beta"]


def rms_norm(x, epsilon=1e-6):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + epsilon) * W["gamma"]


def softmax(scores):
    weights = np.exp(scores - scores.max())
    return weights / weights.sum()


def attention(
    q,
    k,
    v,
    allowed=lambda h, i, j: j <= i,
    heads=HEADS,
    kv_heads=None,
    similarity=None,
    score=lambda s, h, i, j: s,
    normalizer=softmax,
):
    kv_heads = kv_heads or heads
    q = q.reshape(len(q), heads, -1)
    k = k.reshape(len(k), kv_heads, -1)
    v = v.reshape(len(v), kv_heads, -1)
    similarity = similarity or (lambda a, b: a @ b / math.sqrt(len(b)))
    y = np.zeros((len(q), heads, v.shape[2]))
    for h in range(heads):
        g = h // (heads // kv_heads)
        for i in range(len(q)):
            keys = [j for j in range(len(k)) if allowed(h, i, j)]
            if not keys:
                continue
            scores = [
                score(similarity(q[i, h], k[j, g]), h, i, j) for j in keys
            ]
            y[i, h] = normalizer(np.array(scores)) @ v[keys, g]
    return y.reshape(len(q), -1)


def elu(x):
    return np.where(x > 0, x + 1, np.exp(x))


def taylor(x):
    return np.append(x / np.linalg.norm(x), 1)


def linear_attention(
    q, k, v, features=elu, allowed=lambda i, j: True, heads=HEADS
):
    """From the scores of all pairs: no sum is carried."""
    q, k, v = (x.reshape(len(x), heads, -1) for x in [q, k, v])
    y = np.zeros((len(q), heads, v.shape[2]))
    for h in range(heads):
        for i in range(len(q)):
            scores = np.array(
                [
                    features(q[i, h]) @ features(k[j, h]) * allowed(i, j)
                    for j in range(len(k))
                ]
            )
            total = scores.sum()
            y[i, h] = scores @ v[:, h] / total if total else 0
    return y.reshape(len(q), -1)


def linear_self_attention(x, **options):
    q, k, v = (x @ W[name] for name in ["query", "key", "value"])
    return x + linear_attention(q, k, v, **options) @ W["output"]


def causal_linear_attention(features=elu, **options):
    return lambda x: linear_self_attention(
        x, features=features, allowed=lambda i, j: j <= i, **options
    )


def self_attention(x, **options):
    q, k, v = (x @ W[name] for name in ["query", "key", "value"])
    return x + attention(q, k, v, **options) @ W["output"]


def project(matrices, x):
    """One matrix of all heads, or one of each."""
    parts = np.split(x, len(matrices), axis=1)
    pairs = zip(matrices, parts)
    return np.hstack([e[:, : len(x)] @ part for e, part in pairs])


def linformer(x):
    q, k, v = (x @ W[name] for name in ["query", "key", "value"])
    k = project(W["project_keys"][np.newaxis], k)
    v = project(W["project_values"], v)
    y = attention(q, k, v, allowed=lambda h, i, j: True)
    return x + y @ W["output"]


def longformer(x):
    """Longformer's, with the first token as the global one."""
    q, k, v = (x @ W[name] for name in ["query", "key", "value"])
    y = attention(q, k, v, allowed=lambda h, i, j: abs(i - j) <= 1 or j == 0)
    own = ["cross_query", "cross_key", "forget"]
    q, k, v = (x @ W[name] for name in own)
    y[0] = attention(q[:1], k, v, allowed=lambda h, i, j: True)[0]
    return x + y @ W["output"]


def cross_attention(q, k, v):
    return attention(q, k, v, allowed=lambda h, i, j: True)


def grouped_heads(x, **options):
    y = attention(
        x @ W["query"],
        x @ W["grouped_key"],
        x @ W["grouped_value"],
        heads=4,
        kv_heads=2,
        **options,
    )
    return x + y @ W["grouped_output"]


def recurrence(x):
    gates = 1 / (1 + np.exp(-x @ W["forget"]))
    values = x @ W["value"]
    cell, cells = np.zeros(WIDTH), []
    for gate, value in zip(gates, values):
        cell = gate * cell + (1 - gate) * value
        cells.append(cell)
    return x + np.array(cells)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


ACTIVATIONS = [
    lambda x: np.maximum(x, 0),
    lambda x: x / 2 * (1 + np.vectorize(math.erf)(x / math.sqrt(2))),
    lambda x: x
    / 2
    * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    lambda x: x * sigmoid(1.702 * x),
    lambda x: x * sigmoid(x),
    np.tanh,
    sigmoid,
]


def activations(x):
    """One after the other, each behind a linear map of its own input."""
    for activation in ACTIVATIONS:
        x = x + activation(x @ W["forget"])
    return x


def normalized(function):
    def normalizer(scores):
        weights = function(scores)
        return weights / weights.sum()

    return normalizer


def gated_ffn(x):
    hidden = x @ W["forget"]
    return x + hidden * sigmoid(hidden) * (x @ W["value"]) @ W["output"]


def turn(x, base, pairs):
    """Rotary positions of the first elements of each head."""
    y = x.reshape(len(x), HEADS, -1).copy()
    for p in range(len(x)):
        angles = p / base ** (np.arange(pairs) / pairs)
        low, high = y[p, :, :pairs].copy(), y[p, :, pairs : 2 * pairs].copy()
        y[p, :, :pairs] = low * np.cos(angles) - high * np.sin(angles)
        y[p, :, pairs : 2 * pairs] = high * np.cos(angles) + low * np.sin(
            angles
        )
    return y.reshape(len(x), -1)


def rotary(x):
    q, k = (turn(x @ W[name], 100, 3) for name in ["query", "key"])
    return x + attention(q, k, x @ W["value"]) @ W["output"]


def window(left, right, dilation):
    def allowed(h, i, j):
        d = dilation[h % len(dilation)]
        return (i - j) % d == 0 and -right <= (i - j) // d <= left

    return allowed


def rounded_to_bfloat16(x):
    """To nearest even: the upper half of a float32."""
    bits = np.float32(x).view(np.uint32)
    bits += 0x7FFF + (bits >> np.uint32(16) & np.uint32(1))
    return float((bits & np.uint32(0xFFFF0000)).view(np.float32))


def narrow_score(s):
    half = float(np.float16(s / 2))
    brain = rounded_to_bfloat16(s / 2)
    return s + 0.05 * half + 0.05 * rounded_to_bfloat16(brain * brain)


# What stands between the embedded target and the cross attention.
SELF = {
    "sliding-window": lambda x: self_attention(x, allowed=window(3, 0, [1])),
    "dilated-window": lambda x: self_attention(x, allowed=window(2, 0, [1, 2])),
    "strict-past": lambda x: self_attention(x, allowed=lambda h, i, j: j < i),
    "parity": lambda x: self_attention(
        x, allowed=lambda h, i, j: j <= i and (i - j) % 2 == 0
    ),
    "grouped-heads": grouped_heads,
    "soft-cap": lambda x: self_attention(
        x, score=lambda s, h, i, j: 2 * math.tanh(s / 2)
    ),
    "alibi": lambda x: self_attention(
        x, score=lambda s, h, i, j: s - W["slopes"][h] * (i - j)
    ),
    "score-division": lambda x: self_attention(
        x,
        allowed=lambda h, i, j: j < i,
        score=lambda s, h, i, j: s
        + 0.01 * (100 // (i - j))
        - 0.1 * (7 % (i - j)),
    ),
    "score-narrow": lambda x: self_attention(
        x, score=lambda s, h, i, j: narrow_score(s)
    ),
    "score-powers": lambda x: self_attention(
        x,
        score=lambda s, h, i, j: min(max(s, -1.5), 0.75) ** ((i - j) % 4 - 1)
        - 0.01 * (j - i) ** 3,
    ),
    "additive-score": lambda x: self_attention(
        x, similarity=lambda a, b: W["additive"] @ np.tanh(a + b)
    ),
    "concat-score": lambda x: self_attention(
        x,
        similarity=lambda a, b: W["additive"][:4]
        @ np.tanh(W["forget"][8:12] @ np.concatenate([a, b])),
    ),
    "cosine-score": lambda x: self_attention(
        x,
        similarity=lambda a, b: 8
        * (a @ b)
        / (np.linalg.norm(a) * np.linalg.norm(b)),
    ),
    "kernel-pooling": lambda x: grouped_heads(
        x,
        similarity=lambda a, b: (a - b) @ (a - b),
        normalizer=normalized(lambda s: 1 / (1 + s)),
    ),
    "normalizer-sum": lambda x: self_attention(
        x,
        score=lambda s, h, i, j: s * s + 0.5,
        normalizer=normalized(lambda s: s),
    ),
    "normalizer-none": lambda x: self_attention(x, normalizer=lambda s: s),
    "normalizer-region": lambda x: self_attention(
        x, normalizer=normalized(sigmoid)
    ),
    "recurrence": recurrence,
    "positions-rotary": rotary,
    "linear-attention": causal_linear_attention(),
    "linear-attention-relu": causal_linear_attention(
        lambda x: np.maximum(x, 0)
    ),
    "linear-attention-taylor": causal_linear_attention(taylor, heads=4),
    "linear-attention-region": causal_linear_attention(lambda x: 1 + x * x),
}
POSITIONS = {
    "positions-learned": lambda x: x + W["positions"][2 : 2 + len(x)],
    "positions-interleaved": lambda x: sinusoidal(x, 8, interleaved=True),
    "positions-marian": lambda x: sinusoidal(x, 7),
    "positions-rotary": lambda x: x,
}
# What the encoder makes of the embedded source, and the decoder of that.
MEMORIES = {
    "positions-of-memory": lambda x: x
    + W["positions"][2 : 2 + len(x)]
    + W["positions"][: len(x)],
    "linear-attention": lambda x: linear_self_attention(sinusoidal(x, 8)),
    "linformer": lambda x: linformer(sinusoidal(x, 8)),
    "longformer": lambda x: longformer(sinusoidal(x, 8)),
}
# From the decoder's queries, and keys and values of the memory.
CROSS = {"linear-attention": linear_attention}
# What stands behind the cross attention.
TAILS = {
    "rms-norm": rms_norm,
    "activations": lambda x: layer_norm(activations(x)),
    "gated-ffn": lambda x: layer_norm(gated_ffn(x)),
}


def logits(variant, source, target):
    memory = MEMORIES.get(variant, lambda x: sinusoidal(x, 8))(embed(source))
    x = POSITIONS.get(variant, lambda x: sinusoidal(x, 8))(embed(target))
    x = SELF.get(variant, self_attention)(x)
    cross = CROSS.get(variant, cross_attention)
    x = x + cross(
        x @ W["cross_query"],
        memory @ W["cross_key"],
        memory @ W["cross_value"],
    )
    x = TAILS.get(variant, layer_norm)(x)
    return x @ W["head"] + W["head_bias"]


def write_safetensors(path, tensors):
    header, offset = {}, 0
    for name, values in tensors.items():
        header[name] = {
            "dtype": "F32",
            "shape": list(values.shape),
            "data_offsets": [offset, offset + values.nbytes],
        }
        offset += values.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    data = b"".join(values.tobytes() for values in tensors.values())
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def write_ids(path, rows):
    path.write_text("".join(" ".join(map(str, row)) + "\n" for row in rows))


def main():
    INPUTS.mkdir(exist_ok=True)
    write_safetensors(INPUTS / "weights.safetensors", WEIGHTS)
    sources, targets = (
        [list(random.integers(3, VOCABULARY, n - 1)) + [EOS] for n in lengths]
        for lengths in [SOURCE_LENGTHS, TARGET_LENGTHS]
    )
    write_ids(INPUTS / "sources.txt", sources)
    write_ids(INPUTS / "targets.txt", targets)
    for variant in {**SELF, **POSITIONS, **MEMORIES, **TAILS}:
        golden = np.full(
            (len(targets), max(TARGET_LENGTHS), VOCABULARY), np.nan, np.float32
        )
        for row, (source, target) in enumerate(zip(sources, targets)):
            golden[row, : len(target)] = logits(
                variant, source, [START] + target[:-1]
            )
        np.save(INPUTS / f"{variant}.npy", golden)


if __name__ == "__main__":
    main()
