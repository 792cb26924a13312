"""Writes CharacterTables.inc: what the normalizers and pre-tokenizers of tokenizers do
to each character.

usage: dump_characters.py > CharacterTables.inc

It asks the package tokenizers, which the goldens name the version of: the Unicode tables
inside it are of several versions. Takes a minute.
"""

import pathlib
import sys
import unicodedata

import tokenizers
from tokenizers import normalizers, pre_tokenizers

sys.path.append(str(pathlib.Path(__file__).parents[1] / "Patterns"))
from dump_properties import write  # noqa: E402

POINTS = [*range(0xD800), *range(0xE000, 0x110000)]
BERT = {
    "clean_text": False,
    "handle_chinese_chars": False,
    "strip_accents": False,
    "lowercase": False,
}


def results(normalizer):
    """What a normalizer makes of each character between two others, as changes: a
    dictionary."""
    found = {}
    for point in POINTS:
        # Marks stay where they are behind a letter.
        made = normalizer.normalize_str(f"a{chr(point)}b")
        assert made[0] == "a" and made[-1] == "b", hex(point)
        if made[1:-1] != chr(point):
            found[point] = made[1:-1]
    return found


def ranges_of(points):
    ranges = []
    for point in sorted(points):
        if ranges and point == ranges[-1][1] + 1:
            ranges[-1][1] = point
        else:
            ranges.append([point, point])
    return ranges


def write_set(name, text, points):
    print(f"\n/// {text}")
    print(f"static constexpr char32_t {name}[] = {{")
    write(f"{first:#x}, {last:#x}," for first, last in ranges_of(points))
    print("};")


def spell(text):
    """As a literal, in which no digit is taken for one of an escape."""
    return "".join(f"\\x{byte:02x}" for byte in text.encode())


def write_map(name, text, changes):
    """Runs of single characters that are as far away, every one or every second one,
    and the others, with what they become."""
    single = {p: ord(made) - p for p, made in changes.items() if len(made) == 1}
    runs, several = [], {p: m for p, m in changes.items() if len(m) != 1}
    for point, distance in sorted(single.items()):
        for run in reversed(runs[-2:]):
            step = point - run[1]
            is_first = run[0] == run[1] and step in (1, 2)
            if run[3] == distance and (is_first or step == run[2]):
                run[1], run[2] = point, step
                break
        else:
            runs.append([point, point, 1, distance])
    print(f"\n/// {text}")
    print(f"static constexpr CharacterRun {name}Runs[] = {{")
    write(f"{{{first:#x}, {last:#x}, {step}, {d}}}," for first, last, step, d in runs)
    print("};")
    print(f"static constexpr CharacterText {name}Texts[] = {{")
    write(f'{{{p:#x}, "{spell(made)}"}},' for p, made in sorted(several.items()))
    print("};")


def combining_classes():
    """The class of each mark that NFD puts in order: that of Python, where the library
    knows the mark."""
    nfd = normalizers.NFD()
    low, high = "\u0334", "\u0345"  # The classes 1 and 240.
    found = {}
    for point in POINTS:
        value = unicodedata.combining(chr(point))
        if not value or unicodedata.normalize("NFD", chr(point)) != chr(point):
            continue
        other = high if value < 240 else low
        text = other + chr(point) if value < 240 else chr(point) + other
        if nfd.normalize_str("a" + text) != "a" + text:
            found[point] = value
    return found


def compositions(form, decomposed):
    """Pairs that become one character again."""
    pairs = {}
    for point, made in decomposed.items():
        if len(made) >= 2 and form.normalize_str(made) == chr(point):
            first = form.normalize_str(made[:-1])
            assert len(first) == 1, hex(point)
            pairs[ord(first), ord(made[-1])] = point
    return pairs


def scripts():
    """The characters of each script of UnicodeScripts; the others are of none."""

    def starts(text):
        parts = pre_tokenizers.UnicodeScripts().pre_tokenize_str(text)
        return {span[0] for _, span in parts}

    named = set()
    for other in "a\u044f":
        found = starts("".join(other + chr(point) for point in POINTS))
        named |= {point for i, point in enumerate(POINTS) if 2 * i + 1 in found}
    points = sorted(named)
    found = starts("".join(map(chr, points)))
    groups = []
    for i, point in enumerate(points):
        if i in found:
            known = (g for g in groups if len(starts(chr(g[0]) + chr(point))) == 1)
            if (group := next(known, None)) is None:
                group = []
                groups.append(group)
        group.append(point)
    return groups


def main():
    print(f"// Made by dump_characters.py with tokenizers {tokenizers.__version__}.")
    clean = results(normalizers.BertNormalizer(**{**BERT, "clean_text": True}))
    chinese = results(normalizers.BertNormalizer(**{**BERT, "handle_chinese_chars": True}))
    lower = results(normalizers.Lowercase())
    bert_lower = results(normalizers.BertNormalizer(**{**BERT, "lowercase": True}))
    assert bert_lower == lower
    accents = results(normalizers.BertNormalizer(**{**BERT, "strip_accents": True}))
    nfd, nfkd = results(normalizers.NFD()), results(normalizers.NFKD())
    hangul = {p for p in nfd if 0xAC00 <= p <= 0xD7A3}
    assert len(hangul) == 11172
    for point in hangul:
        assert nfd[point] == unicodedata.normalize("NFD", chr(point)) == nfkd[point]
        del nfd[point], nfkd[point]
    bare = {p for p, made in accents.items() if made == "" and p not in nfd}
    strip = results(normalizers.StripAccents())
    nmt = results(normalizers.Nmt())
    assert set(clean.values()) | set(nmt.values()) <= {"", " "}
    assert set(strip.values()) == {""}
    assert all(made == f" {chr(p)} " for p, made in chinese.items())

    def emptied(changes):
        return [p for p, made in changes.items() if made == ""]

    def spaced(changes):
        return [p for p, made in changes.items() if made == " "]

    write_set("kBertRemoved", "What clean_text of BertNormalizer removes.", emptied(clean))
    write_set("kBertSpaces", "What it takes for a space.", spaced(clean))
    write_set("kBertChinese", "What handle_chinese_chars puts spaces around.", chinese)
    write_set("kBertMarks", "What strip_accents drops behind NFD.", bare)
    write_set("kAccents", "What StripAccents drops.", strip)
    write_set("kNmtRemoved", "What Nmt removes.", emptied(nmt))
    write_set("kNmtSpaces", "What it takes for a space.", spaced(nmt))
    bert = pre_tokenizers.BertPreTokenizer()
    pieces = {p: bert.pre_tokenize_str(f"a{chr(p)}b") for p in POINTS}
    write_set(
        "kBertPunctuation",
        "What BertPreTokenizer takes for a word of its own.",
        [p for p, found in pieces.items() if len(found) == 3],
    )
    write_set(
        "kWhiteSpace",
        "What it and WhitespaceSplit leave out.",
        [p for p, found in pieces.items() if len(found) == 2],
    )
    split = pre_tokenizers.WhitespaceSplit()
    for point, found in pieces.items():
        assert (len(split.pre_tokenize_str(f"a{chr(point)}b")) == 2) == (len(found) == 2)
    for name, text, component in (
        ("kPunctuation", "Punctuation.", pre_tokenizers.Punctuation()),
        ("kDigits", "Digits.", pre_tokenizers.Digits(individual_digits=True)),
    ):
        cut = [p for p in POINTS if len(component.pre_tokenize_str(f"a{chr(p)}b")) == 3]
        write_set(name, text, cut)
    words = pre_tokenizers.Whitespace()
    cut = {p: words.pre_tokenize_str(f"a{chr(p)}b") for p in POINTS}
    write_set(
        "kWordCharacters",
        "\\w of Whitespace, and of what is a word of its own among added tokens.",
        [p for p, found in cut.items() if len(found) == 1],
    )
    print("\n/// UnicodeScripts: ranges, and the numbers of their scripts.")
    print("static constexpr ScriptRange kScripts[] = {")
    ranges = sorted((*r, i) for i, group in enumerate(scripts()) for r in ranges_of(group))
    write(f"{{{first:#x}, {last:#x}, {i}}}," for first, last, i in ranges)
    print("};")
    write_map("kLower", "Lowercase.", lower)
    write_map("kNfd", "NFD, but for Hangul.", nfd)
    more = {p: made for p, made in nfkd.items() if nfd.get(p) != made}
    write_map("kNfkd", "NFKD, where it is not NFD.", more)
    print("\n/// Marks that normal forms put in order, and their classes.")
    print("static constexpr CombiningRun kCombining[] = {")
    classes = combining_classes()
    runs = []
    for point, value in sorted(classes.items()):
        if runs and runs[-1][1] == point - 1 and runs[-1][2] == value:
            runs[-1][1] = point
        else:
            runs.append([point, point, value])
    write(f"{{{first:#x}, {last:#x}, {value}}}," for first, last, value in runs)
    print("};")
    pairs = compositions(normalizers.NFC(), nfd)
    print("\n/// Two characters that NFC and NFKC make one of, and which.")
    print("static constexpr char32_t kCompositions[][3] = {")
    write(f"{{{a:#x}, {b:#x}, {c:#x}}}," for (a, b), c in sorted(pairs.items()))
    print("};")


if __name__ == "__main__":
    main()
