"""Writes offset/: small tokenizers of mBART, mBART-50, Pegasus and MarianMT, and
what they make of texts.

usage: make_offset_goldens.py [--folder FOLDER] [--keep-models]

README.md describes the files. The oracle is transformers: of a slow and a fast
tokenizer the fast one, which AutoTokenizer takes. --keep-models does not train
the models anew: their bytes vary with the version of SentencePiece.
"""

import argparse
import json
import pathlib
import random
import shutil
import tempfile

import sentencepiece
from sentencepiece import sentencepiece_model_pb2
from transformers import AutoTokenizer
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
    # What looks like a name only behind the normalizer.
    "＜s＞ the＜/s＞fox ＜pad＞＜unk＞☃ ＜mask＞",
    "the ＜mask＿1＞ ＜mask＿2＞＜unk＿2＞ ＜unk＿12＞fox＜unk＿102＞ ＜unk＿1＞",
    "ｅｎ＿ＸＸ the ｐｔ＿ＸＸfox ｒｏ＿ＲＯ．",
    "ａｂ ab ｆｏｏ ＞＞ｐｏｒ＜＜ fox",
    # What the roles of write_roles are about.
    "the fox xx xxx xxxxx a▁b ▁▁the▁fox ▁",
    "foo ab fab <pad> <ctl> ＜ｃｔｌ＞ en_XX Zu ZZ☃☃ Zw ZZZ",
    # Rules of a fast normalizer are about clusters of characters.
    "½\u0350 ①\u0301x é\u0301 e\u0301\u0301 ﬁ\u200d ｶﾞ \u1100\u1161\u11a8",
    "\u0600½ ™\u200d™ ©\u200d©\u0301 ª\u0903 \r ª\u00ad\u0301 ﬁ\ufe0f",
    "\u1100\u1161\u0301 가\u11a8\u0301 क\u094d\u0958\u0301 \U0001f1e6\U0001f1e7½",
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


def write_roles(path, model):
    """A model with pieces of all roles that text may spell, with texts that a
    class names, marks of spaces inside, and sums that are equal."""
    proto = sentencepiece_model_pb2.ModelProto()
    proto.ParseFromString(model.read_bytes())
    roles = proto.SentencePiece
    for text, score, role in (
        ("<pad>", 0, roles.CONTROL),
        ("<ctl>", 0, roles.CONTROL),
        ("ab", 0, roles.USER_DEFINED),
        ("<mask_1>", 0, roles.USER_DEFINED),
        ("<unk_12>", -9, roles.NORMAL),
        ("foo", -1, roles.UNUSED),
        ("en_XX", -3, roles.NORMAL),
        ("<s>the", -2, roles.NORMAL),
        ("▁the▁fox", -0.5, roles.NORMAL),
        ("▁▁", -0.5, roles.NORMAL),
        ("xx", -4.1, roles.NORMAL),
        ("xxx", -6.15, roles.NORMAL),
        # The least score says what an unknown character costs.
        ("Z", -40, roles.NORMAL),
        ("ZZ", -30, roles.NORMAL),
    ):
        if text not in [piece.piece for piece in proto.pieces]:
            proto.pieces.add(piece=text, score=score, type=role)
    path.write_bytes(proto.SerializeToString())


def write_marian(folder, model):
    """The vocabulary of a folder as OPUS-MT's of many targets."""
    pieces = sentencepiece.SentencePieceProcessor(str(model))
    names = ["</s>", "<unk>", ">>por<<", ">>fra<<"]
    names += [pieces.id_to_piece(i) for i in range(3, pieces.get_piece_size())]
    vocabulary = {name: id for id, name in enumerate([*names, "<pad>"])}
    text = json.dumps(vocabulary, ensure_ascii=False)
    (folder / "vocab.json").write_text(text + "\n")


def read(folder, model, places, config):
    """The tokenizer of a folder with the model in these places."""
    with tempfile.TemporaryDirectory() as scratch:
        whole = pathlib.Path(scratch)
        for place in places:
            shutil.copy(model, whole / place)
        if (folder / "vocab.json").exists():
            shutil.copy(folder / "vocab.json", whole)
        (whole / "config.json").write_text('{"model_type": "marian"}')
        (whole / "tokenizer_config.json").write_text(json.dumps(config))
        return AutoTokenizer.from_pretrained(whole)


def write_case(folder, model, places, config):
    """Lines: the text's ids, and the text of random ids."""
    (folder / "tokenizer_config.json").write_text(json.dumps(config) + "\n")
    tokenizer = read(folder, model, places, config)
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
    arguments.add_argument("--keep-models", action="store_true")
    options = arguments.parse_args()
    root = options.folder / "offset"
    if not options.keep_models:
        shutil.rmtree(root, ignore_errors=True)
    folders = {}
    for name in ("mbart", "mbart50", "pegasus", "marian", "mbart-roles", "pegasus-roles"):
        folders[name] = root / name
        folders[name].mkdir(parents=True, exist_ok=True)
    (root / "texts").write_text("".join(text + "\n" for text in TEXTS))
    fairseq, other = root / "fairseq.model", root / "pegasus.model"
    if not options.keep_models:
        train(root / "fairseq", unk_id=0, bos_id=1, eos_id=2)
        train(root / "pegasus", pad_id=0, eos_id=1, unk_id=2, bos_id=-1)
    for name, kind, language in (
        ("mbart", "MBartTokenizer", "ro_RO"),
        ("mbart50", "MBart50Tokenizer", "pt_XX"),
    ):
        config = {"tokenizer_class": kind, "src_lang": language}
        places = ["sentencepiece.bpe.model"]
        write_case(folders[name], fairseq, places, config)
    write_marian(folders["marian"], fairseq)
    write_case(folders["marian"], fairseq, ["source.spm", "target.spm"], {})
    roles = root / "fairseq-roles.model"
    write_roles(roles, fairseq)
    config = {"tokenizer_class": "MBartTokenizer"}
    places = ["sentencepiece.bpe.model"]
    write_case(folders["mbart-roles"], roles, places, config)
    config = {"tokenizer_class": "PegasusTokenizer"}
    write_case(folders["pegasus"], other, ["spiece.model"], config)
    roles = root / "pegasus-roles.model"
    write_roles(roles, other)
    write_case(folders["pegasus-roles"], roles, ["spiece.model"], config)


if __name__ == "__main__":
    main()
