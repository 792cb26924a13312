"""Random modules of one attention and, in float64, what they compute.

A module embeds its queries, keys and values from tables of tokens, so that any
scores can be asked for, and its logits are the rows of one attention: of the
decoder over its past, of the decoder over the memory, or of the encoder. What
is drawn stands in tables: `MASKS` and `PROFILES` below, `SCORES`,
`SIMILARITIES` and `NORMALIZERS` in regions.py.
"""

import math
from dataclasses import dataclass, field
from typing import Callable

import numpy as np

from regions import NORMALIZERS, SCORES, SIMILARITIES, Similarity

START, EOS, TOKENS = 1, 2, 64
# Around vectors, tiles of 8 keys, blocks of 32 queries, blocks of 256 keys.
LENGTHS = [1, 2, 5, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 40, 63, 64, 65, 100]
LONG_LENGTHS = [127, 128, 129, 200, 255, 256, 257, 263, 264, 265, 300]
WIDTHS = [1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 24, 31, 32, 33, 48, 64, 65]
WIDE_WIDTHS = [80, 96, 100, 127, 128, 129, 130]


@dataclass(frozen=True)
class ElementType:
    """A type to compute in; smaller numbers than `smallest` are 0."""

    mlir: str
    # The relative error of one rounding.
    unit: float
    smallest: float
    # The nearest values of the type, as float64.
    rounded: Callable


def round_to_f32(values):
    with np.errstate(over="ignore"):
        return np.float32(values).astype(np.float64)


ELEMENT_TYPES = {"f32": ElementType("f32", 2.0**-24, 2.0**-126, round_to_f32)}


class Draw:
    """Random choices, all from one seed."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)

    def chance(self, probability):
        return self.random.random() < probability

    def pick(self, choices):
        return choices[self.random.integers(len(choices))]

    def sign(self):
        return self.pick([-1.0, 1.0])

    def power_of_ten(self, lowest, highest):
        return float(10 ** self.random.uniform(lowest, highest))

    def normal(self, *shape):
        return self.random.normal(size=shape)

    def integers(self, lowest, highest, *shape):
        return self.random.integers(lowest, highest + 1, shape).astype(float)


@dataclass
class Attention:
    """Attributes of the op, its mask and regions, and its inputs by token."""

    place: str  # self, memory or encoder
    heads: int
    kv_heads: int
    key_width: int
    value_width: int
    scale: float  # None where the text does not say it.
    normalizer: str  # softmax, sum, none or a name in NORMALIZERS
    mask: "Mask" = None
    scores: list = field(default_factory=list)  # regions, one after the other
    query: np.ndarray = None
    key: np.ndarray = None
    value: np.ndarray = None
    # Whether queries pass through a linear, into which the scale is folded.
    is_projected: bool = False
    similarity: Similarity = None  # None for the scaled product.

    def width(self):
        """Of a row of the result."""
        return self.heads * self.value_width

    def effective_scale(self):
        default = 1 / math.sqrt(self.key_width)
        return float(np.float32(default if self.scale is None else self.scale))


@dataclass
class Module:
    attention: Attention
    element: ElementType
    sources: list
    targets: list
    words: str  # What was drawn, for people.


# ---------------------------------------------------------------------- masks


@dataclass
class Mask:
    """A tree of mask ops. `contains` takes the length of the source and arrays
    of h, i and j."""

    text: str
    operands: list
    contains: Callable


CAUSAL = Mask("causal", [], lambda length, h, i, j: j <= i)
PADDING = Mask(
    "padding %lengths : tensor<?xi32>", [], lambda length, h, i, j: j < length
)
FULL = Mask("full", [], lambda *at: np.bool_(True))
EMPTY = Mask("empty", [], lambda *at: np.bool_(False))
DIAGONAL = Mask(
    "window [left = 0, right = 0]", [], lambda length, h, i, j: i == j
)


def window(draw, heads):
    left, right = (draw.pick([0, 1, 3, 8, 20, 40, 300]) for _ in range(2))
    dilation = draw.pick([[1], [1], [2], [3], [1, 2, 3, 5, 2, 1, 4, 1, 6] * 2])
    dilation = dilation[:heads]

    def contains(length, h, i, j):
        d = np.resize(dilation, heads)[h]
        is_near = (i - j <= left * d) & (j - i <= right * d)
        return is_near & ((i - j) % d == 0)

    text = f"window [left = {left}, right = {right}, dilation = {dilation}]"
    return Mask(text, [], contains)


def both(lhs, rhs):
    def contains(*at):
        return lhs.contains(*at) & rhs.contains(*at)

    return Mask("and {}, {}", [lhs, rhs], contains)


def either(lhs, rhs):
    def contains(*at):
        return lhs.contains(*at) | rhs.contains(*at)

    return Mask("or {}, {}", [lhs, rhs], contains)


def outside(mask):
    return Mask("not {}", [mask], lambda *at: ~mask.contains(*at))


MASKS = [
    lambda draw, heads: CAUSAL,
    lambda draw, heads: PADDING,
    lambda draw, heads: FULL,
    lambda draw, heads: EMPTY,
    *[window] * 3,
]


def draw_mask(draw, heads, depth):
    if depth == 0:
        return draw.pick(MASKS)(draw, heads)
    op = draw.pick([outside, both, both, either, either])
    return op(
        *(
            draw_mask(draw, heads, depth - 1)
            for _ in range(1 if op is outside else 2)
        )
    )


# ---------------------------------------------------- queries, keys and values


def plain(draw, attention, magnitude):
    """Scores of about `magnitude`, of both signs."""
    a, width = attention, attention.key_width
    size = math.sqrt(magnitude / a.effective_scale() / math.sqrt(width))
    balance = draw.power_of_ten(-2, 2)
    query = draw.normal(TOKENS, a.heads, width) * size * balance
    key = draw.normal(TOKENS, a.kv_heads, width) * size / balance
    return query, key


def ordinary(draw, attention):
    return plain(draw, attention, draw.power_of_ten(-2, 1.5))


def tiny(draw, attention):
    return plain(draw, attention, draw.power_of_ten(-30, -2))


def huge(draw, attention):
    return plain(draw, attention, draw.power_of_ten(1.5, 30))


def levels(draw):
    """A factor for each token: one half has it, or the later the larger."""
    step = np.repeat([0.0, 1.0], TOKENS // 2)
    ramp = np.floor(np.arange(TOKENS) / 8)
    return draw.pick([step, 1 - step, ramp, -ramp])[:, None]


def shifted(draw, attention):
    """Tokens whose scores are far from those of others."""
    query, key = plain(draw, attention, draw.power_of_ten(-1, 0.5))
    far = draw.power_of_ten(0, 8) * draw.sign()
    query[..., 0] = 1
    key[..., 0] += far / attention.effective_scale() * levels(draw)
    return query, key


def exact(draw, attention):
    """Scores around a thousand, or a million, that differ by small integers;
    they are sums that round nothing."""
    attention.scale = draw.pick([0.25, 0.5, 1.0, 2.0])
    query = draw.integers(-1, 1, TOKENS, attention.heads, attention.key_width)
    key = draw.integers(-2, 2, TOKENS, attention.kv_heads, attention.key_width)
    query[..., 0] = 1
    query[..., 4:] = 0
    key[..., 0] += draw.pick([1e3, 1e4, 1e5, 1e6]) * draw.sign()
    return query, key


# Each with the largest score that it makes.
PROFILES = {ordinary: 1e3, tiny: 1, huge: 1e31, shifted: 1e10, exact: 1e7}


# --------------------------------------------------------------------- modules


def draw_tokens(draw, length):
    """Tokens in an order that tiles notice: levels change along the way."""
    tokens = draw.random.integers(0, TOKENS, length)
    order = draw.pick(["halves", "ascending", "any"])
    if order == "halves":
        first = draw.pick([0, 1, 5, 8, 9, 16, 33, 256])
        half = TOKENS // 2
        return tokens % half + half * (np.arange(length) >= first)
    return np.sort(tokens) if order == "ascending" else tokens


def draw_regions(draw, attention, largest):
    regions = []
    for _ in range(draw.pick([0, 0, 1, 1, 2])):
        draw_region = draw.pick(SCORES)
        region = draw_region(draw, attention)
        region.name = draw_region.__name__
        if region.takes >= largest:
            regions.append(region)
            largest = max(largest, region.gives)
    return regions


def draw_useful_mask(draw, attention):
    """A decoder looks back, what pads a batch of memories is no key, and some
    regions take no distance of 0. Most masks hold a tenth of all pairs."""
    a = attention
    limit = CAUSAL if a.place == "self" else PADDING
    if any(region.needs_distance for region in a.scores):
        limit = both(limit, both(CAUSAL, outside(DIAGONAL)))
    for _ in range(draw.pick([1] + [20] * 9)):
        mask = both(limit, draw_mask(draw, a.heads, draw.pick([0, 1, 2, 3, 3])))
        pairs = mask.contains(40, *np.ogrid[: a.heads, :50, :50])
        if pairs.mean() > 0.1:
            break
    return mask


def draw_heads(draw):
    """Heads, kv heads, and their widths: many narrow ones or few of any."""
    if draw.chance(0.7):
        kv_heads = draw.pick([1, 1, 2, 3, 4])
        heads, widths = kv_heads * draw.pick([1, 1, 2, 3]), WIDTHS
    else:
        heads, kv_heads = draw.pick([(1, 1), (2, 1), (2, 2)])
        widths = draw.pick([WIDTHS, WIDE_WIDTHS, range(1, 131)])
    return heads, kv_heads, draw.pick(widths), draw.pick(widths)


def draw_module(seed, element_type):
    draw, element = Draw(seed), ELEMENT_TYPES[element_type]
    a = Attention(
        draw.pick(["self", "self", "memory", "memory", "encoder"]),
        *draw_heads(draw),
        scale=draw.pick([None, None, 1.0, 0.37, 1e-6, 1e6]),
        normalizer=draw.pick(["softmax"] * 4 + list(NORMALIZERS)),
        is_projected=draw.chance(0.3),
    )
    profile = draw.pick(list(PROFILES))
    a.query, a.key = (element.rounded(table) for table in profile(draw, a))
    value = draw.normal(TOKENS, a.kv_heads, a.value_width)
    a.value = element.rounded(value * draw.pick([1, 1, 1e-3, 1e3]))
    a.scores = draw_regions(draw, a, PROFILES[profile])
    a.mask = draw_useful_mask(draw, a)

    names = [region.name for region in a.scores]
    if PROFILES[profile] <= 1e3 and draw.chance(0.4):
        draw_similarity = draw.pick(SIMILARITIES)
        a.similarity = draw_similarity(draw, a)
        names.insert(0, draw_similarity.__name__)

    # One of them is large enough for several tiles.
    lengths = LENGTHS + LONG_LENGTHS * draw.pick([0, 0, 1])
    others = [draw.pick(lengths) for _ in range(draw.pick([0, 2, 3]))]
    sources, targets = (
        [draw_tokens(draw, n) for n in [draw.pick(lengths[9:]), *others]]
        for _ in range(2)
    )
    words = " ".join([a.place, profile.__name__, *names, a.normalizer])
    return Module(a, element, sources, targets, words)
