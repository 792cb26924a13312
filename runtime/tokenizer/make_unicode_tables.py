"""Writes UnicodeTables.inc: the characters of some of Unicode's categories.

usage: make_unicode_tables.py > UnicodeTables.inc

They are those of the package regex; dump_library_tables.py writes what the library
tokenizers knows. A table is a list of code points at which membership changes.
"""

import sys

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


if __name__ == "__main__":
    main()
