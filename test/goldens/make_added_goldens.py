"""Writes added/cases.json: folders with added and special tokens in all forms,
and what AutoTokenizer makes of texts with these tokens; and added/KIND.json, the
components of tokenizer.json of these folders.

usage: make_added_goldens.py [--folder FOLDER]

README.md describes the file. The oracle is AutoTokenizer of transformers, on
the SentencePiece models of offset/ and the byte pairs of byte-level/, which
other scripts make first.
"""

import argparse
import json
import pathlib
import random
import shutil
import tempfile

from transformers import AutoTokenizer
from transformers.utils import logging

GOLDENS = pathlib.Path(__file__).parent
# What a folder has beside its JSON files, and the type of its model.
KINDS = {
    "marian": ("marian", "MarianTokenizer"),
    "mbart": ("mbart", "MBartTokenizer"),
    "mbart50": ("mbart", "MBart50Tokenizer"),
    "pegasus": ("pegasus", "PegasusTokenizer"),
    "bart": ("bart", "BartTokenizer"),
}
SIZES = {"marian": 99, "mbart": 124, "mbart50": 151, "pegasus": 200, "bart": 701}

TEMPLATES = [
    "{0}",
    "the {0} fox",
    "the{0}fox",
    "the  {0}  fox",
    "the{0} fox {0}fox",
    " {0}{0} {0} ",
    "the\t{0}\u3000fox",
    "fox.{0}!{0}, é",
    "é{0}_ 1{0}2 _{0}",
    ">>por<<{0} \u00a0{0}\u00a0 fox",
]
PLAIN = [
    "The quick brown fox jumps over the lazy dog .",
    "</s>the <unk> a<pad>b <s> fox",
    " <mask> the<mask>fox  <mask>  <mask_1> <mask_2> <unk_7>",
    "en_XX fox pt_XX",
    "<te<term<term>",
    "do n't , the fox 's ' dog ' 've !",
    "  two  spaces   and\ttabs \u3000",
    "＜s＞fox＜/s＞ ＜mask＞ ｅｎ＿ＸＸ ＜unk＿7＞ ｆｏｘ½\u0350 ﬁn\u0301",
    "a<unk_5>fox <unk_5>",
]


def form(content, flags="", special=False):
    return {
        "content": content,
        "lstrip": "l" in flags,
        "rstrip": "r" in flags,
        "single_word": "w" in flags,
        "normalized": "n" in flags,
        "special": special,
    }


def forms(first):
    """An added token of each form, from the id `first` on."""
    tokens = [
        form("<term>", "n"),
        form("<te", "n"),
        form("<raw>"),
        form("<l>", "ln"),
        form("<r>", "r"),
        form("<w>", "wn"),
        form("<raw word>", "w"),
        form("<lrw>", "lrw"),
        form("fox", "w"),
        form("ﬁn", "n"),
        form("<2pt>", "", True),
        form("<3pt>", "lr", True),
    ]
    return {str(first + i): token for i, token in enumerate(tokens)}


def listed(first):
    """The same, whose special ones tokenizer_config.json lists, too."""
    return {
        "added_tokens_decoder": forms(first),
        "additional_special_tokens": ["<2pt>", "<3pt>"],
    }


def specials(kind):
    """What a folder saved lately says of its own special tokens."""
    names = {
        "marian": {0: "</s>", 1: "<unk>", 98: "<pad>"},
        "bart": {0: "<s>", 1: "<pad>", 2: "</s>", 3: "<unk>"},
    }
    return {
        str(id): form(text, "", True) for id, text in names.get(kind, {}).items()
    }


def cases():
    """Names, kinds and JSON files."""
    clean = {"clean_up_tokenization_spaces": True}
    for kind, size in SIZES.items():
        yield "plain", kind, {}
        yield "added", kind, {
            "added_tokens.json": {"<term>": size, "<2pt>": size + 1},
            "special_tokens_map.json": {
                "additional_special_tokens": [
                    "<2pt>",
                    {**form("<4pt>", "l"), "normalized": False},
                ],
                "mask_token": form("<mask>", "ln"),
            },
        }
        yield "added-alone", kind, {
            "added_tokens.json": {"<term>": size, "<2pt>": size + 1},
        }
        config = listed(size)
        config["added_tokens_decoder"].update(specials(kind))
        yield "forms", kind, {"tokenizer_config.json": config}
        yield "unlisted", kind, {
            "tokenizer_config.json": {"added_tokens_decoder": forms(size)}
        }
        yield "clean", kind, {
            "tokenizer_config.json": {**clean, **listed(size)}
        }
        yield "extra", kind, {
            "tokenizer_config.json": {
                "extra_special_tokens": {"image_token": "<2pt>"},
                "added_tokens_decoder": forms(size),
            }
        }
        yield "no-effect", kind, {
            "tokenizer_config.json": {
                "model_max_length": 5,
                "truncation_side": "left",
                "padding_side": "left",
                "do_lower_case": True,
                "legacy": False,
                "errors": "strict",
                "sp_model_kwargs": {},
                "trim_offsets": False,
                "use_fast": False,
                "keep_accents": False,
                "source_lang": "en",
                "target_lang": "pt",
                "tgt_lang": "ro_RO",
                "add_bos_token": True,
                "separate_vocabs": False,
                "special_tokens_map_file": None,
                "clean_up_tokenization_spaces": None,
                "chat_template": "x",
            }
        }
        if kind not in ("marian",):
            yield "saved", kind, {"tokenizer_config.json": listed(size)}
    for kind in ("marian", "mbart", "bart"):
        # Without "normalized", which then follows from "special".
        tokens = forms(SIZES[kind])
        for token in tokens.values():
            del token["normalized"]
        yield "open", kind, {
            "tokenizer_config.json": {
                "added_tokens_decoder": tokens,
                "additional_special_tokens": ["ﬁn", "<l>", "<3pt>"],
            }
        }
    for kind in SIZES:
        # Forms in two places, of which one counts.
        yield "twice", kind, {
            "tokenizer_config.json": {
                "added_tokens_decoder": forms(SIZES[kind]),
                "additional_special_tokens": [
                    {**form("fox"), "__type": "AddedToken"},
                    {**form("<l>", "w", True), "__type": "AddedToken"},
                    {**form("<unk_5>", "w", True), "__type": "AddedToken"},
                    "<w>",
                ],
            }
        }
    for kind, ids in (("mbart", (0, 2, 123)), ("pegasus", (0, 1, 3))):
        # Found as words alone; text between letters is cut into pieces.
        names = {
            "mbart": ("<s>", "</s>", "<mask>"),
            "pegasus": ("<pad>", "</s>", "<mask_2>"),
        }[kind]
        yield "words", kind, {
            "tokenizer_config.json": {
                "added_tokens_decoder": {
                    str(id): form(name, "w", True)
                    for id, name in zip(ids, names)
                },
                "eos_token": {**form("</s>", "w", True), "__type": "AddedToken"},
            }
        }
    for kind in ("marian", "bart"):
        yield "extra-order", kind, {
            "tokenizer_config.json": {
                "extra_special_tokens": {
                    "z_token": "<2pt>",
                    "a_token": "<3pt>",
                    "m_token": "<te",
                },
            }
        }
    for kind in ("mbart", "pegasus"):
        yield "fields", kind, {
            "tokenizer_config.json": {
                "bos_token": "<2pt>",
                "cls_token": {**form("<l>", "l", True), "__type": "AddedToken"},
                "sep_token": "<raw>",
                "additional_special_tokens": ["<term>"],
            }
        }
    for kind in ("mbart", "pegasus"):
        for name in ("single-saved", "kept-saved"):
            yield name, kind, {
                "tokenizer_config.json": {
                    "added_tokens_decoder": forms(SIZES[kind])
                }
            }
    for kind, id, flags in (
        ("bart", "700", ""),
        ("bart", "700", "r"),
        ("bart", "700", "ln"),
        ("mbart", "123", ""),
        ("mbart50", "150", ""),
    ):
        mask = form("<mask>", flags, "r" in flags)
        yield "mask-saved-" + flags, kind, {
            "tokenizer_config.json": {
                "tokenizer_class": KINDS[kind][1],
                "added_tokens_decoder": {id: mask},
            }
        }
    yield "prefix", "bart", {
        "tokenizer_config.json": {"add_prefix_space": True, **listed(701)}
    }
    yield "prefix-saved", "bart", {
        "tokenizer_config.json": {"add_prefix_space": True, **listed(701)}
    }
    for name in ("Roberta", "LED", "Longformer", "Mvp"):
        yield name, "bart", {
            "tokenizer_config.json": {
                "tokenizer_class": name + "Tokenizer",
                **listed(701),
            }
        }
    yield "generic-saved", "bart", {
        "tokenizer_config.json": {
            "tokenizer_class": "PreTrainedTokenizerFast",
            **listed(701),
        }
    }


def write_folder(folder, kind, files):
    model_type, name = KINDS[kind]
    (folder / "config.json").write_text(json.dumps({"model_type": model_type}))
    copies = {
        "marian": {"fairseq.model": ["source.spm", "target.spm"]},
        "mbart": {"fairseq.model": ["sentencepiece.bpe.model"]},
        "mbart50": {"fairseq.model": ["sentencepiece.bpe.model"]},
        "pegasus": {"pegasus.model": ["spiece.model"]},
    }
    for source, targets in copies.get(kind, {}).items():
        for target in targets:
            shutil.copy(GOLDENS / "offset" / source, folder / target)
    if kind == "marian":
        shutil.copy(GOLDENS / "offset/marian/vocab.json", folder)
    if kind == "bart":
        for file in ("vocab.json", "merges.txt"):
            shutil.copy(GOLDENS / "byte-level" / file, folder)
    files.setdefault("tokenizer_config.json", {}).setdefault(
        "tokenizer_class", name
    )
    for file, content in files.items():
        (folder / file).write_text(json.dumps(content, ensure_ascii=False))


def older(whole, name):
    """What older versions of the conversion had for a normalizer: the rules of
    the model, or with them several spaces made one."""
    rules = whole["normalizer"]["normalizers"][:1]
    if "kept" in name:
        return rules
    single = {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}
    return rules + [single]


# Of tokenizer.json by kinds.
components = {}


def read(folder, kind, files, name):
    """The tokenizer, saved once by its own library where the case says it."""
    if "saved" not in name:
        return AutoTokenizer.from_pretrained(folder)
    if "generic" in name:
        shutil.copy(GOLDENS / "byte-level/tokenizer.json", folder)
    # tokenizer.json must not have them yet.
    late = {}
    if "mask" in name:
        late = dict(files["tokenizer_config.json"])
        del files["tokenizer_config.json"]["added_tokens_decoder"]
        (folder / "tokenizer_config.json").write_text(
            json.dumps(files["tokenizer_config.json"])
        )
    AutoTokenizer.from_pretrained(folder).save_pretrained(folder)
    for path in folder.glob("*.json"):
        if path.name not in ("config.json", "vocab.json"):
            files[path.name] = json.loads(path.read_text())
    # Large parts: what models say stands in their own files.
    whole = files["tokenizer.json"]
    if name.startswith(("single", "kept")):
        whole["normalizer"]["normalizers"] = older(whole, name)
        text = json.dumps(whole, ensure_ascii=False)
        (folder / "tokenizer.json").write_text(text)
    for part in (whole["normalizer"] or {}).get("normalizers", []):
        part.pop("precompiled_charsmap", None)
    components.setdefault(kind, {**whole, "added_tokens": []})
    whole["model"] = {"type": whole["model"]["type"]}
    files["tokenizer_config.json"].update(late)
    (folder / "tokenizer_config.json").write_text(
        json.dumps(files["tokenizer_config.json"], ensure_ascii=False)
    )
    return AutoTokenizer.from_pretrained(folder)


def texts():
    """Texts with each token; the first 25 are enough for a folder without
    tokens of its own."""
    tokens = ["</s>"] + [token["content"] for token in forms(0).values()]
    return PLAIN + [t.format(token) for token in tokens for t in TEMPLATES]


def make_case(name, kind, files):
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        write_folder(folder, kind, files)
        tokenizer = read(folder, kind, files, name)
    # A text keeps the order of keys.
    if name == "extra-order":
        files = {file: json.dumps(content) for file, content in files.items()}
    own = name not in ("plain", "added-alone", "no-effect")
    ids = [tokenizer(text).input_ids for text in texts()[: None if own else 25]]
    rng = random.Random(name + kind)
    vocabulary = sorted(tokenizer.get_vocab().values())
    late = [id for id in vocabulary if id >= SIZES[kind]] or [0]
    rows = []
    for row in ids[::3]:
        row = row + [
            rng.choice(late if rng.random() < 0.4 else vocabulary)
            for _ in range(4)
        ]
        rng.shuffle(row)
        rows.append(row[:12])
    return {
        "name": name,
        "kind": kind,
        "files": files,
        "ids": [" ".join(map(str, row)) for row in ids],
        "rows": [" ".join(map(str, row)) for row in rows],
        "decoded": [tokenizer.decode(row, skip_special_tokens=True) for row in rows],
    }


def main():
    logging.set_verbosity_error()
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--folder", type=pathlib.Path, default=GOLDENS)
    folder = arguments.parse_args().folder / "added"
    folder.mkdir(exist_ok=True)
    made = [make_case(*case) for case in cases()]
    with open(folder / "cases.json", "w") as file:
        json.dump({"texts": texts(), "cases": made}, file, ensure_ascii=False, indent=0)
        file.write("\n")
    for kind in ("mbart", "mbart50", "pegasus"):
        (folder / (kind + ".json")).write_text(
            json.dumps(components[kind], ensure_ascii=False) + "\n"
        )


if __name__ == "__main__":
    main()
