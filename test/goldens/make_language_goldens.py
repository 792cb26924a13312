#!/usr/bin/env python3
"""Writes languages/: tokenizers of many languages, and what they make of texts.

usage: make_language_goldens.py [--folder FOLDER] [--keep-models]

README.md describes the files. The oracle is transformers, and for SMaLL-100
small100.py. --keep-models does not train the model anew: its bytes vary with the
version of SentencePiece.
"""

import argparse
import json
import pathlib
import random
import shutil
import tempfile

import sentencepiece
from make_offset_goldens import SENTENCES
from small100 import Small100Tokenizer
from transformers import AutoTokenizer
from transformers.models.m2m_100.tokenization_m2m_100 import FAIRSEQ_LANGUAGE_CODES
from transformers.utils import logging

TEXTS = SENTENCES + [
    "  two  spaces   and\ttabs ",
    "unseen: ☃ 한국어 😀x",
    "＜s＞ the fox ▁ a▁b",
    "the__fr__fox __de__ eng_Latn fra_Latn, <mask> the </s><pad> fox<unk>",
    "__ fr __xx__ en_XX ro_RO",
]
MODEL = "sentencepiece.bpe.model"
SMALL100_CODE = "tokenization_small100.py"
FEW = ["ace_Arab", "deu_Latn", "eng_Latn", "fra_Latn", "zho_Hans", "zho_Hant"]


def listed(codes):
    return [f"__{code}__" for code in FAIRSEQ_LANGUAGE_CODES[codes]]


# name: tokenizer_config.json, which model, whether there is a vocab.json, other
# `files`, the languages that requests name, and what reads the folder if it is not
# AutoTokenizer. `whole` takes the tokenizer.json that the fast class saves.
CASES = {
    "m2m100": {
        "config": {"tokenizer_class": "M2M100Tokenizer", "src_lang": "fr"},
        "numbers": True,
        "languages": ["en", "zu"],
    },
    "m2m100-listed": {
        "config": {"tokenizer_class": "M2M100Tokenizer", "src_lang": None},
        "files": {
            "special_tokens_map.json": {"additional_special_tokens": listed("m2m100")}
        },
        "numbers": True,
        "languages": ["ast", "fr"],
    },
    "m2m100-wmt21": {
        "config": {"language_codes": "wmt21", "num_madeup_words": 0},
        "numbers": True,
        "languages": ["de", "ha"],
    },
    "small100": {
        "config": {"tokenizer_class": "SMALL100Tokenizer", "tgt_lang": "fr"},
        "numbers": True,
        "languages": ["en", "ml"],
        "class": Small100Tokenizer,
    },
    "small100-code": {
        "config": {"tokenizer_class": "M2M100Tokenizer", "src_lang": "fr"},
        "files": {SMALL100_CODE: "# SMALL100Tokenizer\n"},
        "numbers": True,
        "languages": ["fr"],
        "class": Small100Tokenizer,
    },
    "nllb": {
        "config": {"tokenizer_class": "NllbTokenizer", "src_lang": None},
        "model": "nllb.model",
        "languages": ["fra_Latn", "zul_Latn"],
    },
    "nllb-legacy": {
        "config": {
            "tokenizer_class": "NllbTokenizer",
            "legacy_behaviour": True,
            "src_lang": "fra_Latn",
        },
        "model": "nllb.model",
        "languages": ["eng_Latn", "ace_Arab"],
    },
    # The template of the file has another language than the configuration.
    "nllb-whole": {
        "config": {
            "tokenizer_class": "NllbTokenizerFast",
            "additional_special_tokens": FEW,
        },
        "change": {"src_lang": "deu_Latn"},
        "model": "nllb.model",
        "whole": True,
        "languages": ["fra_Latn", "zho_Hant"],
    },
    "mbart50": {
        "config": {"tokenizer_class": "MBart50Tokenizer", "src_lang": "ro_RO"},
        "languages": ["en_XX", "sl_SI"],
    },
}


def train(path):
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES * 20),
        model_prefix=str(path.with_suffix("")),
        model_type="bpe",
        normalization_rule_name="identity",
        vocab_size=150,
        unk_id=0,
        bos_id=1,
        eos_id=2,
    )
    path.with_suffix(".vocab").unlink()


def write_numbers(path, model):
    """Pieces in another order than the model's, some of them missing."""
    pieces = sentencepiece.SentencePieceProcessor(str(model))
    names = [pieces.id_to_piece(i) for i in range(3, pieces.get_piece_size())]
    names = [name for name in sorted(names) if name not in ("▁лени", "z")]
    numbers = ["<s>", "<pad>", "</s>", "<unk>", *names]
    table = {name: id for id, name in enumerate(numbers)}
    path.write_text(json.dumps(table, ensure_ascii=False) + "\n", encoding="utf-8")


def write_files(folder, spec, root):
    """The folder; returns what of it the test has to write."""
    files = {"tokenizer_config.json": spec["config"], **spec.get("files", {})}
    for name, content in files.items():
        text = content if isinstance(content, str) else json.dumps(content)
        (folder / name).write_text(text)
    model = root / spec.get("model", "../offset/fairseq.model")
    shutil.copy(model, folder / MODEL)
    if spec.get("numbers"):
        shutil.copy(root / "vocab.json", folder)
    (folder / "config.json").write_text('{"model_type": "m2m_100"}')
    if spec.get("whole"):
        tokenizer = AutoTokenizer.from_pretrained(folder)
        with tempfile.TemporaryDirectory() as scratch:
            tokenizer.save_pretrained(scratch)
            whole = pathlib.Path(scratch, "tokenizer.json").read_text("utf-8")
        files["tokenizer_config.json"] = spec["config"] | spec["change"]
        files["tokenizer.json"] = json.loads(whole)
        (folder / MODEL).unlink()
        for name in ("tokenizer_config.json", "tokenizer.json"):
            (folder / name).write_text(json.dumps(files[name]))
    return files


def id_of(tokenizer, name):
    if hasattr(tokenizer, "get_lang_id"):
        return tokenizer.get_lang_id(name)
    return tokenizer.convert_tokens_to_ids(name)


def describe(name, spec, root):
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        files = write_files(folder, spec, root)
        tokenizer = spec.get("class", AutoTokenizer).from_pretrained(folder)
    named = {language: id_of(tokenizer, language) for language in spec["languages"]}
    case = {"name": name, "files": files, "languages": named, "ids": {}}
    if not spec.get("whole"):
        case["model"] = spec.get("model", "../offset/fairseq.model")
    case["numbers"] = spec.get("numbers", False)
    for language in ["", *named]:
        if language:
            tokenizer.src_lang = language
        case["ids"][language] = [tokenizer(text).input_ids for text in TEXTS]
    known = [*range(len(tokenizer)), *named.values()]
    case["rows"] = max(known) + 1
    rng = random.Random(1)
    drawn = [[rng.choice(known) for _ in range(12)] for _ in range(6)]
    drawn += list(case["ids"][""])
    if spec.get("numbers") and not spec.get("files") and "class" not in spec:
        # transformers forgets there that a language is a special token.
        codes = spec["config"].get("language_codes", "m2m100")
        languages = {tokenizer.get_lang_id(l) for l in FAIRSEQ_LANGUAGE_CODES[codes]}
        texts = [[id for id in row if id not in languages] for row in drawn]
    else:
        texts = drawn
    case["drawn"] = drawn
    case["texts"] = [tokenizer.decode(row, skip_special_tokens=True) for row in texts]
    return case


def main():
    logging.set_verbosity_error()
    arguments = argparse.ArgumentParser()
    goldens = pathlib.Path(__file__).parent
    arguments.add_argument("--folder", type=pathlib.Path, default=goldens)
    arguments.add_argument("--keep-models", action="store_true")
    options = arguments.parse_args()
    root = options.folder / "languages"
    root.mkdir(exist_ok=True)
    if not options.keep_models:
        train(root / "nllb.model")
    write_numbers(root / "vocab.json", options.folder / "offset/fairseq.model")
    cases = [describe(name, spec, root) for name, spec in CASES.items()]
    lines = [json.dumps(case, ensure_ascii=False) for case in cases]
    whole = {"texts": TEXTS}
    text = json.dumps(whole, ensure_ascii=False)[:-1]
    text += ', "cases": [\n' + ",\n".join(lines) + "\n]}\n"
    (root / "cases.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
