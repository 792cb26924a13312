"""The modules of gallery/, and what they read.

A module is text: its weights, arguments and functions are found there. Numbers
that are drawn depend on their names alone, so that any cell can be repeated.
"""

import functools
import pathlib
import re
import zlib
from dataclasses import dataclass

import numpy as np

from oracles import ENCODERS, VARIANTS, Numbers
from sentence import Sentence

GALLERY = pathlib.Path(__file__).parent / "gallery"
LONGEST = 4096


def generator(*words):
    return np.random.default_rng(zlib.crc32(" ".join(map(str, words)).encode()))


@dataclass
class Module:
    name: str
    text: str
    key_heads: int

    @property
    def variant(self):
        return VARIANTS[self.name]

    @property
    def functions(self):
        """encoder, decoder and cross, of which it has some."""
        return re.findall(r"^func.func @(\w+)\(", self.text, re.M)

    def type_of(self, text):
        aliases = dict(re.findall(r"^!(\w+) = (.*)$", self.text, re.M))
        return aliases.get(text.lstrip("!"), text)

    def shape_of(self, text):
        return [int(n) for n in re.findall(r"(\d+)x", self.type_of(text))]

    @property
    def width(self):
        return self.shape_of("!sequence")[0]

    def forms(self, function):
        if function == "encoder":
            return ["full"]
        # Sums over the target go through it in order: they take no pieces.
        sums = function == "decoder" and "linear_attention" in self.text
        return ["full", "step", "chunk" if sums else "extend"]

    def has_caches(self, function):
        """Sums of keys are of constant size."""
        return function == "decoder" and "linear_attention" not in self.text

    def arguments(self, function):
        """Names and types."""
        start = self.text.index(f"@{function}(")
        head = self.text[start : self.text.index("->", start)]
        return re.findall(r"%(\w+): (\S+) \{", head)

    def weights(self):
        found = re.findall(r"parameter @(\w+) : (\S+)", self.text)
        return {name: weight(name, self.shape_of(type)) for name, type in found}

    def with_grouped_heads(self):
        """The same with one head of keys and values for all queries; none where
        keys are of another make."""
        wide = [
            "!keys = tensor<?x?x64xf32>",
            "!key_weights = tensor<64x64xf32>",
        ]
        is_per_head = "tensor<2x16x4096xf32>" in self.text
        if is_per_head or any(words not in self.text for words in wide):
            return None
        text = self.text.replace("tensor<?x16x64xf32>", "tensor<?x16x32xf32>")
        for words in wide:
            text = text.replace(words, words.replace("64xf32", "32xf32"))
        text = text.replace(
            "{heads = 2 : i64", "{heads = 2 : i64, kv_heads = 1 : i64"
        )
        return Module(self.name, text, key_heads=1)

    def only(self, function):
        """Without the other functions."""
        others = "|".join(set(self.functions) - {function})
        pattern = rf"^func\.func @({others})\(.*?^}}\n"
        text = re.sub(pattern, "", self.text, flags=re.M | re.S)
        return Module(self.name, text, self.key_heads)

    def turned(self):
        """With the operands of each `or` exchanged."""
        text = re.sub(r"(mask\.or) (%\w+), (%\w+)", r"\1 \3, \2", self.text)
        return Module(self.name, text, self.key_heads)


def weight(name, shape):
    random = generator("weight", name, shape)
    if name == "slopes":
        return np.float32([0.25, 0.0625])
    if name in "EF":
        # Sums over 777 positions are of the size of one.
        return np.float32(random.normal(0, 0.04, shape))
    return np.float32(random.normal(0, 1.2 / np.sqrt(shape[0]), shape))


def read_module(name):
    text = (GALLERY / f"{name}.mlir").read_text()
    check_quoted_line(name, text)
    heads = re.search(r"kv_heads = (\d+)", text) or re.search(
        r"[{ ]heads = (\d+)", text
    )
    return Module(name, text, int(heads[1]))


def check_quoted_line(name, text):
    """The line that stands for the variant in tables is one of the module."""
    head, body = text.split("// In one line:\n//", 1)
    line, body = body.split("\n", 1)
    if "".join(line.split()) not in "".join(body.split()):
        raise ValueError(f"{name}.mlir has no line {line.strip()}")


# ------------------------------------------------------------------------------
# Inputs
# ------------------------------------------------------------------------------


class Batch:
    """Sentences of some lengths, and the memories that others attend to."""

    def __init__(self, module, function, lengths, memory_lengths=None):
        self.module, self.function = module, function
        self.lengths = lengths
        # Across, each sentence has the memory of another length.
        turned = lengths[2:] + lengths[:2]
        self.memory_lengths = memory_lengths or (
            turned if function == "cross" else lengths
        )
        self.is_short = module.width == 32

    def rows(self, of, b, length):
        random = generator(of, b, self.lengths, self.module.width)
        # Scores of narrow modules have no scale.
        size = 0.5 if self.is_short else 1
        return np.float32(random.normal(0, size, (length, self.module.width)))

    def sequence(self, b):
        return self.rows("x", b, self.lengths[b])

    def memory(self, b):
        if self.function != "cross":
            return self.sequence(b)
        return self.rows("memory", b, self.memory_lengths[b])

    def lists(self, b):
        """What masks read, for one sentence."""
        return {
            name: LISTS[name](
                b, self.lengths[b], self.memory_lengths[b], self.module.name
            )
            for name, _ in self.module.arguments(self.function)
            if name in LISTS
        }

    def sentence(self, b, type):
        def exact(values):
            return Numbers(np.float64(values), np.zeros(values.shape))

        return Sentence(
            x=exact(self.sequence(b)),
            memory=exact(self.memory(b)),
            weights={
                name: np.float64(values)
                for name, values in self.module.weights().items()
            },
            lists=self.lists(b),
            causal=self.function == "decoder",
            key_heads=self.module.key_heads,
            type=type,
        )

    def expected(self, type):
        """Of each sentence y, by how much one rounding moves it, and which
        queries of which heads have no key."""
        return [self.oracle(b, type) for b in range(len(self.lengths))]

    def oracle(self, b, type):
        variant = self.module.variant
        if self.function == "encoder":
            variant = ENCODERS.get(self.module.name, variant)
        sentence = self.sentence(b, type)
        y = sentence.attend(variant)
        return y.value, y.moved * sentence.roundoff, sentence.empty

    def arrays(self, of=None):
        """The arguments, of all sentences or of one without padding."""
        chosen = range(len(self.lengths)) if of is None else [of]
        arrays = {
            "x": padded([self.sequence(b) for b in chosen]),
            "memory": padded([self.memory(b) for b in chosen]),
            "lengths": np.int32([self.memory_lengths[b] for b in chosen]),
        }
        lists = [self.lists(b) for b in chosen]
        for name in lists[0]:
            each = [values[name] for values in lists]
            if name in ["offsets", "listed"]:
                arrays[name] = each[0]
            elif name == "table":
                # One for all sentences: that of the longest holds the others.
                arrays[name] = marked_pairs(
                    max(self.lengths[b] for b in chosen),
                    max(self.memory_lengths[b] for b in chosen),
                )
            elif name == "ids":
                arrays[name] = padded(each, filler=0)
            else:
                arrays[name] = np.stack(each)
        return {
            name: arrays[name]
            for name, _ in self.module.arguments(self.function)
        }


def padded(rows, filler=np.nan):
    """[batch, longest, ...]; what is behind an end is no number."""
    shape = (len(rows), max(map(len, rows)), *rows[0].shape[1:])
    result = np.full(shape, filler, rows[0].dtype)
    for b, values in enumerate(rows):
        result[b, : len(values)] = values
    return result


def chosen_tokens(b, n, m, variant):
    """A filler, the first one and a late one."""
    return np.int32([-1, 0, 2 + n * 2 // 3])


def segment_ids(b, n, m, variant):
    """Segments of 1, 2, 3, ... positions."""
    ids = np.repeat(np.arange(96), np.arange(1, 97))
    return np.int32(3 * ids[:n])


def first_of_segments(b, n, m, variant):
    starts = np.append(0, np.cumsum(np.arange(1, 97)))[:96]
    starts = starts[starts < n]
    return np.int32(np.append(np.full(96 - len(starts), -1), starts))


@functools.cache
def compressed_rows(variant):
    rows, count, numbers = {
        "blocks": (512, 2048, 512),
        "pairs": (4096, 16384, LONGEST),
    }[variant]
    random = generator(variant)
    offsets, listed = [0], []
    for row in range(rows):
        # Some rows are empty; numbers are small in one half of the others.
        size = row % 7 if row % 2 else row % 9
        most = numbers if row % 3 == 0 else max(8, numbers // 128)
        size = min(size, most, count - len(listed))
        listed += sorted(random.choice(most, size, replace=False))
        offsets.append(len(listed))
    return np.int32(offsets), np.int32(np.pad(listed, (0, count - len(listed))))


def marked_pairs(n, m):
    """One pair in seven, and of every eleventh query none."""
    i, j = np.ogrid[:n, :m]
    return np.int8(((5 * i + 3 * j) % 7 == 0) & (i % 11 != 4))


LISTS = {
    "tokens": chosen_tokens,
    "ids": segment_ids,
    "firsts": first_of_segments,
    "offsets": lambda b, n, m, variant: compressed_rows(variant)[0],
    "listed": lambda b, n, m, variant: compressed_rows(variant)[1],
    "table": lambda b, n, m, variant: marked_pairs(n, m),
}
