"""Writes UnicodeTables.inc: the characters of some of Unicode's categories, and which
small letter a character has.

usage: make_unicode_tables.py > UnicodeTables.inc

Categories are those of the package regex, small letters those of Python;
dump_library_tables.py writes what the library tokenizers knows. A category is a list of
code points at which membership changes.
"""

import sys
import unicodedata

import regex

TABLES = {
    "kLetters": r"\p{L}",
    "kLowercase": r"\p{Ll}",
    "kUppercase": r"[\p{Lu}\p{Lt}]",
    "kMarks": r"\p{M}",
    "kNumbers": r"\p{N}",
    "kDigits": r"\p{Nd}",
    "kSymbols": r"\p{S}",
    "kFinalQuotes": r"\p{Pf}",
    "kSpaces": r"\s",
    "kSentenceEnds": r"\p{Sentence_Terminal}",
    "kInitialQuotes": r"\p{Pi}",
    "kClosing": r"\p{Pe}",
}


def changes(pattern):
    """The code points whose membership is not that of the one before."""
    matches = regex.compile(pattern).match
    inside = False
    for point in range(sys.maxunicode + 2):
        member = point <= sys.maxunicode and bool(matches(chr(point)))
        if member != inside:
            yield point
        inside = member


def lowercase_runs():
    """Characters with another small letter, of one code point: the first and the last
    of a run, how far its characters are apart, and how far their letters are."""
    runs = []
    for point in range(sys.maxunicode + 1):
        letter = chr(point).lower()
        if len(letter) != 1 or ord(letter) == point:
            continue
        delta = ord(letter) - point
        if runs:
            first, last, step, known = runs[-1]
            if known == delta and point - last in ({1, 2} if step == 0 else {step}):
                runs[-1] = (first, point, point - last, delta)
                continue
        runs.append((point, point, 0, delta))
    return [(first, last, max(step, 1), delta) for first, last, step, delta in runs]


def main():
    print(f"// Made by make_unicode_tables.py with regex {regex.__version__}.")
    for name, pattern in TABLES.items():
        print(f"\n/// {pattern}\nstatic constexpr char32_t {name}[] = {{")
        line = "   "
        for point in changes(pattern):
            text = f" {point:#x},"
            if len(line + text) > 80:
                print(line)
                line = "   "
            line += text
        print(line + "};" if len(line) < 79 else line + "\n};")
    print(f"\n/// Small letters of Unicode {unicodedata.unidata_version}.")
    print("static constexpr LowercaseRun kLowercaseRuns[] = {")
    for first, last, step, delta in lowercase_runs():
        print(f"    {{{first:#x}, {last:#x}, {step}, {delta}}},")
    print("};")


if __name__ == "__main__":
    main()
