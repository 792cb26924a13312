#!/usr/bin/env python3
"""Writes byte-tokens/cases.json: what ByT5Tokenizer of transformers 4.57.6, which has no
vocabulary in a file, makes of texts.

usage: make_byte_token_goldens.py [--folder FOLDER]

A case has the files of a folder, the ids of each of `texts`, those of a pair of texts, and
lists of ids with their text without special tokens.
"""

import argparse
import json
import pathlib
import tempfile

import numpy as np
from transformers import AutoTokenizer
from transformers.utils import logging

TEXTS = [
    "Life is like a box of chocolates.",
    "",
    " ",
    "  two  spaces\tand\n ends ",
    "Ünï çödé 日本 😀 ÿĀ",
    "\u0000\u0001\u007f\u0080\u00ff\u0100",
    "a <extra_id_0> b<extra_id_124>c <extra_id_125>",
    "before </s> after",
    "it ends</s>",
    "it ends </s></s> ",
    "<pad> <unk>x<pad>",
    "<sep> is <x> a token",
    "</s>",
]
NAMED = {
    "__type": "AddedToken",
    "content": "</s>",
    "lstrip": False,
    "normalized": False,
    "rstrip": False,
    "single_word": False,
    "special": True,
}
CLASS = {"tokenizer_class": "ByT5Tokenizer"}
FOUR = [f"<extra_id_{i}>" for i in range(4)]
CASES = [
    {"tokenizer_config.json": CLASS},
    {"config.json": CLASS | {"model_type": "t5"}},
    # As google/byt5-small has it.
    {
        "tokenizer_config.json": CLASS
        | {
            "additional_special_tokens": [f"<extra_id_{i}>" for i in range(125)],
            "eos_token": NAMED,
            "extra_ids": 125,
            "pad_token": NAMED | {"content": "<pad>"},
            "unk_token": NAMED | {"content": "<unk>"},
        },
        "special_tokens_map.json": {"eos_token": "</s>"},
    },
    {"tokenizer_config.json": CLASS | {"extra_ids": 0}},
    {
        "tokenizer_config.json": CLASS
        | {"extra_ids": 4, "additional_special_tokens": ["<x>", *FOUR]}
    },
    {
        "tokenizer_config.json": CLASS
        | {"eos_token": "<end>", "sep_token": "<sep>", "extra_ids": 2}
    },
    {
        "tokenizer_config.json": CLASS
        | {
            "added_tokens_decoder": {
                "0": NAMED | {"content": "<pad>"},
                "1": NAMED,
                "2": NAMED | {"content": "<unk>"},
                "259": NAMED | {"content": "<x>", "lstrip": True},
            },
            "additional_special_tokens": ["<x>"],
            "extra_ids": 0,
        }
    },
]


def rows():
    """Drawn bytes, which are seldom characters, and special tokens among them."""
    rng = np.random.Generator(np.random.PCG64(7))
    text = [b + 3 for b in "Ü 日本 😀\ufffd!".encode()]
    yield text
    yield text[:-3] + [1]
    yield text[:1] + [0] + text[1:]
    for length in (1, 2, 5, 20, 60):
        yield rng.integers(0, 259, length).tolist()
    high = [b + 3 for b in (0xF0, 0x9F, 0x98, 0xE6, 0x97, 0xC3, 0xED, 0xA0, 0x80)]
    yield [*high, 68, *high[:2], 1]


def make(files):
    with tempfile.TemporaryDirectory() as scratch:
        for name, content in files.items():
            pathlib.Path(scratch, name).write_text(json.dumps(content))
        tokenizer = AutoTokenizer.from_pretrained(scratch)
    assert not tokenizer.is_fast
    decoded = [[row, tokenizer.decode(row, skip_special_tokens=True)] for row in rows()]
    return {
        "decoded": decoded,
        "files": files,
        "ids": [tokenizer(text)["input_ids"] for text in TEXTS],
        "pair": tokenizer("a</s>", "b")["input_ids"],
    }


def main():
    logging.set_verbosity_error()
    arguments = argparse.ArgumentParser()
    goldens = pathlib.Path(__file__).parent
    arguments.add_argument("--folder", type=pathlib.Path, default=goldens)
    folder = arguments.parse_args().folder / "byte-tokens"
    folder.mkdir(exist_ok=True)
    found = {"cases": [make(files) for files in CASES], "texts": TEXTS}
    (folder / "cases.json").write_text(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
