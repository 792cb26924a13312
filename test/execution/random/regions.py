"""Regions of attention: their text beside their definition.

An entry of `SCORES` or `SIMILARITIES` draws a region for an attention; an entry
of `NORMALIZERS` is one.
"""

from dataclasses import dataclass, field
from typing import Callable

import numpy as np


@dataclass
class Region:
    """`text` computes %t from %s, %h, %i and %j, and reads its tables by name;
    `value` is its definition. Takes scores up to `takes`, gives up to `gives`.
    """

    text: str
    value: Callable
    tables: dict = field(default_factory=dict)
    takes: float = 1e38
    gives: float = 0
    name: str = ""
    # Whether %t is %s or a constant.
    chooses: bool = False
    # Whether the query's own position has to be outside the mask.
    needs_distance: bool = False


def soft_cap(draw, attention):
    cap = draw.pick([1.0, 20.0, 50.0])
    text = f"""
      %cap = arith.constant {cap} : f32
      %part = arith.divf %s, %cap : f32
      %capped = math.tanh %part : f32
      %t = arith.mulf %capped, %cap : f32"""
    return Region(text, lambda s, h, i, j: np.tanh(s / cap) * cap)


def linear_bias(draw, attention):
    """ALiBi (arXiv:2108.12409)."""
    slopes = 2.0 ** -draw.integers(0, 8, attention.heads)
    text = f"""
      %slope = transformer.lookup %slopes[%h] : tensor<{len(slopes)}xf32> -> f32
      %distance = arith.subi %i, %j : i32
      %length = arith.sitofp %distance : i32 to f32
      %bias = arith.mulf %slope, %length : f32
      %t = arith.subf %s, %bias : f32"""
    return Region(
        text, lambda s, h, i, j: s - slopes[h] * (i - j), {"slopes": slopes}
    )


def relative_bias(draw, attention):
    reach = draw.pick([1, 4, 30])
    table = draw.normal(attention.heads, 2 * reach + 1) * draw.pick([1, 10])
    table = np.float32(table).astype(np.float64)
    rows, columns = table.shape
    text = f"""
      %distance = arith.subi %i, %j : i32
      %reach = arith.constant {reach} : i32
      %least = arith.constant -{reach} : i32
      %low = arith.maxsi %distance, %least : i32
      %near = arith.minsi %low, %reach : i32
      %at = arith.addi %near, %reach : i32
      %bias = transformer.lookup %table[%h, %at]
        : tensor<{rows}x{columns}xf32> -> f32
      %t = arith.addf %s, %bias : f32"""

    def value(s, h, i, j):
        return s + table[h, np.clip(i - j, -reach, reach) + reach]

    return Region(text, value, {"table": table})


def far_score(draw, attention):
    """How masks are written by those who have none."""
    far = [-1e4, -1e8, -1e9, -1e30]
    # Sums of the largest floats are infinite.
    far = draw.pick(far + [-3e38] * (attention.normalizer == "softmax"))
    return float(np.float32(far))


def subtract_early(draw, attention):
    first = draw.pick([1, 7, 8, 9, 32, 256])
    far = max(far_score(draw, attention), -1e30)
    text = f"""
      %first = arith.constant {first} : i32
      %early = arith.cmpi slt, %j, %first : i32
      %far = arith.constant {far:.9e} : f32
      %zero = arith.constant 0.0 : f32
      %bias = arith.select %early, %far, %zero : f32
      %t = arith.addf %s, %bias : f32"""
    return Region(
        text, lambda s, h, i, j: s + np.where(j < first, far, 0), gives=1e30
    )


def set_early(draw, attention):
    first = draw.pick([1, 7, 8, 9, 32, 256])
    far = far_score(draw, attention) * draw.sign()
    text = f"""
      %first = arith.constant {first} : i32
      %early = arith.cmpi slt, %j, %first : i32
      %far = arith.constant {far:.9e} : f32
      %t = arith.select %early, %far, %s : f32"""
    return Region(
        text,
        lambda s, h, i, j: np.where(j < first, far, s),
        gives=1e30,
        chooses=True,
    )


def set_some(draw, attention):
    period = draw.pick([2, 3, 5])
    far = far_score(draw, attention) * draw.sign()
    text = f"""
      %period = arith.constant {period} : i32
      %sum = arith.addi %i, %j : i32
      %rest = arith.remsi %sum, %period : i32
      %zero = arith.constant 0 : i32
      %some = arith.cmpi eq, %rest, %zero : i32
      %far = arith.constant {far:.9e} : f32
      %t = arith.select %some, %far, %s : f32"""
    return Region(
        text,
        lambda s, h, i, j: np.where((i + j) % period == 0, far, s),
        gives=1e30,
        chooses=True,
    )


def position_ratio(draw, attention):
    first = draw.pick([1, 2, 9])
    text = f"""
      %first = arith.constant {first} : i32
      %sum = arith.addi %j, %first : i32
      %ratio = arith.divsi %i, %sum : i32
      %float = arith.sitofp %ratio : i32 to f32
      %eighth = arith.constant 0.125 : f32
      %bias = arith.mulf %float, %eighth : f32
      %t = arith.addf %s, %bias : f32"""
    return Region(text, lambda s, h, i, j: s + i // (j + first) / 8)


def inverse_distance(draw, attention):
    text = """
      %hundred = arith.constant 100 : i32
      %distance = arith.subi %i, %j : i32
      %inverse = arith.divsi %hundred, %distance : i32
      %float = arith.sitofp %inverse : i32 to f32
      %eighth = arith.constant 0.125 : f32
      %bias = arith.mulf %float, %eighth : f32
      %t = arith.addf %s, %bias : f32"""
    return Region(
        text,
        lambda s, h, i, j: s + 100 // np.maximum(i - j, 1) / 8,
        needs_distance=True,
    )


def square(draw, attention):
    text = """
      %half = arith.constant 0.5 : f32
      %product = arith.mulf %s, %s : f32
      %t = arith.addf %product, %half : f32"""
    return Region(text, lambda s, h, i, j: s * s + 0.5, takes=1e15, gives=1e30)


def absolute(draw, attention):
    text = """
      %half = arith.constant 0.5 : f32
      %size = math.absf %s : f32
      %t = arith.addf %size, %half : f32"""
    return Region(text, lambda s, h, i, j: abs(s) + 0.5)


SCORES = [
    soft_cap,
    linear_bias,
    relative_bias,
    subtract_early,
    set_early,
    set_some,
    position_ratio,
    inverse_distance,
    square,
    absolute,
]

SIGMOID = Region(
    """
      %one = arith.constant 1.0 : f32
      %negative = arith.negf %s : f32
      %power = math.exp %negative : f32
      %sum = arith.addf %power, %one : f32
      %t = arith.divf %one, %sum : f32""",
    lambda s: 1 / (1 + np.exp(np.minimum(-s, 600))),
)
EXPONENTIAL = Region(
    """
      %most = arith.constant 20.0 : f32
      %limited = arith.minimumf %s, %most : f32
      %t = math.exp %limited : f32""",
    lambda s: np.exp(np.minimum(s, 20)),
)
BOUNDED_SQUARE = Region(
    """
      %eighth = arith.constant 0.125 : f32
      %part = math.tanh %s : f32
      %product = arith.mulf %part, %part : f32
      %t = arith.addf %product, %eighth : f32""",
    lambda s: np.tanh(s) ** 2 + 0.125,
)
NORMALIZERS = {
    "softmax": None,
    "sum": Region("", lambda s: s),
    "none": Region("", lambda s: s),
    "sigmoid": SIGMOID,
    "exponential": EXPONENTIAL,
    "bounded_square": BOUNDED_SQUARE,
}


@dataclass
class Similarity:
    """`text` computes %t from %q and %k of type {vector}, and may read the table
    of one row `{table}`; `value` is its definition, for q [..., 1, d] and
    k [..., d], and `size` the sum of the sizes of what it adds up.
    """

    text: str
    value: Callable
    size: Callable
    table: np.ndarray = None


def plain_product(draw, attention):
    text = """
      %p = arith.mulf %q, %k : {vector}
      %t = vector.reduction <add>, %p : {vector} into f32"""
    return Similarity(
        text,
        lambda q, k: (q * k).sum(-1),
        lambda q, k: abs(q * k).sum(-1),
    )


def weighted_product(draw, attention):
    table = draw.integers(-2, 2, attention.key_width)
    text = """
      %w = transformer.lookup {table} -> {vector}
      %a = arith.mulf %w, %q : {vector}
      %p = arith.mulf %a, %k : {vector}
      %t = vector.reduction <add>, %p : {vector} into f32"""
    return Similarity(
        text,
        lambda q, k: (q * table * k).sum(-1),
        lambda q, k: abs(q * table * k).sum(-1),
        table,
    )


def additive(draw, attention):
    """Bahdanau's score (arXiv:1409.0473)."""
    table = draw.integers(-2, 2, attention.key_width) / 4
    text = """
      %sum = arith.addf %q, %k : {vector}
      %hidden = math.tanh %sum : {vector}
      %w = transformer.lookup {table} -> {vector}
      %p = arith.mulf %hidden, %w : {vector}
      %t = vector.reduction <add>, %p : {vector} into f32"""
    return Similarity(
        text,
        lambda q, k: (np.tanh(q + k) * table).sum(-1),
        lambda q, k: abs(np.tanh(q + k) * table).sum(-1),
        table,
    )


def squared_distance(draw, attention):
    text = """
      %x = arith.subf %q, %k : {vector}
      %p = arith.mulf %x, %x : {vector}
      %d = vector.reduction <add>, %p : {vector} into f32
      %t = arith.negf %d : f32"""
    return Similarity(
        text,
        lambda q, k: -((q - k) ** 2).sum(-1),
        lambda q, k: ((q - k) ** 2).sum(-1),
    )


def largest_difference(draw, attention):
    text = """
      %x = arith.subf %k, %q : {vector}
      %t = vector.reduction <maximumf>, %x : {vector} into f32"""
    return Similarity(
        text,
        lambda q, k: (k - q).max(-1),
        lambda q, k: abs((k - q).max(-1)),
    )


def cosine(draw, attention):
    text = """
      %p = arith.mulf %q, %k : {vector}
      %qq = arith.mulf %q, %q : {vector}
      %kk = arith.mulf %k, %k : {vector}
      %dot = vector.reduction <add>, %p : {vector} into f32
      %q2 = vector.reduction <add>, %qq : {vector} into f32
      %k2 = vector.reduction <add>, %kk : {vector} into f32
      %qn = math.sqrt %q2 : f32
      %kn = math.sqrt %k2 : f32
      %norms = arith.mulf %qn, %kn : f32
      %t = arith.divf %dot, %norms : f32"""

    def norms(q, k):
        return np.sqrt((q * q).sum(-1) * (k * k).sum(-1))

    return Similarity(
        text,
        lambda q, k: (q * k).sum(-1) / norms(q, k),
        lambda q, k: abs(q * k).sum(-1) / norms(q, k),
    )


SIMILARITIES = [
    plain_product,
    weighted_product,
    additive,
    squared_distance,
    largest_difference,
    cosine,
]
