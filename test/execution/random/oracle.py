"""What a random module computes, in float64, and how exact that can be.

Written from the formulas in dialect/*.td, one sentence at a time: no batch, no
padding, no cache, no tiles. For each element it also says what a single
rounding of each score, weight and product does to it: the unit that errors are
counted in. It follows the conditioning of each row: where a rounded score may
as well be the largest as not, a row has no certain digit.
"""

import numpy as np

from random_modules import START
from regions import NORMALIZERS


def apply(element, region, s, error, *at):
    """A region of scores s and their errors: those of rounding s once more, and
    the result; what a number of the type holds exactly was not rounded."""
    value = region.value(s, *at)
    if region.chooses:
        return value, np.where(value == s, error, 0)
    is_exact = (error == 0) & (element.rounded(value) == value)
    reach = error + element.unit * abs(s)
    moved = [abs(region.value(s + r, *at) - value) for r in (-reach, reach)]
    rounding = element.unit * abs(value) + element.smallest
    return value, np.where(is_exact, 0, np.maximum(*moved) + rounding)


def products_of(module, q, k):
    """Scaled products of q [heads, queries, d] and k [heads, keys, d], and their
    errors."""
    a, element = module.attention, module.element
    k = k.transpose(0, 2, 1)
    scale = a.effective_scale()
    s, size = q @ k * scale, abs(q) @ abs(k)
    # Sums of small integers are exact, in any order.
    is_exact = (q == q.round()).all() and (k == k.round()).all()
    if is_exact and size.max() < 1 / element.unit:
        error = np.zeros_like(s)
    else:
        lost = element.smallest * max(scale, 1) * a.key_width
        error = size * element.unit * scale + lost
    return s, error


def similarities_of(module, q, k):
    """The same of what the region makes of them."""
    region, element = module.attention.similarity, module.element
    q, k = q[:, :, None], k[:, None]
    # One rounding of the result beside those of the terms.
    s, size = region.value(q, k), region.size(q, k)
    lost = element.smallest * (1 + abs(q) + abs(k)).sum(-1)
    return s, element.unit * (size + abs(s)) + lost


def scores_of(module, queries, keys, at):
    """Scores [heads, queries, keys] of one sentence, and their errors."""
    a = module.attention
    q = a.query[queries].transpose(1, 0, 2)
    k = np.repeat(a.key[keys], a.heads // a.kv_heads, 1).transpose(1, 0, 2)
    products = similarities_of if a.similarity else products_of
    s, error = products(module, q, k)
    for region in a.scores:
        s, error = apply(module.element, region, s, error, *at)
    return s, error


def softmax_weights(module, s, error, allowed):
    """Weights and their errors; the largest is 1."""
    s = np.where(allowed, s, -np.inf)
    best = s.argmax(-1)[..., None]
    below = s - np.where(allowed, np.take_along_axis(s, best, -1), 0)
    # Exponents are rounded, too.
    distance = np.where(allowed, abs(below), 0)
    error = error + module.element.unit * (distance + 1)
    # A key that the errors of a whole sum could lift to the maximum has a
    # weight that is not known.
    count = module.attention.key_width + 8
    lift = count * (error + np.take_along_axis(error, best, -1))
    possible = np.exp(np.minimum(below + lift, 0))
    lost = module.element.smallest * allowed
    return np.exp(below), possible * np.minimum(error, 1) + lost


def attend(module, queries, keys, length):
    """Rows [queries, heads value_width] of one sentence, and their units."""
    a, unit = module.attention, module.element.unit
    at = np.ogrid[: a.heads, : len(queries), : len(keys)]
    allowed = np.broadcast_to(
        a.mask.contains(length, *at), (a.heads, len(queries), len(keys))
    )
    s, error = scores_of(module, queries, keys, at)
    if a.normalizer == "softmax":
        w, error = softmax_weights(module, s, error, allowed)
    else:
        region = NORMALIZERS[a.normalizer]
        w, error = apply(module.element, region, s, error)
        w, error = (np.where(allowed, each, 0) for each in (w, error))
    v = np.repeat(a.value[keys], a.heads // a.kv_heads, 1).transpose(1, 0, 2)
    y, size = w @ v, abs(w) @ abs(v)
    if a.normalizer == "none":
        units = error @ abs(v) + unit * size
    else:
        total, sizes = (each.sum(-1, keepdims=True) for each in (w, abs(w)))
        lost = error.sum(-1, keepdims=True) + unit * sizes
        is_known = (a.normalizer == "softmax") | (abs(total) > lost)
        with np.errstate(divide="ignore", invalid="ignore"):
            y = np.where(total == 0, 0, y / total)
            units = unit * (size + abs(y) * sizes)
            for h, i in np.ndindex(y.shape[:2]):
                units[h, i] += error[h, i] @ abs(v[h] - y[h, i])
            # Where the total may be 0 the row may be anything; that of a
            # softmax is at least 1.
            units = np.where(is_known, units / abs(total), np.inf)
    # A row without keys is 0, and nothing else.
    units = np.where(
        allowed.any(-1, keepdims=True), units + module.element.smallest, 0
    )
    return [
        each.transpose(1, 0, 2).reshape(len(queries), -1) for each in (y, units)
    ]


def expected_logits(module):
    """For each sentence the rows of its target, and their units."""
    result = []
    for source, target in zip(module.sources, module.targets):
        inputs = np.append(START, target[:-1])
        queries, keys = {
            "self": (inputs, inputs),
            "memory": (inputs, source),
            "encoder": (source, source),
        }[module.attention.place]
        rows = attend(module, queries, keys, len(source))
        if module.attention.place == "encoder":
            # Position i of the target shows row i of the memory, or nothing.
            behind = max(0, len(inputs) - len(source))
            rows = [
                np.pad(each[: len(inputs)], [(0, behind), (0, 0)])
                for each in rows
            ]
        result.append(rows)
    return result
