"""What each variant computes, in float64, from the formulas of the papers.

A row of VARIANTS is a variant: which pairs attend, how a query and a key are
compared, what divides the sum. One sentence at a time and from the scores of
all pairs: no batch, no padding, no cache, no tiles, no sums that are carried.
How exact a result can be is said beside it, see `attend`.
"""

from dataclasses import dataclass
from typing import Callable

import numpy as np


@dataclass
class Numbers:
    """Rows, and by how much one rounding of all that they are made of moves
    each number at most."""

    value: np.ndarray
    moved: np.ndarray

    def head(self, h, heads):
        width = self.value.shape[1] // heads
        part = slice(h * width, (h + 1) * width)
        return Numbers(self.value[:, part], self.moved[:, part])


# ------------------------------------------------------------------------------
# Which pairs attend: rules of p.i, a column of queries, and p.j, a row of keys
# ------------------------------------------------------------------------------


def everywhere(p):
    return True


def window(left, right, dilation=1):
    """j = i + dilation t, -left <= t <= right; each may differ by head."""

    def contains(p):
        back, ahead, d = (
            each[p.h] if isinstance(each, list) else each
            for each in (left, right, dilation)
        )
        t, rest = np.divmod(p.j - p.i, d)
        return (rest == 0) & (-back <= t) & (t <= ahead)

    return contains


def prefix(length):
    return lambda p: p.j < length


def first(count):
    return lambda p: (p.i < count) | (p.j < count)


def tokens(p):
    return np.isin(p.i, p.tokens) | np.isin(p.j, p.tokens)


def token_columns(p):
    return np.isin(p.j, p.tokens)


def segments(p):
    return p.ids[p.i] == p.ids[p.j]


def listed(block=1):
    """The numbers of row i / block, in compressed rows."""

    def contains(p):
        allowed = np.zeros((len(p.i), p.j.size), bool)
        rows = p.offsets[1:]
        for at, i in enumerate(p.i[:, 0] // block):
            if i < len(rows):
                numbers = p.listed[p.offsets[i] : p.offsets[i + 1]]
                allowed[at] = np.isin(p.j[0] // block, numbers)
        return allowed

    return contains


def table(p):
    return p.table[p.i, p.j] != 0


def mix(x):
    x = x ^ x >> 16
    x = x * 0x85EBCA6B & 0xFFFFFFFF
    x = x ^ x >> 13
    x = x * 0xC2B2AE35 & 0xFFFFFFFF
    return x ^ x >> 16


def drawn(block, count, seed):
    """As Masks.td states for random_blocks, and for tokens as blocks of one."""

    def contains(p):
        own = p.i // block
        # Of the sentence, or in a decoder before the query's own.
        total = own if p.causal else np.full_like(own, -(-p.length // block))
        q, s = total // count, total % count
        allowed = np.zeros((len(p.i), p.j.size), bool)
        for t in range(count):
            size = q + (t < s)
            row = mix(own + mix(p.h + mix(seed)) & 0xFFFFFFFF)
            draw = mix(t + row & 0xFFFFFFFF)
            number = t * q + np.minimum(t, s) + (draw * size >> 32)
            allowed |= (size > 0) & (p.j // block == number)
        return allowed

    return contains


def either(*rules):
    return lambda p: np.logical_or.reduce(
        np.broadcast_arrays(*(rule(p) for rule in rules))
    )


def fixed_pattern(p):
    return (p.j // 8 == p.i // 8) | (p.j % 8 == 7)


def strided_pattern(p):
    back = abs(p.i - p.j)
    return ((back < 8) | (back % 8 == 0)) & (back <= 23)


def causal(p):
    return p.j <= p.i


# ------------------------------------------------------------------------------
# How a query and a key are compared: scores of q and k, and by how much one
# rounding of everything moves them; p.r is that of float32, see Sentence
# ------------------------------------------------------------------------------


def moved(a, b, r):
    """By how much the products of rows are."""
    size = (a.moved + r * abs(a.value)) @ abs(b.value).T
    return size + abs(a.value) @ b.moved.T


def dot(scale=None):
    def score(p, q, k):
        c = scale or 1 / np.sqrt(q.value.shape[1])
        return q.value @ k.value.T * c, moved(q, k, p.r) * c

    return score


def by_vectors(function):
    """The same of a function of one query and all keys."""

    def score(p, q, k):
        parts = [
            function(p, value, size, k.value, k.moved)
            for value, size in zip(q.value, q.moved)
        ]
        return tuple(np.stack(each) for each in zip(*parts))

    return score


@by_vectors
def additive(p, q, q_moved, k, k_moved):
    """v . tanh(q + k)"""
    v, x = p.weights["v_a"], q + k
    hidden = np.tanh(x)
    moved = (1 - hidden**2) * (q_moved + k_moved + p.r * abs(x))
    return hidden @ v, (moved + 2 * p.r * abs(hidden)) @ abs(v)


@by_vectors
def concat(p, q, q_moved, k, k_moved):
    """v . tanh(W [q; k])"""
    w, v, d = p.weights["W_a"], p.weights["v_a"], q.shape[-1]
    hidden = np.tanh(q @ w[:, :d].T + k @ w[:, d:].T)
    moved = (q_moved + p.r * abs(q)) @ abs(w[:, :d]).T
    moved = moved + (k_moved + p.r * abs(k)) @ abs(w[:, d:]).T
    moved = (1 - hidden**2) * moved + 2 * p.r * abs(hidden)
    return hidden @ v, moved @ abs(v)


@by_vectors
def squared_distance(p, q, q_moved, k, k_moved):
    x = q - k
    moved = 2 * abs(x) * (q_moved + k_moved + p.r * abs(x))
    return (x * x).sum(-1), moved.sum(-1)


def with_slopes(p, q, k):
    s, moved = dot()(p, q, k)
    bias = p.weights["slopes"][p.h] * abs(p.i - p.j)
    return s - bias, moved + p.r * bias


def features(phi):
    """phi(q) . phi(k)"""

    def score(p, q, k):
        a, b = phi(q, p.r), phi(k, p.r)
        return a.value @ b.value.T, moved(a, b, p.r)

    return score


def elu_plus_one(x, r):
    value = np.where(x.value > 0, x.value + 1, np.exp(x.value))
    return Numbers(value, np.minimum(value, 1) * x.moved + r * value)


def relu(x, r):
    return Numbers(np.maximum(x.value, 0), (x.value > 0) * x.moved)


def normalised(x, r):
    norm = np.linalg.norm(x.value, axis=1, keepdims=True)
    value = x.value / norm
    turned = np.linalg.norm(x.moved, axis=1, keepdims=True) + r * norm
    one = np.ones_like(norm)
    return Numbers(
        np.hstack([value, one]),
        np.hstack([(x.moved + abs(value) * turned) / norm, 0 * one]),
    )


def softplus(x, r):
    value = np.log1p(np.exp(x.value))
    return Numbers(value, x.moved + r * (1 + value))


# ------------------------------------------------------------------------------
# What scores become: weights, and by how much these are moved
# ------------------------------------------------------------------------------


def softmax(s, moved, allowed, r):
    s = np.where(allowed, s, -np.inf)
    largest = s.max(1, keepdims=True, initial=-1e30)
    # An integer power of two apart, so that rounding weights means the same.
    shift = np.floor(largest / np.log(2)) * np.log(2)
    w = np.exp(s - shift)
    distance = np.where(allowed, abs(s - shift), 0)
    return w, w * (moved + r * (1 + distance))


def plain(s, moved, allowed, r):
    return np.where(allowed, s, 0), np.where(allowed, moved, 0)


def inverse(s, moved, allowed, r):
    w = np.where(allowed, 1 / (1 + s), 0)
    return w, w * (w * moved + r)


def eighth_power(s, moved, allowed, r):
    w = np.where(allowed, s**8, 0)
    # Each of three squares rounds, what is squared again by twice as much.
    return w, np.where(allowed, 8 * abs(s) ** 7 * moved + 7 * r * w, 0)


# ------------------------------------------------------------------------------
# The literature
# ------------------------------------------------------------------------------


@dataclass
class Variant:
    mask: Callable = everywhere
    score: Callable = dot()
    weight: Callable = softmax
    heads: int = 2
    # Queries, keys and values, of the sequence and the memory.
    inputs: Callable = None
    # Weights of bf16 are rounded, and those of a softmax to f16, too, but for
    # weights that are never stored.
    rounds_weights: bool = True
    # Whether positions mean nothing to it.
    is_a_set: bool = False
    # The variant, of as many heads, that gives the rows of p.tokens instead.
    of_tokens: "Variant" = None

    def rounds_weights_to(self, type):
        of_type = type == "bf16" or (type == "f16" and self.weight is softmax)
        return of_type and self.rounds_weights


def linear(phi):
    return Variant(
        score=features(phi), weight=plain, rounds_weights=False, is_a_set=True
    )


def projected(s):
    """x W_q, m W_k, m W_v"""
    return (
        s.linear(s.x, "W_q"),
        s.linear(s.memory, "W_k"),
        s.linear(s.memory, "W_v"),
    )


def themselves(s):
    return s.x, s.memory, s.memory


def by_matrix(s):
    return s.linear(s.x, "W_a"), s.memory, s.memory


def shortened(s):
    """q, E k, F v; E and F may differ by head."""
    q, k, v = projected(s)
    return q, s.along("E", k), s.along("F", v)


def by_own_projections(s):
    """x W_qg, m W_kg, m W_vg"""
    return (
        s.linear(s.x, "W_qg"),
        s.linear(s.memory, "W_kg"),
        s.linear(s.memory, "W_vg"),
    )


def of_segments(s):
    """Queries, keys and values of what attention inside of segments gives."""
    inside = s.attend(Variant(mask=segments, inputs=projected))
    return tuple(s.linear(inside, name) for name in ["U_q", "U_k", "U_v"])


VARIANTS = {
    "full": Variant(is_a_set=True),
    "grouped-heads": Variant(heads=4, is_a_set=True),
    "window": Variant(window(20, 5)),
    "window-per-head": Variant(window([20, 3], [5, 1])),
    "dilated": Variant(window(6, 6, [1, 4])),
    "prefix": Variant(prefix(11)),
    "global-count": Variant(first(2)),
    "global-tokens": Variant(tokens),
    "segments": Variant(segments),
    "blocks": Variant(listed(block=8)),
    "random-blocks": Variant(drawn(16, 3, seed=7)),
    "random-tokens": Variant(drawn(1, 12, seed=3)),
    "pairs": Variant(listed()),
    "dense": Variant(table),
    "where": Variant(fixed_pattern),
    "where-within": Variant(strided_pattern),
    "longformer": Variant(either(window(12, 12, [1, 2]), first(2))),
    "longformer-own-rows": Variant(
        either(window(12, 12, [1, 2]), token_columns),
        of_tokens=Variant(inputs=by_own_projections),
    ),
    "bigbird": Variant(either(window(8, 8), first(3), drawn(16, 2, seed=5))),
    "hierarchical": Variant(
        lambda p: np.isin(p.j, p.firsts), inputs=of_segments
    ),
    "luong-dot": Variant(
        score=dot(1), inputs=themselves, heads=1, is_a_set=True
    ),
    "luong-general": Variant(
        score=dot(1), inputs=by_matrix, heads=1, is_a_set=True
    ),
    "luong-concat": Variant(
        score=concat, inputs=themselves, heads=1, is_a_set=True
    ),
    "bahdanau": Variant(score=additive, is_a_set=True),
    "parameter-free": Variant(score=dot(1), inputs=themselves, heads=1),
    "general-pooling": Variant(
        score=squared_distance, weight=inverse, is_a_set=True
    ),
    "alibi": Variant(score=with_slopes),
    "linear-elu": linear(elu_plus_one),
    "linear-relu": linear(relu),
    "linear-taylor": linear(normalised),
    "linear-region": linear(softplus),
    "polynomial": Variant(weight=eighth_power, is_a_set=True),
    "linformer": Variant(inputs=shortened),
    "linformer-per-head": Variant(inputs=shortened),
}
# An encoder of T5's kind reads a prefix and, causally, what follows.
ENCODERS = {"prefix": Variant(either(causal, prefix(11)))}
