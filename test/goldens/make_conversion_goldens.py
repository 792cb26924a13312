"""Writes converted/: what classes of transformers make of a SentencePiece model alone.

usage: make_conversion_goldens.py

`pairs.model` is a model of merges with bytes. `classes.json` has a list of objects: a
class, its model, where that stands in a folder, other files, the ids of each of
`texts.json`, ids and types of pairs, and drawn ids with their text. The oracle is
transformers, whose fast tokenizers convert the model.
"""

import json
import pathlib
import random
import shutil
import tempfile

import sentencepiece
from make_offset_goldens import SENTENCES, TEXTS
from transformers import AutoTokenizer
from transformers.utils import logging

GOLDENS = pathlib.Path(__file__).parent
FOLDER = GOLDENS / "converted"
LINES = TEXTS + [
    "``quoted'' text 1,000, 3, and ÉCLAIR İSTANBUL",
    "[CLS] the [MASK] fox[SEP] <mask> [UNK]",
    "［ＭＡＳＫ］ ＜ｓ＞ <s>the</s> <unk>fox <pad>",
    "<extra_id_0> the<extra_id_4>fox <extra_id_99> <eop><madeupword3> <s>NOTUSED",
    "eng_Latn por_Latn<mask> ＜ｍａｓｋ＞ ▁<PRE>x ▁<MID>",
    "don't-stop, end. 😀é\t\n x",
]
FAIRSEQ, ROLES = "offset/fairseq.model", "offset/fairseq-roles.model"
PAIRS = "converted/pairs.model"
# Only there: a class that converts anew does not read it.
WHOLE = {"tokenizer.json": {"added_tokens": []}}
# The class, the model and its place, the rest of the configuration, and other files.
CASES = [
    ("AlbertTokenizer", ROLES, "spiece.model", {}),
    ("AlbertTokenizer", FAIRSEQ, "spiece.model", {"do_lower_case": False, "keep_accents": True}),
    ("BarthezTokenizer", FAIRSEQ, "sentencepiece.bpe.model", {}),
    ("BigBirdTokenizer", FAIRSEQ, "spiece.model", {}),
    ("CamembertTokenizer", FAIRSEQ, "sentencepiece.bpe.model", {}),
    ("DebertaV2Tokenizer", ROLES, "spm.model", {}),
    ("DebertaV2Tokenizer", FAIRSEQ, "spm.model", {"do_lower_case": True, "split_by_punct": True}),
    ("FNetTokenizer", FAIRSEQ, "spiece.model", {}),
    ("ReformerTokenizer", PAIRS, "spiece.model", {}),
    ("RemBertTokenizer", FAIRSEQ, "sentencepiece.model", {}),
    ("T5Tokenizer", "offset/pegasus.model", "spiece.model", {}),
    ("T5Tokenizer", "offset/pegasus-roles.model", "spiece.model", {"legacy": False}),
    ("T5Tokenizer", FAIRSEQ, "spiece.model", {"add_prefix_space": False, "extra_ids": 5}),
    ("XGLMTokenizer", FAIRSEQ, "sentencepiece.bpe.model", {}),
    ("XLMRobertaTokenizer", ROLES, "sentencepiece.bpe.model", {}),
    ("XLNetTokenizer", FAIRSEQ, "spiece.model", {}),
    ("NllbTokenizer", ROLES, "sentencepiece.bpe.model", {}),
    (
        "NllbTokenizer",
        PAIRS,
        "sentencepiece.bpe.model",
        {"src_lang": "por_Latn", "legacy_behaviour": True},
    ),
    ("CodeLlamaTokenizer", PAIRS, "tokenizer.model", {"add_eos_token": True}),
    ("LlamaTokenizer", PAIRS, "tokenizer.model", {}),
    ("LlamaTokenizer", PAIRS, "tokenizer.model", {"legacy": False, "add_eos_token": True}),
    ("LlamaTokenizer", PAIRS, "tokenizer.model", {"add_prefix_space": False}),
    ("LayoutXLMTokenizer", ROLES, "sentencepiece.bpe.model", {}),
    ("MT5Tokenizer", "offset/pegasus.model", "spiece.model", {"legacy": None}),
    ("T5Tokenizer", "offset/pegasus.model", "spiece.model", {"from_slow": True}, WHOLE),
    (
        "CodeLlamaTokenizer",
        PAIRS,
        "tokenizer.model",
        {"add_prefix_space": False, "legacy": False, "add_bos_token": None},
    ),
    ("LlamaTokenizer", PAIRS, "tokenizer.model", {"add_prefix_space": None, "legacy": None}),
    ("LlamaTokenizer", PAIRS, "tokenizer.model", {"from_slow": True}, WHOLE),
    (
        "LlamaTokenizer",
        PAIRS,
        "tokenizer.model",
        {"from_slow": True, "add_prefix_space": True, "legacy": False},
        WHOLE,
    ),
    # Tokens around a text have the ids that the slow tokenizer gives them.
    ("AlbertTokenizer", "offset/pegasus.model", "spiece.model", {}),
    (
        "BigBirdTokenizer",
        "offset/pegasus.model",
        "spiece.model",
        {"cls_token": "<cls>"},
        {"added_tokens.json": {"the": 99, "[SEP]": 104}},
    ),
    # A token that is an object there does not count as special in the other file.
    (
        "LlamaTokenizer",
        PAIRS,
        "tokenizer.model",
        {"pad_token": {"__type": "AddedToken", "content": "[MASK]", "normalized": True}},
        {"added_tokens.json": {"[MASK]": 460}},
    ),
]


def train():
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES * 20),
        model_prefix=str(FOLDER / "pairs"),
        model_type="bpe",
        vocab_size=460,
        character_coverage=1.0,
        byte_fallback=True,
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
        user_defined_symbols=["<sep>"],
        minloglevel=2,
    )
    (FOLDER / "pairs.vocab").unlink()


def main():
    logging.set_verbosity_error()
    FOLDER.mkdir(exist_ok=True)
    train()
    rng = random.Random(1)
    found = []
    for name, model, place, config, *others in CASES:
        with tempfile.TemporaryDirectory() as scratch:
            shutil.copy(GOLDENS / model, pathlib.Path(scratch) / place)
            whole = {"tokenizer_class": name, **config}
            files = {"tokenizer_config.json": whole}
            files |= others[0] if others else {}
            for file, content in files.items():
                (pathlib.Path(scratch) / file).write_text(json.dumps(content))
            tokenizer = AutoTokenizer.from_pretrained(scratch)
        assert tokenizer.is_fast
        size = len(tokenizer)
        drawn = [[rng.randrange(size) for _ in range(12)] for _ in range(12)]
        pairs = []
        for a, b in zip(LINES[::5], LINES[2::5]):
            encoding = tokenizer.backend_tokenizer.encode(a, b)
            pairs.append([a, b, encoding.ids, encoding.type_ids])
        found.append(
            {
                "model": model,
                "place": place,
                "files": files,
                "ids": [tokenizer.backend_tokenizer.encode(line).ids for line in LINES],
                "pairs": pairs,
                "decoded": [[ids, tokenizer.decode(ids, True)] for ids in drawn],
            }
        )
    for name, value in (("texts", LINES), ("classes", found)):
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        (FOLDER / f"{name}.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
