"""Writes byte-level/: a small BART tokenizer, texts, and what they become.

usage: make_byte_level_goldens.py [--folder FOLDER]

README.md describes the files. The oracle is transformers: BartTokenizer, and
BartTokenizerFast wherever the Unicode versions of the two agree.
"""

import argparse
import json
import pathlib
import random

from tokenizers import ByteLevelBPETokenizer
from transformers import BartTokenizer, BartTokenizerFast
from transformers.utils import logging

SPECIAL = ["<s>", "<pad>", "</s>", "<unk>"]
SENTENCES = [
    "The quick brown fox jumps over the lazy dog, doesn't it?",
    "We've seen they're here; I'll go, you'd stay, I'm sure it's 'so'.",
    "In 2024 the price rose by 3.75% to $1,234,567.89 (see https://a.b/c?d=e).",
    "O rápido cão não saltou; ação, coração, às três e meia.",
    "Быстрая коричневая лиса прыгает через ленивую собаку.",
    "Η γρήγορη καφέ αλεπού πηδάει πάνω από το τεμπέλικο σκυλί.",
    "الثعلب البني السريع يقفز فوق الكلب الكسول ٣٤٥.",
    "השועל החום המהיר קופץ מעל הכלב העצלן.",
    "तेज़ भूरी लोमड़ी आलसी कुत्ते के ऊपर कूदती है १२३।",
    "敏捷的棕色狐狸跳过了懒狗。",
    "素早い茶色の狐はのろまな犬を飛び越える。",
    "빠른 갈색 여우가 게으른 개를 뛰어넘는다.",
    "สุนัขจิ้งจอกสีน้ำตาลกระโดดข้ามสุนัขขี้เกียจ",
    "Ꭰ𝔘𝔫𝔦𝔠𝔬𝔡𝔢 Ⅷ ½ ² ௧ 𐌰𐌱 ǅ ʰ ª ﷺ",
    "👩‍👩‍👧‍👦 🇵🇹 👍🏽 ☃️ 🤦🏼‍♂️ 😀😀😀",
    "def f(x):\treturn  x ** 2   # ok",
]
SPACES = [" ", "  ", "   ", "\t", "\r", "\u00a0", "\u3000", "\u2003 ", " \u2028"]
TOKENS = ["<s>", "</s>", "<mask>", "<pad>", "<unk>", " <mask>", "  <mask> "]
DAMAGED = [
    b"\xff",
    b"a\xc3",
    b"\xe2\x82 x",
    b"\xe2\x28\xa1",
    b"\xf0\x9f\x98",
    b"\xf0\x9f\x98x\xf0\x9f",
    b"\xed\xa0\x80",
    b"\xc0\xaf",
    b"\xf4\x90\x80\x80",
    b"ok \x80\x80 ok",
    b"\xef\xbf\xbd",
]


def texts():
    """Lines of bytes without line feeds."""
    rng = random.Random(1)
    lines = [sentence.encode() for sentence in SENTENCES]
    for _ in range(240):
        parts = []
        for _ in range(rng.randint(1, 6)):
            sentence = rng.choice(SENTENCES)
            begin = rng.randrange(len(sentence))
            parts.append(sentence[begin : begin + rng.randint(1, 12)])
            parts.append(rng.choice(SPACES + TOKENS + ["", "'s", "'LL", "''t"]))
        # A carriage return at the end is no part of a line.
        lines.append("".join(parts).removesuffix("\r").encode())
    lines += DAMAGED
    lines += [b"a" * 300, "é".encode() * 90, b" " * 20, b" " * 20 + b"x"]
    return lines


# First and last characters of scripts, of which every version of Unicode says
# the same.
RANGES = [
    (0x20, 0x7E),
    (0xA0, 0x24F),
    (0x300, 0x36F),
    (0x400, 0x4FF),
    (0x5D0, 0x5EA),
    (0x621, 0x64A),
    (0x904, 0x939),
    (0xE01, 0xE30),
    (0x1E00, 0x1EFF),
    (0x2000, 0x206F),
    (0x2150, 0x2188),
    (0x3041, 0x3096),
    (0x4E00, 0x9FA5),
    (0xAC00, 0xD7A3),
    (0xFF01, 0xFF5E),
    (0x1D400, 0x1D454),
    (0x1F300, 0x1F5FF),
]
DRAWN, BLOCK = 20_000, 100


def splitmix(state):
    """Numbers of 64 bits (Steele, Lea and Flood, 2014)."""
    while True:
        state = (state + 0x9E3779B97F4A7C15) % 2**64
        z = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
        yield z ^ z >> 31


def drawn_line(number, lines):
    """Parts of lines, which may end within characters, characters, bytes."""
    numbers = splitmix(number)

    def below(bound):
        return next(numbers) % bound

    line = b""
    for _ in range(1 + below(8)):
        kind = below(4)
        if kind < 2:
            text = lines[below(len(lines))]
            begin = below(len(text) + 1)
            line += text[begin : begin + below(24)]
        elif kind == 2:
            first, last = RANGES[below(len(RANGES))]
            for _ in range(1 + below(4)):
                line += chr(first + below(last - first + 1)).encode()
        else:
            line += bytes([below(256)])
    return line.replace(b"\n", b" ")


def fold(numbers):
    digest = 0
    for number in numbers:
        digest = (digest * 31 + number) % 2**64
    return digest


def write_digests(path, fast, lines):
    """Of each block of drawn lines, how many ids there are, and digests of the
    ids and of the text that they join to. BartTokenizer differs on one of them:
    before <mask> it drops the byte 0x1c, a space to Python and not to Unicode."""
    with open(path, "w") as file:
        for first in range(0, DRAWN, BLOCK):
            ids, text = [], b""
            for number in range(first, first + BLOCK):
                line = drawn_line(number, lines).decode(errors="replace")
                # Heddle leaves empty lines empty.
                row = fast(line).input_ids if line else []
                ids += row
                text += fast.decode(row, skip_special_tokens=True).encode()
            file.write(f"{len(ids)} {fold(ids)} {fold(text)}\n")


def long_line():
    """One word of 100,000 bytes."""
    letters = "".join(c for s in SENTENCES for c in s if c.isalpha())
    return (letters.encode() * 200)[:100_000].decode(errors="ignore")


def main():
    logging.set_verbosity_error()
    arguments = argparse.ArgumentParser()
    goldens = pathlib.Path(__file__).parent
    arguments.add_argument("--folder", type=pathlib.Path, default=goldens)
    folder = arguments.parse_args().folder / "byte-level"
    folder.mkdir(exist_ok=True)

    trained = ByteLevelBPETokenizer()
    trained.train_from_iterator(
        SENTENCES * 3, vocab_size=700, special_tokens=SPECIAL
    )
    trained.save_model(str(folder))
    files = [str(folder / "vocab.json"), str(folder / "merges.txt")]
    vocabulary = json.loads(pathlib.Path(files[0]).read_text())
    vocabulary["<mask>"] = len(vocabulary)
    text = json.dumps(vocabulary, ensure_ascii=False, separators=(",", ":"))
    pathlib.Path(files[0]).write_text(text + "\n")

    slow = BartTokenizer(*files)
    fast = BartTokenizerFast(*files)
    fast.backend_tokenizer.save(str(folder / "tokenizer.json"), pretty=False)
    lines = texts()
    with open(folder / "texts", "wb") as raw:
        raw.write(b"\n".join(lines) + b"\n")
    clean = BartTokenizer(*files, clean_up_tokenization_spaces=True)
    with open(folder / "ids", "w") as ids, open(
        folder / "decoded", "w", newline=""
    ) as decoded, open(folder / "cleaned", "w", newline="") as cleaned:
        for line in lines:
            text = line.decode(errors="replace")
            row = slow(text).input_ids
            assert row == fast(text).input_ids, text
            ids.write(" ".join(map(str, row)) + "\n")
            # Odd pieces of rows end within characters.
            cut = row[1::2] if len(row) % 2 else row
            joined = slow.decode(cut, skip_special_tokens=True)
            assert joined == fast.decode(cut, skip_special_tokens=True), text
            decoded.write(joined + "\n")
            cleaned.write(clean.decode(cut, skip_special_tokens=True) + "\n")
    row = slow(long_line()).input_ids
    assert row == fast(long_line()).input_ids
    (folder / "long").write_text(long_line() + "\n")
    (folder / "long.digest").write_text(f"{len(row)} {fold(row)}\n")
    write_digests(folder / "drawn.digests", fast, lines)


if __name__ == "__main__":
    main()
