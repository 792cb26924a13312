"""Cuts texts with the tokenizer of a folder, beside transformers and its library tokenizers.

usage: tokenizers_beside.py [--build BUILD] [--drawn LINES] [--seed SEED] FOLDER [FILE]

Ids and the characters of tokens must be those of the library, for single texts and for
pairs that are truncated. FILE has lines of text, which are also timed: the best of seven
rounds of each in turns, three times, in one thread. --drawn draws hostile lines: pieces of
the vocabulary, special tokens, words and characters of all scripts.
"""

import argparse
import itertools
import json
import os
import pathlib
import random
import subprocess
import sys
import time

os.environ["TOKENIZERS_PARALLELISM"] = "false"
sys.path.append(str(pathlib.Path(__file__).parents[2] / "test/goldens"))

from make_component_goldens import SENTENCES, SPACES  # noqa: E402
from transformers import AutoTokenizer  # noqa: E402

RANGES = [(0, 0x80), (0x80, 0x250), (0x300, 0x370), (0x370, 0x530), (0x590, 0xE00)]
RANGES += [(0xE00, 0x1100), (0xAC00, 0xD7A4), (0x1100, 0x1200), (0x1DC0, 0x2070)]
RANGES += [(0x20D0, 0x2100), (0x2460, 0x2500), (0x3000, 0x3100), (0x3130, 0x3190)]
RANGES += [(0x4E00, 0x9FFF), (0xF900, 0xFE00), (0xFE00, 0xFFFE), (0x10000, 0x10FFF)]
RANGES += [(0x1D100, 0x1D800), (0x1E000, 0x1F000), (0x1F1E6, 0x1F700), (0xE0000, 0xE0200)]


def draw(tokenizer, words, count, rng):
    """Lines, and pairs with a length and a stride."""
    pieces = sorted(tokenizer.get_vocab())
    special = list(tokenizer.all_special_tokens) or [""]

    def line():
        parts = []
        for _ in range(rng.randint(1, 12)):
            kind = rng.random()
            if kind < 0.4:
                parts.append(rng.choice(words))
            elif kind < 0.55:
                parts.append(rng.choice(pieces))
            elif kind < 0.62:
                parts.append(rng.choice(special))
            else:
                low, high = rng.choice(RANGES)
                points = [rng.randrange(low, high) for _ in range(rng.randint(1, 5))]
                parts.append("".join(map(chr, points)))
            parts.append(rng.choice([*SPACES, "", ""]))
        return "".join(parts)

    for i in range(count):
        yield line() if i % 4 else [line(), line(), rng.choice([12, 24, 48]), rng.randint(0, 3)]


def cut(tokenizer, entry):
    """The windows of a line or a pair; None if the library refuses."""
    tokenizer.no_truncation()
    if isinstance(entry, list):
        tokenizer.enable_truncation(entry[2], stride=entry[3])
        try:
            first = tokenizer.encode(entry[0], entry[1])
        except BaseException:  # It may panic.
            return None
    else:
        first = tokenizer.encode(entry)
    return [first, *first.overflowing]


def numbers_of(text):
    """The number of the character that each byte is one of, and how many there are."""
    characters = ([i] * len(c.encode()) for i, c in enumerate(text))
    return [*itertools.chain.from_iterable(characters), len(text)]


def differs(entry, theirs, ours):
    """What is not the same: "" for nothing."""
    if isinstance(ours, str) or len(ours) != len(theirs):
        return f"windows: {ours if isinstance(ours, str) else len(ours)}, {len(theirs)}"
    numbers = [numbers_of(text) for text in (entry if isinstance(entry, list) else [entry])[:2]]
    for (ids, types, texts, spans), window in zip(ours, theirs):
        if ids != window.ids:
            return f"ids {ids} {window.ids}"
        # Of windows behind the first the library may not know types.
        if window is theirs[0] and types != window.type_ids:
            return f"types {types} {window.type_ids}"
        for i, text in enumerate(texts):
            begin, end = spans[2 * i : 2 * i + 2]
            if text >= 0:
                begin, end = numbers[text][begin], end and numbers[text][end - 1] + 1
            if (begin, end) != window.offsets[i]:
                return f"token {i}: {begin, end} {window.offsets[i]}"
    return ""


def compare(tokenizer, binary, folder, entries):
    entries = [
        (entry, theirs)
        for entry in entries
        if (theirs := cut(tokenizer.backend_tokenizer, entry)) is not None
    ]
    lines = "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry, _ in entries)
    made = subprocess.run(
        [binary, folder, "--tokens"], input=lines, capture_output=True, text=True
    )
    if made.returncode:
        sys.exit(made.stderr)
    size = bad = 0
    for (entry, theirs), ours in zip(entries, made.stdout.splitlines(), strict=True):
        size += sum(len(t.encode()) for t in (entry[:2] if isinstance(entry, list) else [entry]))
        if problem := differs(entry, theirs, json.loads(ours)):
            bad += 1
            if bad <= 3:
                print(repr(entry), problem)
    print(f"{folder}: {len(entries)} lines, {size} bytes, {bad} differ", flush=True)


def measure(tokenizer, binary, folder, lines):
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    backend = tokenizer.backend_tokenizer
    backend.no_truncation()
    for _ in range(3):
        best = float("inf")
        for _ in range(7):
            begin = time.perf_counter()
            for line in lines:
                backend.encode(line)
            best = min(best, time.perf_counter() - begin)
        made = subprocess.run(
            [binary, folder, "--time"], input=text, capture_output=True, text=True, check=True
        )
        ours = float(made.stdout)
        count = len(lines)
        print(f"Heddle {count / ours:.0f} lines/s, tokenizers {count / best:.0f}, {best / ours:.1f}x")


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("folder")
    arguments.add_argument("file", nargs="?")
    arguments.add_argument("--build", default="build")
    arguments.add_argument("--drawn", type=int, default=0)
    arguments.add_argument("--seed", type=int, default=1)
    options = arguments.parse_args()
    binary = f"{options.build}/bench/bench-folder-tokenizer"
    tokenizer = AutoTokenizer.from_pretrained(options.folder)
    tokenizer.backend_tokenizer.no_padding()
    lines = pathlib.Path(options.file).read_text().splitlines() if options.file else []
    words = [word for line in SENTENCES + lines for word in line.split(" ")]
    rng = random.Random(options.seed)
    entries = itertools.chain(lines, draw(tokenizer, words, options.drawn, rng))
    compare(tokenizer, binary, options.folder, entries)
    if lines:
        measure(tokenizer, binary, options.folder, lines)


if __name__ == "__main__":
    main()
