"""One sentence of a variant, in float64: inputs of a type, and attention.

Beside each number stands by how much it moves where everything that it is made
of is rounded once, in the least favourable direction: the unit that errors are
counted in, whatever cancels. A rounding is one of the type: where products are
of bf16 or f16, r says what one of float32 is beside it, and what the type rounds
(see AttentionOp and `--dtype` in README.md) is rounded here, too.
"""

from dataclasses import dataclass, field

import numpy as np

from oracles import Numbers, Variant, projected

# How many queries are taken at once.
QUERIES = 256


def round_to_bf16(x):
    """The nearest, of two the even one."""
    bits = np.float32(x).view(np.uint32).astype(np.uint64)
    bits = bits + 0x7FFF + (bits >> 16 & 1) & 0xFFFF0000
    return bits.astype(np.uint32).view(np.float32).astype(np.float64)


def round_to_f16(x):
    return np.float32(x).astype(np.float16).astype(np.float64)


# By type: what it rounds operands and weights to, by how much of a number, and
# the smallest one that is not rounded by more.
ROUNDED = {
    "f32": (lambda x: x, 2.0**-24, 0),
    "bf16": (round_to_bf16, 2.0**-8, 0),
    "f16": (round_to_f16, 2.0**-11, 2.0**-14),
}


@dataclass
class Pairs:
    """Some queries of a head, a column, and all keys, a row."""

    h: int
    i: np.ndarray
    j: np.ndarray
    length: int
    causal: bool
    r: float
    weights: dict
    lists: dict

    def __getattr__(self, name):
        if name not in self.lists:
            raise AttributeError(name)
        return self.lists[name]


@dataclass
class Sentence:
    """x [n, width], and the memory that it attends to: x itself or another."""

    x: Numbers
    memory: Numbers
    weights: dict
    # Offsets, tables and the like, by their names in the module.
    lists: dict
    causal: bool
    key_heads: int
    type: str
    # The queries of each head that had no key, the last time.
    empty: np.ndarray = field(default=None, init=False)

    @property
    def roundoff(self):
        return ROUNDED[self.type][1]

    @property
    def r(self):
        return 2.0**-24 / self.roundoff

    def round(self, x):
        return ROUNDED[self.type][0](x)

    def rounding(self, x):
        """By how much x moves where the type rounds it."""
        return np.maximum(abs(x), ROUNDED[self.type][2])

    def rounded(self, x):
        if self.type == "f32":
            return x
        value = self.round(x.value)
        # What is a number of the type has the same one for a neighbour.
        is_exact = (x.moved == 0) & (value == x.value)
        moved = x.moved + self.rounding(value)
        return Numbers(value, np.where(is_exact, 0, moved))

    def linear(self, x, name):
        w = self.weights[name]
        if self.type != "f32":
            w = self.round(w)
            moved = x.moved + (x.moved > 0) * self.rounding(x.value)
            x = Numbers(self.round(x.value), moved)
        moved = (x.moved + self.r * abs(x.value)) @ abs(w)
        return Numbers(x.value @ w, moved)

    def along(self, name, x):
        """Rows E x, of each head where E has as many."""
        e = self.weights[name][..., : len(x.value)]
        matrices = e[None] if e.ndim == 2 else e
        values, moved = [], []
        for h, m in enumerate(matrices):
            part = x.head(h, len(matrices))
            values.append(m @ part.value)
            moved.append(abs(m) @ (part.moved + self.r * abs(part.value)))
        return Numbers(np.hstack(values), np.hstack(moved))

    def attend(self, variant: Variant):
        q, k, v = map(self.rounded, (variant.inputs or projected)(self))
        heads = variant.heads
        group = heads // self.key_heads
        results = [
            self.attend_head(
                variant,
                h,
                q.head(h, heads),
                k.head(h // group, self.key_heads),
                v.head(h // group, self.key_heads),
            )
            for h in range(heads)
        ]
        y, moved, empty = zip(*results)
        self.empty = np.stack(empty, 1)
        y = Numbers(np.hstack(y), np.hstack(moved))
        return self.with_rows_of_tokens(variant, y) if variant.of_tokens else y

    def with_rows_of_tokens(self, variant, y):
        empty = self.empty
        own = self.attend(variant.of_tokens)
        positions = np.arange(len(own.value))[:, None]
        chosen = np.isin(positions, self.lists["tokens"])
        self.empty = np.where(chosen, self.empty, empty)
        return Numbers(
            np.where(chosen, own.value, y.value),
            np.where(chosen, own.moved, y.moved),
        )

    def lost(self, w):
        """What sums of the terms w lose of each: a sum of n terms rounds n
        times, in any direction, and what is below its last place is lost."""
        total, n = w.sum(1, keepdims=True), w.shape[1]
        below = np.where(w < 2.0**-24 * total, w, 0)
        return self.r * np.sqrt(n) * w + below / self.roundoff

    def attend_head(self, variant, h, q, k, v):
        """y_i = sum_j w_j v_j / sum_j w_j. A weight that moves by e moves y by
        e (v_j - y) / sum w."""
        parts = []
        for start in range(0, len(q.value), QUERIES):
            some = slice(start, start + QUERIES)
            own = Numbers(q.value[some], q.moved[some])
            p = Pairs(
                h,
                np.arange(start, start + len(own.value))[:, None],
                np.arange(len(k.value))[None],
                len(self.memory.value),
                self.causal,
                self.r,
                self.weights,
                self.lists,
            )
            allowed = np.broadcast_to(
                variant.mask(p), (len(own.value), len(k.value))
            )
            if self.causal:
                allowed = allowed & (p.j <= p.i)
            s, moved = variant.score(p, own, k)
            w, moved = variant.weight(s, moved, allowed, self.r)
            moved = moved + self.lost(abs(w))
            if variant.rounds_weights_to(self.type):
                w = self.round(w)
                moved = moved + allowed * self.rounding(w)
            total = w.sum(1, keepdims=True)
            total[total == 0] = 1
            y = w @ v.value / total
            moved = (
                moved @ abs(v.value)
                + abs(w) @ v.moved
                + abs(y) * moved.sum(1, keepdims=True)
            ) / abs(total)
            parts.append((y, moved, ~allowed.any(1)))
        return [np.concatenate(each) for each in zip(*parts)]
