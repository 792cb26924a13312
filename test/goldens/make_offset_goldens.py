"""Writes offset/: small tokenizers of mBART, mBART-50, Pegasus and MarianMT, and
what they make of texts.

usage: make_offset_goldens.py [--folder FOLDER]

README.md describes the files. The oracle is transformers.
"""

import argparse
import json
import pathlib
import random
import shutil

import sentencepiece
from transformers import (
    MarianTokenizer,
    MBart50Tokenizer,
    MBartTokenizer,
    PegasusTokenizer,
)
from transformers.utils import logging

SENTENCES = [
    "The quick brown fox jumps over the lazy dog, doesn't it?",
    "O rápido cão não saltou; ação, coração, às três e meia.",
    "Быстрая коричневая лиса прыгает через ленивую собаку.",
    "敏捷的棕色狐狸跳过了懒狗。",
    "In 2024 the price rose by 3.75% to $1,234.",
]
TEXTS = SENTENCES + [
    "  two  spaces   and\ttabs ",
    "unseen: ☃ 한국어 😀x",
    "ﬁne ½ Ⅷ",
    ">>por<< The fox",
    ">>xyz<< The fox",
    ">>por<< a >>fra<< b",
    "The >>por<< fox",
    ">><< fox",
    ">> fox",
    "fox <<",
]


def train(prefix, **ids):
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES * 20),
        model_prefix=str(prefix),
        vocab_size=160,
        character_coverage=1.0,
        hard_vocab_limit=False,
        **ids,
    )
    prefix.with_suffix(".vocab").unlink()
    return prefix.with_suffix(".model")


def write_marian(folder, model):
    """The vocabulary of a folder as OPUS-MT's of many targets."""
    pieces = sentencepiece.SentencePieceProcessor(str(model))
    names = ["</s>", "<unk>", ">>por<<", ">>fra<<"]
    names += [pieces.id_to_piece(i) for i in range(3, pieces.get_piece_size())]
    vocabulary = {name: id for id, name in enumerate([*names, "<pad>"])}
    text = json.dumps(vocabulary, ensure_ascii=False)
    (folder / "vocab.json").write_text(text + "\n")
    return MarianTokenizer(str(model), str(model), str(folder / "vocab.json"))


def write_case(folder, tokenizer, config):
    """Lines: the text's ids, and the text of random ids."""
    (folder / "tokenizer_config.json").write_text(json.dumps(config) + "\n")
    rng = random.Random(1)
    size = len(tokenizer.get_vocab())
    with open(folder / "ids", "w") as ids, open(folder / "drawn", "w") as drawn:
        for text in TEXTS:
            row = tokenizer(text).input_ids
            ids.write(" ".join(map(str, row)) + "\n")
            row += [rng.randrange(size) for _ in range(12)]
            drawn.write(" ".join(map(str, row)) + "\n")
    with open(folder / "drawn") as drawn, open(folder / "decoded", "w") as out:
        for line in drawn:
            row = list(map(int, line.split()))
            out.write(tokenizer.decode(row, skip_special_tokens=True) + "\n")


def main():
    logging.set_verbosity_error()
    arguments = argparse.ArgumentParser()
    goldens = pathlib.Path(__file__).parent
    arguments.add_argument("--folder", type=pathlib.Path, default=goldens)
    root = arguments.parse_args().folder / "offset"
    shutil.rmtree(root, ignore_errors=True)
    folders = {}
    for name in ("mbart", "mbart50", "pegasus", "marian"):
        folders[name] = root / name
        folders[name].mkdir(parents=True)
    (root / "texts").write_text("".join(text + "\n" for text in TEXTS))
    fairseq = train(root / "fairseq", unk_id=0, bos_id=1, eos_id=2)
    for name, kind, language in (
        ("mbart", MBartTokenizer, "ro_RO"),
        ("mbart50", MBart50Tokenizer, "pt_XX"),
    ):
        config = {"tokenizer_class": kind.__name__, "src_lang": language}
        tokenizer = kind(str(fairseq), src_lang=language)
        write_case(folders[name], tokenizer, config)
    write_case(folders["marian"], write_marian(folders["marian"], fairseq), {})
    other = train(root / "pegasus", pad_id=0, eos_id=1, unk_id=2, bos_id=-1)
    config = {"tokenizer_class": "PegasusTokenizer"}
    write_case(folders["pegasus"], PegasusTokenizer(str(other)), config)


if __name__ == "__main__":
    main()
