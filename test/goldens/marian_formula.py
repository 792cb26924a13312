"""Marian's transformer as its src/models/transformer.h has it, in float64.

Written down from there, for what transformers has no model for; where it has
one, make_marian_goldens.py asserts that both agree. Tensors have Marian's names
and options those of special:model.yml. One sentence at a time, without masks
other than the causal one.
"""

import math

import numpy as np

ACTIVATIONS = {
    "relu": lambda x: np.maximum(x, 0),
    "swish": lambda x: x / (1 + np.exp(-x)),
    "gelu": lambda x: x / (1 + np.exp(-1.702 * x)),
}
EPSILON = 1e-6


def timing(length, width):
    """Sines, then cosines, of width / 2 timescales from 1 to 10,000."""
    scales = width // 2
    rates = np.exp(-math.log(10000.0) / (scales - 1) * np.arange(scales))
    angles = np.arange(length)[:, None] * rates
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=1)


class Marian:
    def __init__(self, tensors, options):
        self.tensors = {k: v.astype(np.float64) for k, v in tensors.items()}
        self.options = options
        # Of each attention that was computed last, f64 [heads, queries, keys].
        self.weights = {}

    def dense(self, x, prefix, suffix):
        weight = self.tensors[f"{prefix}_W{suffix}"]
        return x @ weight + self.tensors[f"{prefix}_b{suffix}"][0]

    def norm(self, x, prefix, suffix=""):
        x = x - x.mean(-1, keepdims=True)
        x = x / np.sqrt((x * x).mean(-1, keepdims=True) + EPSILON)
        scale = self.tensors[f"{prefix}_ln_scale{suffix}"][0]
        return x * scale + self.tensors[f"{prefix}_ln_bias{suffix}"][0]

    def preprocess(self, x, prefix, steps):
        for step in steps:
            if step == "n":
                x = self.norm(x, prefix, "_pre")
        return x

    def postprocess(self, x, before, prefix, steps):
        for step in steps:
            if step == "a":
                x = x + before
            elif step == "n":
                x = self.norm(x, prefix)
        return x

    def attention(self, x, memory, causal, prefix):
        steps = self.options["transformer-preprocess"]
        normed = self.preprocess(x, f"{prefix}_Wo", steps)
        if memory is None:
            # Until 2022 queries alone were made of the normed input.
            minor = int(self.options["version"].split(".")[1])
            memory = normed if minor >= 11 else x
        heads = self.options["transformer-heads"]

        def split(rows):
            return rows.reshape(len(rows), heads, -1).swapaxes(0, 1)

        q = split(self.dense(normed, prefix, "q"))
        k = split(self.dense(memory, prefix, "k"))
        v = split(self.dense(memory, prefix, "v"))
        scores = q @ k.swapaxes(1, 2) / math.sqrt(q.shape[2])
        if causal:
            scores += np.triu(np.full(scores.shape[1:], -np.inf), 1)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        weights /= weights.sum(-1, keepdims=True)
        self.weights[prefix] = weights
        y = (weights @ v).swapaxes(0, 1).reshape(len(x), -1)
        y = self.dense(y, prefix, "o")
        steps = self.options["transformer-postprocess"]
        return self.postprocess(y, x, f"{prefix}_Wo", steps)

    def recurrence(self, x, prefix):
        """SSRU: c_t = f_t c_{t-1} + (1 - f_t) W x_t, h_t = relu(c_t)."""
        steps = self.options["transformer-preprocess"]
        normed = self.preprocess(x, prefix, steps)
        forget = 1 / (1 + np.exp(-self.dense(normed, prefix, "f")))
        values = (1 - forget) * (normed @ self.tensors[f"{prefix}_W"])
        cell, rows = np.zeros(x.shape[1]), []
        for f, value in zip(forget, values):
            cell = f * cell + value
            rows.append(np.maximum(cell, 0))
        steps = self.options["transformer-postprocess"]
        return self.postprocess(np.array(rows), x, f"{prefix}_ffn", steps)

    def feed_forward(self, x, prefix):
        steps = self.options["transformer-preprocess"]
        y = self.preprocess(x, f"{prefix}_ffn", steps)
        activation = self.options["transformer-ffn-activation"]
        y = ACTIVATIONS[activation](self.dense(y, prefix, "1"))
        y = self.dense(y, prefix, "2")
        steps = self.options["transformer-postprocess"]
        return self.postprocess(y, x, f"{prefix}_ffn", steps)

    def embed(self, rows):
        if "Wpos" in self.tensors:
            return rows + self.tensors["Wpos"][: len(rows)]
        length, width = rows.shape
        return math.sqrt(width) * rows + timing(length, width)

    def table(self, side):
        shared = ("tied-embeddings-all", "tied-embeddings-src")
        is_one = any(self.options[name] for name in shared)
        return self.tensors["Wemb" if is_one else f"{side}_Wemb"]

    def encode(self, ids):
        embedded = self.embed(self.table("encoder")[ids])
        steps = self.options["transformer-postprocess-emb"]
        x = self.preprocess(embedded, "encoder_emb", steps)
        for layer in range(1, self.options["enc-depth"] + 1):
            x = self.attention(x, None, False, f"encoder_l{layer}_self")
            x = self.feed_forward(x, f"encoder_l{layer}_ffn")
        steps = self.options["transformer-postprocess-top"]
        return self.postprocess(x, embedded, "encoder_top", steps)

    def decode(self, memory, ids):
        """Logits behind the start and behind each of the ids."""
        rows = self.table("decoder")[ids]
        embedded = self.embed(np.vstack([0 * memory[:1], rows]))
        steps = self.options["transformer-postprocess-emb"]
        x = self.preprocess(embedded, "decoder_emb", steps)
        for layer in range(1, self.options["dec-depth"] + 1):
            prefix = f"decoder_l{layer}"
            if self.options["transformer-decoder-autoreg"] == "rnn":
                x = self.recurrence(x, f"{prefix}_rnn")
            else:
                x = self.attention(x, None, True, f"{prefix}_self")
            x = self.attention(x, memory, False, f"{prefix}_context")
            x = self.feed_forward(x, f"{prefix}_ffn")
        steps = self.options["transformer-postprocess-top"]
        x = self.postprocess(x, embedded, "decoder_top", steps)
        return x @ self.output() + self.tensors["decoder_ff_logit_out_b"][0]

    def alignments(self):
        """Of what was decoded last, f64 [targets + 1, sources]: the first head of the
        layer that guided alignment has trained."""
        layer = self.options.get("transformer-guided-alignment-layer", "last")
        number = self.options["dec-depth"] if layer == "last" else layer
        return self.weights[f"decoder_l{number}_context"][0]

    def output(self):
        if self.options["tied-embeddings-all"] or self.options["tied-embeddings"]:
            return self.table("decoder").T
        if "decoder_ff_logit_out_W" in self.tensors:
            return self.tensors["decoder_ff_logit_out_W"]
        return self.tensors["decoder_ff_logit_out_Wt"].T
