"""Writes patterns/: how tokenizers cuts texts by patterns, and which characters its
properties have.

usage: make_pattern_goldens.py

`splits.json` has pre-tokenizers in place of that of byte-level/tokenizer.json, and the
ids of texts with each. `cuts.json` has a list of patterns, each with texts as lists of pieces: the matches, and
what is between them. `properties.json` has for a set of characters, in the syntax of
patterns, how many it has and a digest of where it begins and ends, of all 1,112,064 code
points. Takes ten minutes.
"""

import json
import pathlib
import random
import sys

from tokenizers import Regex, Tokenizer
from tokenizers.pre_tokenizers import Split

sys.path.append(
    str(pathlib.Path(__file__).parents[2] / "lib/Import/Tokenizers/Patterns")
)
import dump_properties  # noqa: E402

FOLDER = pathlib.Path(__file__).parent / "patterns"

ENGLISH = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
SPACES = r"\s*[\r\n]+|\s+(?!\S)|\s+"
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
ASCII_SIGNS = r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~]"

PATTERNS = [
    # GPT-2, Llama 3, Qwen 2, o200k, Mistral, DeepSeek V3, BLOOM, Falcon, spm families.
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    ENGLISH + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|" + SPACES,
    ENGLISH + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|" + SPACES,
    rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER}*{LOWER}+{ENGLISH}?|"
    rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER}+{LOWER}*{ENGLISH}?|"
    r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|" + SPACES,
    rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER}*{LOWER}+|[^\r\n\p{{L}}\p{{N}}]?{UPPER}+{LOWER}*|"
    r"\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|" + SPACES,
    r"\p{N}{1,3}",
    r"[一-龥぀-ゟ゠-ヿ]+",
    ASCII_SIGNS + r"[A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|"
    + SPACES,
    r" ?[^(\s|[.,!?…。，、।۔،])]+",
    r"[0-9][0-9][0-9]",
    r" {2,}",
    # The same as tiktoken writes it.
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+|"
    r" ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
    # What order decides, and not length.
    r"a|ab",
    r"(a|ab)(c|bcd)(d*)",
    r"a*?b|a+",
    r"x{2,}?y|x+",
    r"(?:a|b)*?c|[^c]",
    # Looks of one character.
    r".+?(?=[,.]|$)",
    r"(?<!\S)[a-z]+",
    r"(?<=[a-c])\W|\b\w",
    r"^\s*\S|\S\z|\A\s",
    r"a?+a|b++|(?>\s+)",
    # Classes.
    r"\w+|[^\w\s]+",
    r"[[:alpha:]&&[^a-c]]+|[[:punct:]]|\h{2}",
    r"(?i)[k-m]+|\W+",
    r"(?i:été)|(?-i:S)s|(?m:.)",
    r"\x41\u0042|\x{1F600}|[\]\-\\]",
    r"\p{Han}+|\p{Hiragana}+|\p{Katakana}+|\p{Thai}+|\P{Lu}",
]
CHARACTERS = (
    "aabcdABCkKsSxxy'’ .,!?\t\n\r0123459-_/|()[]{}\\éÉßſǅʰªא中あア한กพ١²½ⅧA\u0301\u200d"
    "\u00a0\u2028\u3000\u0085\u200b😀🇵\ufb06\u0130ıΔσς۔،।。，\U000e0001\u0378\ue000"
)
TEXTS = [
    "I'll don't WE'VE it'S 'ſa x   y\n\n  z 1234567 a.b ...!? 中A HelloWORLDs été ÉTÉ",
    "def f(x):\n\treturn x[0]\t + 3.14  # café\r\n\r\n   end  ",
    "ab abcd abbbc aab aaxxy xxx AB [\\]- SS 😀中あアก",
]
SETS = [
    *(rf"\p{{{name}}}" for name in dump_properties.CATEGORIES),
    *(rf"\p{{{name}}}" for name in "L M N P S Z C Cn LC Any".split()),
    *(rf"\p{{{name}}}" for name in dump_properties.BINARY),
    *(rf"\p{{{name}}}" for name in "alpha alnum graph print punct word xdigit".split()),
    *(
        f"[[:{name}:]]"
        for name in "alnum alpha ascii blank cntrl digit graph lower print punct space "
        "upper word xdigit".split()
    ),
    *(r"\s", r"\d", r"\w", r"\h", r"[\w]", r"[^\W_]", "."),
    *(rf"\p{{{name}}}" for name in dump_properties.SCRIPTS),
    *(f"(?i:{c})" for c in "ks'éσⅧΔ"),
]


def pre_tokenizers():
    """Those that cut into words otherwise than GPT-2's pattern."""
    byte_level = {
        "type": "ByteLevel",
        "add_prefix_space": False,
        "trim_offsets": True,
        "use_regex": False,
    }
    yield byte_level
    for pattern in [{"Regex": PATTERNS[1]}, {"Regex": r"\s+"}, {"String": "o"}]:
        split = {"type": "Split", "pattern": pattern, "behavior": "Isolated"}
        parts = [split | {"invert": False}, byte_level]
        yield {"type": "Sequence", "pretokenizers": parts}


def draw_texts(draw):
    for _ in range(8):
        some = draw.sample(CHARACTERS, draw.randint(3, len(CHARACTERS)))
        yield "".join(draw.choice(some) for _ in range(24))


def digest(ranges):
    """FNV-1a of the first and the last code point of each range."""
    value = 0xCBF29CE484222325
    for point in (point for pair in ranges for point in pair):
        for byte in point.to_bytes(4, "little"):
            value = (value ^ byte) * 0x100000001B3 % 2**64
    return f"{value:016x}"


def write(name, value, indent=None):
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    (FOLDER / name).write_text(text + "\n")


def write_cuts():
    draw, cuts = random.Random(1), []
    for pattern in PATTERNS:
        split = Split(Regex(pattern), "isolated")
        texts = [*TEXTS, *draw_texts(draw)]
        pieces = [[t for t, _ in split.pre_tokenize_str(text)] for text in texts]
        cuts.append([pattern, pieces])
    write("cuts.json", cuts)


def write_splits():
    whole = json.loads((FOLDER.parent / "byte-level/tokenizer.json").read_text())
    splits = []
    for each in pre_tokenizers():
        tokenizer = Tokenizer.from_str(json.dumps(whole | {"pre_tokenizer": each}))
        encode = tokenizer.encode
        ids = [[t, encode(t, add_special_tokens=False).ids] for t in TEXTS]
        splits.append([each, ids])
    write("splits.json", splits)


def write_properties():
    properties = {}
    for name in SETS:
        # But for surrogates, which are no characters.
        ranges = [
            each
            for points in (range(0xD800), range(0xE000, sys.maxunicode + 1))
            for each in dump_properties.matches(f"(?:{name})+", points)
        ]
        count = sum(last - first + 1 for first, last in ranges)
        properties[name] = [count, digest(ranges)]
    write("properties.json", properties, indent=0)


if __name__ == "__main__":
    write_cuts()
    write_splits()
    write_properties()
