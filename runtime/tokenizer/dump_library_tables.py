"""Writes LibraryTables.inc: what kind of character one is to the library tokenizers.

usage: dump_library_tables.py > LibraryTables.inc

It asks the package tokenizers, which the goldens name the version of: the engines inside
it know several versions of Unicode. A table is a list of code points at which membership
changes. Takes a minute.

Clusters are seen through the normalizer Precompiled: with a rule for each first byte, a
cluster of fewer than six bytes becomes one character, a longer one as many as it has.
"""

import struct

import tokenizers
from tokenizers import normalizers, pre_tokenizers

POINTS = [*range(0xD800), *range(0xE000, 0x110000)]
# A control character, which is a cluster of its own beside all others; and another.
BREAK, OTHER_CONTROL = "\x01", "\x02"
HANGUL = range(0xAC00, 0xD7A4)
PICTOGRAPH, JOINER, MARK = "\u00a9", "\u200d", "\u0301"
LEAD, VOWEL, TAIL = "\u1100", "\u1161", "\u11a8"
CONSONANT, LINKER = "\u0915", "\u094d"


def cluster_counter():
    """A normalizer with a rule for each byte: BREAK becomes a line feed, others "x"."""
    units = [0] * 1024
    units[0] = 256 << 10
    for byte in range(1, 256):
        # A key ends here; its value stands 512 units away.
        units[256 ^ byte] = 512 << 10 | 1 << 8 | byte
        units[256 ^ byte ^ 512] = 1 << 31 | (0 if byte == ord(BREAK) else 2)
    trie = struct.pack("<1024I", *units)
    return normalizers.Precompiled(struct.pack("<I", len(trie)) + trie + b"\n\0x\0")


def counts(normalizer, form):
    """How many characters become of each code point in a text."""
    texts = [form % (OTHER_CONTROL if chr(p) == BREAK else chr(p)) for p in POINTS]
    made = normalizer.normalize_str(BREAK.join(texts)).split("\n")
    return dict(zip(POINTS, map(len, made), strict=True))


def clusters():
    """The tables of clusters, by name. A probe that falls apart has fewer characters: its
    last part, a character with a mark, is a short cluster then."""
    normalizer = cluster_counter()

    def having(form, count, among=POINTS):
        found = counts(normalizer, form)
        return [p for p in among if found[p] == count]

    def without(points, *others):
        known = set().union(*others)
        return [p for p in points if p not in known]

    joined = having("A%s", 1)
    extends = having(PICTOGRAPH + "%s" + JOINER + PICTOGRAPH + MARK, 5, joined)
    prepends = having("%sA", 1)
    before_vowel = {*having("%s" + VOWEL + MARK, 3)}
    before_tail = without(having("%s" + TAIL + MARK, 3), prepends, HANGUL)
    pictographs = without(having(PICTOGRAPH + JOINER + "%s", 3), joined)
    linkers = having(CONSONANT + "%s" + CONSONANT + MARK, 4, joined)
    consonants = having("%s" + LINKER + CONSONANT + MARK, 4)
    return {
        "kClusterControls": having("%s" + MARK * 2, 2),
        "kClusterExtends": sorted([*extends, ord(JOINER)]),
        "kClusterSpacingMarks": without(joined, extends, [ord(JOINER)]),
        "kClusterPrepends": prepends,
        "kHangulLeads": without(having("%s" + LEAD + MARK, 3), prepends),
        "kHangulVowels": [p for p in before_tail if p in before_vowel],
        "kHangulTails": without(before_tail, before_vowel),
        "kPictographs": pictographs,
        "kConjunctLinkers": linkers,
        "kConjunctConsonants": without(consonants, prepends),
    }


def words():
    """\\w of the regular expressions of Rust."""
    cutter = pre_tokenizers.Whitespace()
    parts = cutter.pre_tokenize_str("".join(f"a{chr(p)}\n" for p in POINTS))
    whole = {span for _, span in parts if span[1] - span[0] == 2}
    return [p for i, p in enumerate(POINTS) if (3 * i, 3 * i + 2) in whole]


def changes(members):
    """The code points whose membership is not that of the one before."""
    ends = {p for member in members for p in (member, member + 1)}
    inside = set(members)
    return sorted(p for p in ends if (p in inside) != (p - 1 in inside))


def write_table(name, members):
    print(f"\nstatic constexpr char32_t {name}[] = {{")
    line = "   "
    for point in changes(members):
        word = f" {point:#x},"
        if len(line + word) > 80:
            print(line)
            line = "   "
        line += word
    print(line + "};" if len(line) < 79 else line + "\n};")


def main():
    print(f"// Made by dump_library_tables.py with tokenizers {tokenizers.__version__}.")
    for name, members in {"kWordCharacters": words(), **clusters()}.items():
        write_table(name, members)


if __name__ == "__main__":
    main()
