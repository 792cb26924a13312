"""Writes UnicodeTables.inc: the characters of some of Unicode's categories.

usage: make_unicode_tables.py > UnicodeTables.inc

They are those of the package regex, which transformers' byte-level tokenizers
cut words with. A table is a list of code points at which membership changes.
"""

import sys

import regex

# Cut into clusters is what transformers' tokenizers normalise: they know Unicode
# 16, and the package a later one, with these marks.
LATER = (
    r"(?![\u05C8\u05C9\u0B53\u0B54\u1ACF-\u1AF0\U00010EF0-\U00010EFB"
    r"\U00011B60-\U00011B67\U00011DF0\U0001D127\U0001D128"
    r"\U0001D250-\U0001D281\U0001E6E3-\U0001E6F5])"
)
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
    "kClusterControls": r"[\p{GCB=Control}\p{GCB=CR}\p{GCB=LF}]",
    "kClusterExtends": LATER + r"[\p{GCB=Extend}\p{GCB=ZWJ}]",
    "kClusterSpacingMarks": LATER + r"\p{GCB=SpacingMark}",
    "kClusterPrepends": r"\p{GCB=Prepend}",
    "kHangulLeads": r"\p{GCB=L}",
    "kHangulVowels": r"\p{GCB=V}",
    "kHangulTails": r"\p{GCB=T}",
    "kPictographs": r"\p{Extended_Pictographic}",
    "kConjunctLinkers": r"\p{InCB=Linker}",
    "kConjunctConsonants": r"\p{InCB=Consonant}",
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
        print(f"\n/// {pattern.removeprefix(LATER)}\nstatic constexpr char32_t {name}[] = {{")
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
