"""Writes byte-pairs/: folders with `vocab.json` and `merges.txt`, and what they make of texts.

usage: make_byte_pair_goldens.py

`qwen2` and `clip` are small vocabularies; others have that of byte-level/, which another
script makes first. `texts.json` has texts, `cases.json` a list of objects: the folder of the
vocabulary, other files (a text, or an object), how many of the texts count, or texts of its
own; of each its ids and the characters that each token stands for; ids and types of pairs;
drawn ids with their text. The oracle is AutoTokenizer of transformers, whose fast tokenizers
convert the folder or read its tokenizer.json.
"""

import collections
import json
import pathlib
import random
import shutil
import tempfile

from make_component_goldens import SENTENCES, texts
from tokenizers import Regex, normalizers, pre_tokenizers
from transformers import AutoTokenizer
from transformers.utils import logging

GOLDENS = pathlib.Path(__file__).parent
FOLDER = GOLDENS / "byte-pairs"
OWN = [
    "<|endoftext|>the <|startoftext|> fox<|im_start|>user\nHi!<|im_end|>\n<|ENDOFTEXT|> <unk>",
    "<s> a </s>b <pad><term> the<term>fox  <term>",
    "DON'T we'Ve 'ſa it'LL\u2019s I'm, they'RE 12345 1,234.5",
    "if (x) {\n\n  return y;\n}\t// done!!\r\n  \n x",
    "café cafe\u0301 ÀÉ Å \u212b \u1e9b\u0323 각 \u1100\u1161\u11a8",
    "a</w> b< / w > </w></w>",
    "\x1c x \x1f",
]
LINES = OWN + SENTENCES + texts()[len(SENTENCES) :: 5]


def merge(words, count):
    """Pairs that merge, by how often they stand in words: the library's trainer draws by lot
    what is equally often if words have an end."""
    merges = []
    for _ in range(count):
        counts = collections.Counter(pair for word in words for pair in zip(word, word[1:]))
        left, right = min(counts, key=lambda pair: (-counts[pair], pair))
        merges.append((left, right))
        for word in words:
            for i in range(len(word) - 1, 0, -1):
                if word[i - 1 : i + 1] == [left, right]:
                    word[i - 1 : i + 1] = [left + right]
    return merges


def train(name, normalizer, pattern, behavior, invert, suffix=""):
    cut = pre_tokenizers.Split(Regex(pattern), behavior, invert=invert)
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=invert)
    cutter = pre_tokenizers.Sequence([cut, byte_level])
    words = []
    for line in SENTENCES + OWN[2:5]:
        for word, _ in cutter.pre_tokenize_str(normalizer.normalize_str(line)):
            words.append([*word[:-1], word[-1] + suffix])
    merges = merge(words, 320)
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    pieces = alphabet + [c + suffix for c in alphabet] + ["".join(pair) for pair in merges]
    ids = {piece: i for i, piece in enumerate(dict.fromkeys(pieces))}
    if suffix:
        ids |= {"<|startoftext|>": len(ids), "<|endoftext|>": len(ids) + 1}
    (FOLDER / name).mkdir(exist_ok=True)
    (FOLDER / name / "vocab.json").write_text(json.dumps(ids, ensure_ascii=False) + "\n")
    lines = ["#version: 0.2", *(" ".join(pair) for pair in merges)]
    (FOLDER / name / "merges.txt").write_text("\n".join(lines) + "\n")


def train_all():
    n = normalizers
    train(
        "qwen2",
        n.NFC(),
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|"
        r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        "isolated",
        False,
    )
    train(
        "clip",
        n.Sequence([n.NFC(), n.Replace(Regex(r"\s+"), " "), n.Lowercase()]),
        r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+",
        "removed",
        True,
        suffix="</w>",
    )


def form(content, **flags):
    return {
        "content": content,
        "lstrip": False,
        "rstrip": False,
        "normalized": False,
        "single_word": False,
        "special": True,
        **flags,
    }


CHAT = {
    "eos_token": "<|im_end|>",
    "bos_token": None,
    "additional_special_tokens": ["<|im_start|>", "<|im_end|>"],
    "added_tokens_decoder": {
        str(576 + i): form(text)
        for i, text in enumerate(["<|endoftext|>", "<|im_start|>", "<|im_end|>"])
    },
}
PUBLISHED_CLIP = {
    "bos_token": form("<|startoftext|>", normalized=True),
    "eos_token": form("<|endoftext|>", normalized=True),
    "unk_token": form("<|endoftext|>", normalized=True),
    "pad_token": "<|endoftext|>",
}
# Forms of merges.txt, of a vocabulary of which each has another part.
MERGES = {
    "plain": "#version: 0.2\nb c\na bc\n",
    "no-last-newline": "#version: 0.2\nb c\na bc",
    "no-version": "b c\na b\n",
    "windows": "#version: 0.2\r\nb c\r\na bc\r\n",
    "spaces": "#version: 0.2\n b\tc \na  bc\n",
    "twice": "#version: 0.2\na b\nb c\na b\n",
    "none": "",
}


def cases():
    """The folder of the vocabulary, other files, and how many texts, or which."""
    few = 18
    gpt2, qwen2, clip = "byte-level", "byte-pairs/qwen2", "byte-pairs/clip"
    yield "GPT2Tokenizer", gpt2, {}, None
    yield "GPT2Tokenizer", gpt2, {"tokenizer_config.json": {"add_prefix_space": True}}, few
    bos = {"add_bos_token": True, "bos_token": "<s>", "pad_token": "<pad>", "sep_token": "<sep>"}
    yield "GPT2Tokenizer", gpt2, {"tokenizer_config.json": bos}, few
    # What is around a text has the id of the slow tokenizer.
    added = {"<term>": 701, "<|endoftext|>": 705}
    mapped = {
        "tokenizer_config.json": {"add_bos_token": True},
        "added_tokens.json": added,
        "special_tokens_map.json": {"pad_token": "<pad>", "unk_token": form("<unk>")},
    }
    yield "GPT2Tokenizer", gpt2, mapped, few
    yield "GPT2Tokenizer", gpt2, {"saved": True, "tokenizer_config.json": bos}, few
    yield "Qwen2Tokenizer", qwen2, {}, None
    yield "Qwen2Tokenizer", qwen2, {"tokenizer_config.json": CHAT}, few
    named = {"bos_token": "the", "unk_token": form("<unk>", normalized=True, lstrip=True)}
    yield "Qwen2Tokenizer", qwen2, {"special_tokens_map.json": named}, few
    yield "Qwen2Tokenizer", qwen2, {"saved": True, "tokenizer_config.json": CHAT}, few
    yield "CLIPTokenizer", clip, {}, None
    yield "CLIPTokenizer", clip, {"special_tokens_map.json": PUBLISHED_CLIP}, few
    clean = {"clean_up_tokenization_spaces": True, "unk_token": "!", "bos_token": "<bos>"}
    yield "CLIPTokenizer", clip, {"tokenizer_config.json": clean}, few
    # The text of an added token that names a byte is joined as this byte.
    numbered = {"<term>": 900, "FOX": 990, "é": 991}
    late = {"added_tokens.json": numbered, "tokenizer_config.json": clean}
    yield "CLIPTokenizer", clip, late, few
    yield "CLIPTokenizer", clip, {"saved": True}, None
    for name in ("BlenderbotTokenizer", "CodeGenTokenizer", "DebertaTokenizer"):
        yield name, gpt2, {}, few
        named = {"mask_token": "<term>", "eos_token": "fox", "cls_token": "<cls>"}
        yield name, gpt2, {"tokenizer_config.json": named, "added_tokens.json": added}, few
        yield name, gpt2, {"saved": True}, few
    # Its vocabulary lacks bytes.
    yield "CLIPTokenizer", gpt2, {"tokenizer_config.json": {"unk_token": "<unk>"}}, few
    mask = {"added_tokens_decoder": {"900": form("<cls>")}, "cls_token": "<cls>"}
    yield "RobertaTokenizer", gpt2, {"tokenizer_config.json": mask}, few
    # Ranges at the start of a text, and of what looks like a space.
    for space in (False, True):
        spaces = {"add_prefix_space": space, "additional_special_tokens": ["\u0120\u0120x"]}
        starts = [" " * n + end for n in range(5) for end in ("a", " ", "<mask>", "\u0120\u0120x")]
        yield "RobertaTokenizer", gpt2, {"tokenizer_config.json": spaces}, starts
    pieces = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", "<|endoftext|>", "<|startoftext|>"]
    pieces += ["a", "b", "c", "ab", "bc", "abc"]
    for name in ("BartTokenizer", "GPT2Tokenizer", "Qwen2Tokenizer", "CLIPTokenizer"):
        suffix = "</w>" if name == "CLIPTokenizer" else ""
        ended = [piece + suffix for piece in pieces[7:] if suffix]
        ids = {piece: i for i, piece in enumerate(pieces + ended)}
        for merges in MERGES.values():
            text = merges.replace("c\r", f"c{suffix}\r").replace("c\n", f"c{suffix}\n")
            text = text.replace("c ", f"c{suffix} ").removesuffix("c") + (
                f"c{suffix}" if merges.endswith("c") else ""
            )
            yield name, None, {"vocab.json": ids, "merges.txt": text}, ["abc"]


def read(folder, name, model, files):
    """The tokenizer; one that is saved loses its vocabulary."""
    if model:
        for file in ("vocab.json", "merges.txt"):
            shutil.copy(GOLDENS / model / file, folder)
    isSaved = files.pop("saved", False)
    config = files.setdefault("tokenizer_config.json", {})
    files["tokenizer_config.json"] = {"tokenizer_class": name, **config}
    for file, content in files.items():
        text = content if isinstance(content, str) else json.dumps(content)
        (folder / file).write_bytes(text.encode())
    if not isSaved:
        return AutoTokenizer.from_pretrained(folder)
    AutoTokenizer.from_pretrained(folder).save_pretrained(folder)
    for file in ("vocab.json", "merges.txt"):
        (folder / file).unlink()
    for path in sorted(folder.iterdir()):
        files[path.name] = json.loads(path.read_text())
    files["tokenizer.json"]["model"] |= {"vocab": None, "merges": None}
    return AutoTokenizer.from_pretrained(folder)


def make_case(name, model, files, which):
    with tempfile.TemporaryDirectory() as scratch:
        tokenizer = read(pathlib.Path(scratch), name, model, files)
    assert tokenizer.is_fast
    lines = which if isinstance(which, list) else LINES[:which]
    tokens, pairs, drawn = [], [], []
    for line in lines:
        encoding = tokenizer.backend_tokenizer.encode(line)
        assert encoding.ids == tokenizer(line).input_ids
        tokens.append([encoding.ids, [i for span in encoding.offsets for i in span]])
    for a, b in zip(lines[::5], lines[2::5]):
        encoding = tokenizer.backend_tokenizer.encode(a, b)
        pairs.append([a, b, encoding.ids, encoding.type_ids])
    rng = random.Random(name)
    known = sorted(tokenizer.get_vocab().values())
    rows = [ids for ids, _ in tokens[:8]]
    rows += [[rng.choice(known) for _ in range(rng.randint(0, 12))] for _ in range(12)]
    for row in rows:
        drawn.append([row, tokenizer.decode(row, skip_special_tokens=True)])
    made = {"model": model, "files": files, "tokens": tokens, "pairs": pairs, "decoded": drawn}
    return made | {"texts": lines if isinstance(which, list) else len(lines)}


def write(name, value):
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    (FOLDER / name).write_text(text + "\n")


def main():
    logging.set_verbosity_error()
    FOLDER.mkdir(exist_ok=True)
    train_all()
    write("texts.json", LINES)
    write("cases.json", [make_case(*case) for case in cases()])


if __name__ == "__main__":
    main()
