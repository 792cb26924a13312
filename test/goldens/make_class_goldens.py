"""Writes classes/: what each fast tokenizer of transformers makes of the same files.

usage: make_class_goldens.py

A class may change tokenizer.json, and finds special tokens that the file does not list.
`words.json`, `pairs.json` and `bytes.json` are such files, `vocab.txt` has the pieces of
`words.json`, `texts.json` has texts. `cases.json` is a list of objects: a file, the rest of
the configuration, the classes that make the same of it, and what they make: ids of each text,
the characters that each token of the last one stands for; ids and types of a pair. The oracle
is AutoTokenizer of transformers.
"""

import json
import pathlib
import tempfile

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from transformers import AutoTokenizer
from transformers.utils import logging

FOLDER = pathlib.Path(__file__).parent / "classes"
NAMES = """<s> </s> <unk> <pad> <mask> <cls> <sep> [CLS] [SEP] [MASK] [UNK] [PAD] [QUESTION]
<|endoftext|> <|startoftext|> <eop> <eod> <bos> <eos> <BOS_TOKEN> <|END_OF_TURN_TOKEN|> <UNK>
\u2581<PRE> \u2581<EOT> <mask_1> <unk_2> <extra_id_0> <extra_id_99> <s>NOTUSED <madeupword0>
eng_Latn en_XX __start__ __end__ __unk__ __null__""".split()
LINES = [
    "".join(f"a{name}" for name in NAMES),
    "".join(f"b {name.swapcase()}" for name in NAMES),
    " ab  A B a\u00e9 \u00c9\u4e00\u4e01",
]
BERT = """Bert ConvBert DPRContextEncoder DPRQuestionEncoder DPRReader DistilBert Electra Funnel
LayoutLM LayoutLMv2 Lxmert MPNet MobileBert Realm RetriBert Splinter SqueezeBert""".split()
OTHERS = """Albert Bart Barthez BigBird Blenderbot BlenderbotSmall Bloom Camembert CodeGen
CodeLlama Cohere Deberta DebertaV2 FNet GPT2 GPTNeoX Gemma Herbert LED LayoutLMv3 LayoutXLM
Llama Longformer MBart MBart50 MT5 Mvp Nllb Nougat OpenAIGPT Pegasus PreTrained
Qwen2 Reformer RemBert Roberta T5 Udop XGLM XLMRoberta XLNet""".split()
# They change the parts of the file that add a space, which Heddle refuses.
SPACING = ["Bloom", "Cohere"]


def number(pieces):
    return {piece: i for i, piece in enumerate(dict.fromkeys(pieces))}


def make_words():
    pieces = NAMES + ["a", "b", "ab", "##b", "B", "A", "e", "##e", "\u00c9", "\u00e9", "\u4e00"]
    made = Tokenizer(models.WordPiece(number(pieces), unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(lowercase=False)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.decoder = decoders.WordPiece()
    return made


def make_pairs(pieces):
    ids = number(NAMES + pieces)
    made = Tokenizer(models.BPE(ids, [], unk_token="<unk>", fuse_unk=True))
    made.normalizer = normalizers.Sequence([normalizers.Lowercase()])
    return made


def make_bytes():
    made = make_pairs(["a", "b", "\u0120"])
    made.add_special_tokens(NAMES[:4])
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True, use_regex=False)
    made.post_processor = processors.RobertaProcessing(("</s>", 1), ("<s>", 0))
    made.decoder = decoders.ByteLevel()
    return made


def read(name, file, config):
    with tempfile.TemporaryDirectory() as scratch:
        path = pathlib.Path(scratch)
        whole = {"tokenizer_class": name, **config}
        (path / "tokenizer_config.json").write_text(json.dumps(whole))
        to = file if file.endswith(".txt") else "tokenizer.json"
        (path / to).write_text((FOLDER / file).read_text())
        tokenizer = AutoTokenizer.from_pretrained(scratch)
    assert tokenizer.is_fast
    return tokenizer.backend_tokenizer


def group(classes, file, config):
    """Cases of classes, with those together that make the same."""
    found = {}
    for name in classes:
        backend = read(name + "Tokenizer", file, config)
        ids = [backend.encode(line).ids for line in LINES]
        spans = [i for span in backend.encode(LINES[-1]).offsets for i in span]
        pair = backend.encode("a", "b")
        made = {"config": config, "ids": ids, "spans": spans, "pair": [pair.ids, pair.type_ids]}
        case = found.setdefault(json.dumps(made), {"file": file, "classes": [], **made})
        case["classes"].append(name + "Tokenizer")
    return list(found.values())


def cases():
    small = {"do_lower_case": False}
    other = {"do_lower_case": False, "strip_accents": True, "tokenize_chinese_chars": False}
    tokens = {"cls_token": "a", "mask_token": "[MASK]", "bos_token": "\u00c9"}
    space = {"add_prefix_space": True, "trim_offsets": False}
    for config in ({}, small, other, tokens):
        yield from group(BERT, "words.json", config)
    for config in ({}, tokens):
        classes = [name for name in BERT if name != "Splinter"]
        yield from group(classes, "vocab.txt", config)
    yield from group(OTHERS, "pairs.json", {})
    yield from group(OTHERS, "bytes.json", {})
    # T5 and Llama convert anew with it.
    classes = [name for name in OTHERS if name not in [*SPACING, "Llama", "MT5", "T5"]]
    yield from group(classes, "bytes.json", space)


def write(name, value):
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    (FOLDER / name).write_text(text + "\n")


def main():
    logging.set_verbosity_error()
    FOLDER.mkdir(exist_ok=True)
    words = make_words()
    write("words.json", json.loads(words.to_str()))
    write("pairs.json", json.loads(make_pairs(["a", "b", "ab", " "]).to_str()))
    write("bytes.json", json.loads(make_bytes().to_str()))
    vocabulary = sorted(words.get_vocab().items(), key=lambda pair: pair[1])
    (FOLDER / "vocab.txt").write_text("".join(f"{piece}\n" for piece, _ in vocabulary))
    write("texts.json", LINES)
    write("cases.json", list(cases()))


if __name__ == "__main__":
    main()
