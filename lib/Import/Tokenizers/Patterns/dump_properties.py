"""Writes CodePointProperties.inc: characters as the Oniguruma of tokenizers has them.

usage: dump_properties.py > CodePointProperties.inc

It asks the package tokenizers, which the goldens name the version of, for each of its
properties which code points it has, and which characters are the same as another if
case is ignored. Takes some minutes.
"""

import sys

import tokenizers
from tokenizers import Regex
from tokenizers.pre_tokenizers import Split

CATEGORIES = (
    "Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp "
    "Cc Cf Co"
).split()
BINARY = (
    "Alphabetic Emoji Emoji_Component Emoji_Modifier Emoji_Modifier_Base "
    "Emoji_Presentation Extended_Pictographic Lowercase Regional_Indicator Uppercase "
    "Variation_Selector White_Space"
).split()
SCRIPTS = (
    "Adlam Ahom Anatolian_Hieroglyphs Arabic Armenian Avestan Balinese Bamum Bassa_Vah "
    "Batak Bengali Bhaiksuki Bopomofo Brahmi Braille Buginese Buhid Canadian_Aboriginal "
    "Carian Caucasian_Albanian Chakma Cham Cherokee Chorasmian Common Coptic Cuneiform "
    "Cypriot Cypro_Minoan Cyrillic Deseret Devanagari Dives_Akuru Dogra Duployan "
    "Egyptian_Hieroglyphs Elbasan Elymaic Ethiopic Garay Georgian Glagolitic Gothic "
    "Grantha Greek Gujarati Gunjala_Gondi Gurmukhi Gurung_Khema Han Hangul "
    "Hanifi_Rohingya Hanunoo Hatran Hebrew Hiragana Imperial_Aramaic Inherited "
    "Inscriptional_Pahlavi Inscriptional_Parthian Javanese Kaithi Kannada Katakana Kawi "
    "Kayah_Li Kharoshthi Khitan_Small_Script Khmer Khojki Khudawadi Kirat_Rai Lao Latin "
    "Lepcha Limbu Linear_A Linear_B Lisu Lycian Lydian Mahajani Makasar Malayalam Mandaic "
    "Manichaean Marchen Masaram_Gondi Medefaidrin Meetei_Mayek Mende_Kikakui "
    "Meroitic_Cursive Meroitic_Hieroglyphs Miao Modi Mongolian Mro Multani Myanmar "
    "Nabataean Nag_Mundari Nandinagari New_Tai_Lue Newa Nko Nushu Nyiakeng_Puachue_Hmong "
    "Ogham Ol_Chiki Ol_Onal Old_Hungarian Old_Italic Old_North_Arabian Old_Permic "
    "Old_Persian Old_Sogdian Old_South_Arabian Old_Turkic Old_Uyghur Oriya Osage Osmanya "
    "Pahawh_Hmong Palmyrene Pau_Cin_Hau Phags_Pa Phoenician Psalter_Pahlavi Rejang Runic "
    "Samaritan Saurashtra Sharada Shavian Siddham SignWriting Sinhala Sogdian Sora_Sompeng "
    "Soyombo Sundanese Sunuwar Syloti_Nagri Syriac Tagalog Tagbanwa Tai_Le Tai_Tham "
    "Tai_Viet Takri Tamil Tangsa Tangut Telugu Thaana Thai Tibetan Tifinagh Tirhuta "
    "Todhri Toto Tulu_Tigalari Ugaritic Vai Vithkuqi Wancho Warang_Citi Yezidi Yi "
    "Zanabazar_Square"
).split()

# Whole planes are unassigned or of private use: their ends stand for all of them.
# make_pattern_goldens.py takes every code point.
POINTS = [
    *range(0xD800),
    *range(0xE000, 0x33480),
    *range(0xE0000, 0xE1000),
    *(0xEFFFF, 0xF0000, 0xFFFFD, 0xFFFFE, 0xFFFFF, 0x100000, 0x10FFFD, 0x10FFFE),
    0x10FFFF,
]


def pieces_without(pattern, text):
    """Where the pieces of a text are that the pattern does not match."""
    split = Split(Regex(pattern), "removed")
    return [span for _, span in split.pre_tokenize_str(text)]


def matches(pattern, points=POINTS):
    """The first and the last of each range of code points, which are in order, that a
    pattern matches; ranges go on over what is not among them."""
    begin, ranges = 0, []
    text = "".join(map(chr, points))
    for first, last in [*pieces_without(pattern, text), (len(text), 0)]:
        if first > begin:
            ranges.append((points[begin], points[first - 1]))
        begin = last
    return ranges


def folds():
    """Groups of characters that are the same if case is ignored."""
    cased = [
        point
        for first, last in matches(r"[\p{CWCM}\p{CWCF}]+")
        for point in range(first, last + 1)
    ]
    # Beside each other some would be the form of one character.
    text, groups = "\n".join(map(chr, cased)), set()
    for point in cased:
        rest = [False] * len(text)
        for first, last in pieces_without(f"(?i:{chr(point)})", text):
            rest[first:last] = [True] * (last - first)
        group = tuple(p for p, other in zip(cased, rest[::2]) if not other)
        if len(group) > 1:
            groups.add(group)
    return sorted(groups)


def several():
    """What several characters are to one, if case is ignored."""
    found = {}
    for point in POINTS:
        fold = chr(point).casefold()
        if len(fold) > 1 and not pieces_without(f"(?i:{chr(point)})", fold):
            found[point] = [ord(c) for c in fold]
    return found


def write(words):
    line = "   "
    for word in words:
        if len(line) + len(word) + 1 > 80:
            print(line)
            line = "   "
        line += " " + word
    print(line)


def main():
    print(f"// Made by dump_properties.py with tokenizers {tokenizers.__version__}.")
    print("\n/// The first and the last of each range, by name.")
    print("static constexpr char32_t kRanges[] = {")
    begins, count = [], 0
    for name in [*CATEGORIES, *BINARY, *SCRIPTS]:
        ranges = matches(rf"\p{{{name}}}+")
        begins.append((name.replace("_", "").lower(), count))
        count += len(ranges)
        print(f"    // {name}")
        write(f"{first:#x}, {last:#x}," for first, last in ranges)
    print("};\n\n/// Names, and where their ranges begin.")
    print("static constexpr Property kProperties[] = {")
    write(f'{{"{name}", {begin}}},' for name, begin in begins)
    print("};\n\n/// Characters that are the same if case is ignored.")
    print("static constexpr char32_t kFolds[][4] = {")
    write("{" + ", ".join(f"{p:#x}" for p in group) + "}," for group in folds())
    print("};\n\n/// A character, and what it is in several.")
    print("static constexpr char32_t kSeveral[][4] = {")
    write(
        "{" + ", ".join(f"{p:#x}" for p in [point, *fold]) + "},"
        for point, fold in several().items()
    )
    print("};")


if __name__ == "__main__":
    main()
