"""Writes components/: small tokenizers of many components, and what they make of texts.

usage: make_component_goldens.py

`NAME.json` is a tokenizer, `texts.json` a list of texts, `NAME.tokens.json` for each text
its ids and the characters that each of them stands for; and `NAME.joined.json` lists of
ids with their texts. `windows.json` has post-processors with what they and truncation make
of texts and pairs. `characters.json` has components, and a digest of what they make of all
code points; `clusters.json` the same of a normalizer that shows clusters, for texts with
each code point, and `words.digests.json` of a token that is a word. `cases.json` has tokenizers for
single texts. The oracle is the package tokenizers; sentencepiece makes a table of
rules.
"""

import collections
import hashlib
import json
import math
import pathlib
import random
import sys
import tempfile

import sentencepiece
from sentencepiece import sentencepiece_model_pb2
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers
from tokenizers import pre_tokenizers, processors, trainers

sys.path.append(str(pathlib.Path(__file__).parents[2] / "runtime/tokenizer"))
import dump_library_tables  # noqa: E402

FOLDER = pathlib.Path(__file__).parent / "components"
SENTENCES = [
    "The quick brown fox, doesn't it? We've seen they're here; 1,234.56% of it.",
    "Ação, coração às três e meia: naïve Ångström ÅÉÎÕÜ Straße ǅ İstanbul ΟΔΟΣ",
    "Быстрая коричневая лиса й ё Ё прыгает",
    "敏捷的棕色狐狸跳过了懒狗。素早い茶色の狐は 한국어 각 값 ﷺ ㍿ ﬁ ½ Ⅷ ² ٣٤٥ १२३",
    "a\u0301\u0323 e\u0327\u0301 \u1100\u1161\u11a8 \u0915\u093c ½\u0350 ｶﾞ ﾊﾟ",
    "x\u200bz \u00ad \ufeff \ufffd \u0000 \u0085 \u2028 \u3000 \u00a0y\u2003 \ue000 \u0378",
    "the-final--countdown- 12345 a1b2 $+<=>^`|~ «quoted» ‹x› €5 _under_score_",
    "👩‍👩‍👧‍👦 🇵🇹 👍🏽 ☃️ \U0001d165\U0001d16d\u0316 \u302e\u302f \u0f71\u0f72\u0f74",
    "[MASK] <x> <X> [SEP]the <y>fox <Y> </s> <a b>",
]
SPACES = [" ", "  ", "   ", "\t", "\n", "\r\n", "\u00a0", "\u3000", "\u2003 ", " \u2028"]


def texts():
    rng = random.Random(1)
    lines = [*SENTENCES, "", " ", "\n"]
    words = [word for sentence in SENTENCES for word in sentence.split(" ")]
    ranges = [(0x20, 0x7F), (0xA0, 0x250), (0x300, 0x370), (0x370, 0x530)]
    ranges += [(0x590, 0xE00), (0xAC00, 0xAD00), (0x1100, 0x1200), (0x1E00, 0x2070)]
    ranges += [(0x3040, 0x3100), (0x4E00, 0x4E80), (0xF900, 0xFB10), (0x1F600, 0x1F640)]
    for _ in range(120):
        parts = []
        for _ in range(rng.randint(1, 8)):
            low, high = rng.choice(ranges)
            drawn = "".join(chr(rng.randrange(low, high)) for _ in range(3))
            parts += [rng.choice([rng.choice(words), drawn]), rng.choice(SPACES + [""])]
        lines.append("".join(parts))
    # A mark composes with the last character of a decomposition.
    return [*lines, "x\u2167\u0308 \ufb01\u0328y \u01c4\u0331 \u2173\u0323z \u2160\u0328"]


def bert_like(vocabulary):
    return models.WordPiece(vocabulary, unk_token="[UNK]")


def pieces():
    """Word pieces: characters of the texts, and starts and ends of their words."""
    characters = sorted({c for s in SENTENCES for c in s if not c.isspace()} - {"\0"})
    characters += sorted({c.lower()[0] for c in characters} - set(characters))
    starts = ["the", "qui", "bro", "fox", "doesn", "we", "coracao", "acao", "123", "лис"]
    rests = ["ck", "wn", "ing", "es", "tr", "23", "45", "ая", "на", "ive"]
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *characters[: len(characters) // 2 * 2]]
    words += [f"##{c}" for c in characters] + starts + [f"##{r}" for r in rests]
    return {word: i for i, word in enumerate(dict.fromkeys(words))}


def words():
    found = {"[UNK]": 0}
    for sentence in SENTENCES:
        for word in sentence.lower().replace("-", " - ").split():
            if "\0" not in word:
                found.setdefault(word, len(found))
    return found


def byte_pairs(**options):
    tokenizer = Tokenizer(models.BPE(**options))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
    tokenizer.train_from_iterator(SENTENCES * 3, trainer)
    return tokenizer.model


def marked_words():
    """The words of some texts as Metaspace has them: its trainers draw."""
    return [f"▁{word}" for sentence in SENTENCES[:3] for word in sentence.split(" ")]


def pairs(size=100, continuing_subword_prefix="", end_of_word_suffix="", **options):
    """Pairs of characters, learnt from the words."""
    first = continuing_subword_prefix
    words = []
    for word in marked_words():
        parts = [(first if i else "") + c for i, c in enumerate(word)]
        words.append([*parts[:-1], parts[-1] + end_of_word_suffix])
    found = ["<unk>"]
    if options.get("byte_fallback"):
        found += [f"<0x{byte:02X}>" for byte in range(256)]
    found += sorted({part for parts in words for part in parts})
    merges = []
    for _ in range(size):
        counts = collections.Counter(pair for parts in words for pair in zip(parts, parts[1:]))
        left, right = min(counts, key=lambda pair: (-counts[pair], pair))
        merges.append((left, right))
        found.append(left + right[len(first) :])
        for parts in words:
            for i in range(len(parts) - 1, 0, -1):
                if parts[i - 1 : i + 1] == [left, right]:
                    parts[i - 1 : i + 1] = [found[-1]]
    if first:
        options["continuing_subword_prefix"] = first
    if end_of_word_suffix:
        options["end_of_word_suffix"] = end_of_word_suffix
    ids = {piece: i for i, piece in enumerate(dict.fromkeys(found))}
    return models.BPE(ids, merges, **options)


def unigram(**options):
    counts = collections.Counter(
        word[i : i + n] for word in marked_words() for n in (1, 2, 3, 4) for i in range(len(word))
    )
    best = sorted(counts, key=lambda piece: (-counts[piece] * len(piece), piece))[:200]
    vocabulary = [("<unk>", 0.0)]
    vocabulary += [(piece, math.log(counts[piece] / 1000)) for piece in best]
    if options.get("byte_fallback"):
        vocabulary += [(f"<0x{byte:02X}>", -12.5) for byte in range(256)]
    return models.Unigram(vocabulary, 0, **options)


def rules():
    """A small table of rules, as SentencePiece's trainer makes it."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        lines = ["41\t61", "E9\t65", "65 301\t65", "BD\t31 2F 32", "FB01\t66 69", "AD\t"]
        (path / "rules.tsv").write_text("\n".join(lines) + "\n")
        (path / "text").write_text("\n".join(SENTENCES[:3]))
        sentencepiece.SentencePieceTrainer.train(
            input=str(path / "text"),
            model_prefix=str(path / "model"),
            vocab_size=80,
            normalization_rule_tsv=str(path / "rules.tsv"),
            minloglevel=2,
        )
        model = sentencepiece_model_pb2.ModelProto()
        model.ParseFromString((path / "model.model").read_bytes())
        return model.normalizer_spec.precompiled_charsmap


def make(model, normalizer=None, pre_tokenizer=None, decoder=None, added=()):
    tokenizer = Tokenizer(model)
    if normalizer:
        tokenizer.normalizer = normalizer
    if pre_tokenizer:
        tokenizer.pre_tokenizer = pre_tokenizer
    if decoder:
        tokenizer.decoder = decoder
    for token in added:
        (tokenizer.add_special_tokens if token.special else tokenizer.add_tokens)([token])
    return tokenizer


def tokenizers():
    n, p = normalizers, pre_tokenizers
    marks = [
        AddedToken("[MASK]", lstrip=True, special=True),
        AddedToken("[SEP]", special=True),
        AddedToken("<x>", rstrip=True),
        AddedToken("<y>", single_word=True),
        AddedToken("<A B>", normalized=True),
    ]
    wordpiece = decoders.WordPiece()
    yield "bert", make(
        bert_like(pieces()), n.BertNormalizer(), p.BertPreTokenizer(), wordpiece, marks
    )
    yield "bert-cased", make(
        bert_like(pieces()),
        n.BertNormalizer(lowercase=False, handle_chinese_chars=False),
        p.BertPreTokenizer(),
        decoders.WordPiece(cleanup=False),
    )
    yield "bert-accents", make(
        bert_like(pieces()),
        n.BertNormalizer(lowercase=True, strip_accents=False, clean_text=False),
        p.BertPreTokenizer(),
        wordpiece,
    )
    yield "words", make(
        models.WordLevel(words(), unk_token="[UNK]"),
        n.Sequence([n.NFC(), n.Lowercase()]),
        p.Whitespace(),
        added=marks,
    )
    short = models.WordPiece(pieces(), unk_token="[UNK]", max_input_chars_per_word=5)
    yield "nfkc", make(
        short, n.NFKC(), p.Sequence([p.WhitespaceSplit(), p.Punctuation("merged_with_previous")])
    )
    yield "nfd", make(
        bert_like(pieces()),
        n.Sequence([n.NFD(), n.StripAccents()]),
        p.Sequence([p.WhitespaceSplit(), p.Digits(individual_digits=True)]),
    )
    yield "nfkd", make(
        bert_like(pieces()),
        n.Sequence([n.NFKD(), n.Lowercase()]),
        p.Sequence([p.Whitespace(), p.Digits()]),
    )
    yield "replaced", make(
        bert_like(pieces()),
        n.Sequence(
            [
                n.Nmt(),
                n.Strip(left=True, right=False),
                n.Replace(Regex(r"\s+"), "-"),
                n.Replace("--", "the"),
                n.Prepend("qui"),
            ]
        ),
        p.CharDelimiterSplit("-"),
        added=marks,
    )
    for behavior in ("removed", "merged_with_previous", "merged_with_next", "contiguous"):
        yield f"split-{behavior}", make(
            bert_like(pieces()),
            n.Lowercase(),
            p.Sequence(
                [
                    p.Split(Regex(r"\p{P}"), behavior),
                    p.Split(Regex(r"[\p{L}\p{N}]+"), "removed", invert=True),
                    p.Split(Regex(r"\d|[aeiou]"), behavior, invert=behavior == "contiguous"),
                ]
            ),
        )
    yield "bytes", make(
        byte_pairs(),
        n.NFC(),
        p.Sequence([p.Digits(individual_digits=True), p.ByteLevel(add_prefix_space=False)]),
        decoders.ByteLevel(),
        marks,
    )
    llama = (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|"
        r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    )
    yield "bytes-split", make(
        byte_pairs(),
        None,
        p.Sequence([p.Split(Regex(llama), "isolated"), p.ByteLevel(True, use_regex=False)]),
        decoders.ByteLevel(),
        marks,
    )


    yield from sentence_pieces(marks)
    yield from rare_components(marks)


def sentence_pieces(marks):
    """What converters make of SentencePiece models, and pairs of characters."""
    n, p, d = normalizers, pre_tokenizers, decoders
    yield "whole-words", make(
        byte_pairs(ignore_merges=True),
        None,
        p.Sequence([p.WhitespaceSplit(), p.ByteLevel(add_prefix_space=True)]),
        d.ByteLevel(),
    )
    llama = d.Sequence([d.Replace("▁", " "), d.ByteFallback(), d.Fuse(), d.Strip(" ", 1, 0)])
    yield "pairs-fallback", make(
        pairs(unk_token="<unk>", fuse_unk=True, byte_fallback=True),
        n.Sequence([n.Prepend("▁"), n.Replace(" ", "▁")]),
        None,
        llama,
        marks,
    )
    yield "pairs-unknown", make(
        pairs(unk_token="<unk>", fuse_unk=False), None, p.Metaspace(), d.Metaspace()
    )
    yield "pairs-fused", make(
        pairs(unk_token="<unk>", fuse_unk=True), None, p.Metaspace(split=False), d.Metaspace()
    )
    yield "pairs-dropped", make(pairs(), n.Lowercase(), p.Metaspace("#", "never"), None, marks)
    yield "pairs-prefix", make(
        pairs(unk_token="<unk>", continuing_subword_prefix="##"), None, p.Whitespace()
    )
    yield "pairs-suffix", make(
        pairs(unk_token="<unk>", end_of_word_suffix="</w>"),
        n.Sequence([n.NFC(), n.Replace(Regex(r"\s+"), " "), n.Lowercase()]),
        p.Sequence([p.WhitespaceSplit(), p.Digits(True)]),
        d.BPEDecoder(),
    )
    converted = [n.Precompiled(rules()), n.Strip(False, True), n.Replace(Regex(" {2,}"), "▁")]
    yield "unigram", make(
        unigram(), n.Sequence(converted), p.Metaspace(), d.Metaspace(), marks
    )
    yield "unigram-first", make(
        unigram(), n.Nmt(), p.Metaspace("▁", "first", False), d.Metaspace("▁", "never"), marks
    )
    yield "unigram-fallback", make(
        unigram(byte_fallback=True),
        n.Strip(True, False),
        p.Sequence([p.FixedLength(7), p.Metaspace("▁", "first")]),
        d.Sequence([d.Metaspace(), d.ByteFallback(), d.Strip("a", 0, 1)]),
        marks,
    )


def with_bytes(missing="", **options):
    """Pairs of the names of bytes, of which some are no pieces."""
    state = json.loads(Tokenizer(byte_pairs()).to_str())["model"]
    suffix = options.get("end_of_word_suffix", "")
    kept = [m for m in state["merges"] if not set("".join(m)) & set(missing)]
    pieces = [p for p in state["vocab"] if not set(p) & set(missing)]
    pieces += [p + suffix for p in pieces if suffix]
    merges = [tuple(m) for m in kept] + [(a, b + suffix) for a, b in kept if suffix]
    ids = {p: i for i, p in enumerate(dict.fromkeys(pieces))}
    return models.BPE(ids, merges, **options)


def rare_components(marks):
    n, p, d = normalizers, pre_tokenizers, decoders
    yield "bytes-behind", make(
        byte_pairs(),
        None,
        p.Sequence([p.Punctuation("contiguous"), p.ByteLevel(False), p.Digits()]),
        d.ByteLevel(),
        marks,
    )
    yield "bytes-missing", make(with_bytes("ĠâãÎ½"), None, p.ByteLevel(False), d.ByteLevel())
    yield "bytes-plain", make(byte_pairs(), None, p.ByteLevel(False), None, marks)
    yield "bytes-suffix", make(
        with_bytes(end_of_word_suffix="</w>", unk_token="!"),
        n.Sequence([n.NFC(), n.Replace(Regex(r"\s+"), " "), n.Lowercase()]),
        p.Sequence([p.Split(Regex(r"[\p{L}]+|[^\s\p{L}]+"), "removed", True), p.ByteLevel(False)]),
        d.ByteLevel(),
        marks,
    )
    yield "scripts", make(
        models.WordLevel(words(), unk_token="[UNK]"),
        n.Lowercase(),
        p.Sequence([p.UnicodeScripts(), p.WhitespaceSplit()]),
        d.CTC("the", "-"),
        marks,
    )
    byte_level = byte_pairs()
    yield "bytes-named", make(
        byte_level,
        n.Sequence([n.Strip(), n.ByteLevel()]),
        p.Split(Regex("Ġ"), "merged_with_next"),
        d.ByteLevel(),
        marks,
    )
    zero = json.loads(Tokenizer(pairs()).to_str())["model"]
    zero["vocab"]["\0"] = len(zero["vocab"])
    merges = [tuple(merge) for merge in zero["merges"]]
    yield "pairs-zero", make(models.BPE(zero["vocab"], merges), None, p.Whitespace(), None)
    yield "unigram-ctc", make(
        unigram(),
        None,
        p.Metaspace(),
        d.Sequence(
            [d.Replace(Regex("[aeiou]+|▁t"), "."), d.CTC("o", "▁", True), d.Metaspace()]
        ),
        marks,
    )
    yield "bytes-replaced", make(
        byte_pairs(),
        None,
        p.ByteLevel(False),
        d.Sequence([d.ByteLevel(), d.Replace(Regex("[aeiou ]+"), "é"), d.Strip("é", 1, 0)]),
        marks,
    )


def write(name, value):
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    (FOLDER / name).write_text(text + "\n")


def characters():
    """What components make of all code points, each on a line of its own."""
    n, p = normalizers, pre_tokenizers
    text = "".join(f"{chr(c)}\n" for c in range(0x110000) if not 0xD800 <= c < 0xE000)
    bert = {"clean_text": False, "handle_chinese_chars": False}
    bert |= {"strip_accents": False, "lowercase": False}
    for normalizer in (
        n.BertNormalizer(),
        *(n.BertNormalizer(**{**bert, key: True}) for key in bert),
        *(n.NFC(), n.NFD(), n.NFKC(), n.NFKD(), n.Lowercase(), n.StripAccents(), n.Nmt()),
    ):
        yield normalizer, normalizer.normalize_str(text)
    for cutter in (
        *(p.BertPreTokenizer(), p.Whitespace(), p.WhitespaceSplit(), p.Punctuation()),
        *(p.Digits(), p.Digits(individual_digits=True), p.UnicodeScripts()),
    ):
        yield cutter, "\0".join(piece for piece, _ in cutter.pre_tokenize_str(text))


def post_processors():
    """Post-processors, each of one of the tokenizers."""
    p = processors
    bert = [("[CLS]", pieces()["[CLS]"]), ("[SEP]", pieces()["[SEP]"])]
    yield "bert", p.BertProcessing(bert[1], bert[0])
    yield "bert", p.TemplateProcessing(
        single="[CLS]:2 $A:1 two:3", pair="$B:4 [SEP]:1 $A two:1", special_tokens=[*bert, TWO]
    )
    yield "bytes", p.RobertaProcessing(("[MASK]", 400), ("[SEP]", 401))
    yield "bytes", p.RobertaProcessing(("[MASK]", 400), ("[SEP]", 401), add_prefix_space=False)
    template = p.TemplateProcessing(
        single="[SEP] $A", pair="[SEP] $A [SEP]:1 $B:1", special_tokens=[("[SEP]", 401)]
    )
    yield "bytes-split", p.Sequence([p.ByteLevel(trim_offsets=True), template])
    yield "bytes-split", p.ByteLevel(trim_offsets=False)
    yield "unigram", None


TWO = {"id": "two", "ids": [5, 6], "tokens": ["!", "%"]}
# What is left of texts: the most tokens, how many windows share, what is cut.
TRUNCATIONS = [None, (9, 0, "longest_first", "right"), (9, 1, "longest_first", "left")]
TRUNCATIONS += [(13, 2, "only_second", "right"), (13, 3, "only_first", "left")]
TRUNCATIONS += [(30, 4, "longest_first", "right"), (31, 0, "longest_first", "left")]


def windows(tokenizer, pair, truncation):
    """[ids, characters, types, texts] of each window; None if the library refuses.

    The last two are those of the first window: processors leave them to chance in others.
    """
    tokenizer.no_truncation()
    if truncation:
        length, stride, strategy, direction = truncation
        tokenizer.enable_truncation(
            length, stride=stride, strategy=strategy, direction=direction
        )
    try:
        first = tokenizer.encode(*pair)
    except BaseException:  # It may panic.
        return None
    made = [
        [window.ids, [i for span in window.offsets for i in span]]
        for window in [first, *first.overflowing]
    ]
    made[0].append(first.type_ids)
    made[0].append([-1 if text is None else text for text in first.sequence_ids])
    return made


def windows_without_room(tokenizer):
    """Windows of pairs of which one text gets no room."""
    for pair in ["the", "fox the"], ["fox the", "the"]:
        for length in (3, 4, 5):
            truncation = (length, 0, "longest_first", "right")
            made = windows(tokenizer, pair, truncation)
            if made and not {0, 1} <= {*made[0][3]}:
                yield pair, truncation, made


def write_windows(known, lines):
    found = []
    rng = random.Random(3)
    for name, processor in post_processors():
        tokenizer = Tokenizer.from_str(known[name])
        if processor:
            tokenizer.post_processor = processor
        cases = []
        for truncation in TRUNCATIONS:
            for size in (1, 2, 2):
                pair = [f" {rng.choice(lines)[:28]} " for _ in range(size)]
                made = windows(tokenizer, pair, truncation)
                if made and len(made) <= 12:
                    cases.append([pair, truncation, made])
        cases.append([["", ""], None, windows(tokenizer, ["", ""], None)])
        state = json.loads(processor.__getstate__()) if processor else None
        first = (state or {}).get("pair", [{}])[0]
        # Where the second text is the first of a template, windows have another order.
        if first.get("Sequence", {}).get("id") != "B":
            cases += windows_without_room(tokenizer)
        found.append([name, state, cases])
    write("windows.json", found)


def write_characters():
    found = []
    for component, made in characters():
        state = json.loads(component.__getstate__())
        found.append([state, hashlib.sha1(made.encode()).hexdigest()])
    write("characters.json", found)


def digest(text):
    return hashlib.sha1(text.encode()).hexdigest()


POINTS = [chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000]
# A text with each code point in place of @.
CLUSTERS = ["A@", "@A", "@\u0301\u0301", "@\u1100\u0301", "@\u1161\u0301", "@\u11a8\u0301"]
CLUSTERS += ["\u00a9@\u200d\u00a9\u0301", "\u00a9\u200d@", "@\u094d\u0915\u0301"]
CLUSTERS += ["\u0915@\u0915\u0301", "\u0915\u094d@\u0915\u0301"]
WORDS = ["@<x>", "<x>@"]


def write_points():
    """Digests of what becomes of texts with each code point, each behind a line feed."""
    normalizer = dump_library_tables.cluster_counter()
    state = json.loads(normalizer.__getstate__())
    found = []
    for form in CLUSTERS:
        text = "".join("\n" + form.replace("@", c) for c in POINTS)
        found.append([form, digest(normalizer.normalize_str(text))])
    write("clusters.json", [state, found])
    tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    tokenizer.add_tokens([AddedToken("<x>", single_word=True, normalized=False)])
    found = []
    for form in WORDS:
        text = "".join("\n" + form.replace("@", c) for c in POINTS)
        parts = (text[b:e] for b, e in tokenizer.encode(text).offsets)
        found.append([form, digest("\0".join(parts))])
    write("words.digests.json", found)


def special_cases():
    """Tokenizers, and texts that they have a trap for."""
    n, p, t = normalizers, pre_tokenizers, AddedToken

    def words(*pieces):
        ids = {piece: i for i, piece in enumerate(["[UNK]", *pieces])}
        return models.WordLevel(ids, unk_token="[UNK]")

    # White space that an earlier token has taken.
    taken = [t("<x>", rstrip=True, special=True), t("\n", lstrip=True, normalized=False)]
    yield make(words("a", "b"), added=taken), ["a<x>\nb", "\n<x>\n", "<x>\n"]
    # A token of which the normalizer leaves nothing.
    for options in {}, {"rstrip": True}, {"lstrip": True}, {"single_word": True}:
        made = make(words("a", "b", "ab"), n.Strip(), added=[t("\n", normalized=True, **options)])
        yield made, ["ab", "ab\nab", "a b", " a - b ", "-"]
    # Two tokens with one normal form.
    for first, second in ((False, True), (False, False), (True, True), (True, False)):
        same = [t("<A>", normalized=True, special=first)]
        same.append(t("<a>", normalized=True, special=second))
        yield make(words("b"), n.Lowercase(), added=same), ["b<A>b", "<a>"]
    yield from trimmed_cases(words)
    yield from zero_cases(words)
    yield from late_cases()


def trimmed_cases(words):
    """Ranges without white space, of tokens that are no bytes, or bytes of no decoder."""
    p, d, t = pre_tokenizers, decoders, AddedToken
    line = ["a\nb", "a b", " a\u3000\u2028"]
    roberta = processors.RobertaProcessing(("a", 1), ("b", 2), add_prefix_space=False)
    for processor in processors.ByteLevel(trim_offsets=True), roberta:
        for added in (), [t("[UNK]", special=True), t(" b", normalized=False)]:
            model = words("a", "b", "\n", " ", "\u3000")
            made = make(model, None, p.Split(Regex("(?m:.)"), "isolated"), added=added)
            made.post_processor = processor
            yield made, line
    names = {name: i for i, name in enumerate(["a", "b", "Ġ", "Ċ", "Ġa"])}
    for decoder in None, d.ByteLevel(), d.Sequence([d.ByteLevel(), d.Strip("a", 1, 0)]):
        made = make(models.BPE(names, [("Ġ", "a")]), None, p.ByteLevel(False), decoder)
        made.post_processor = processors.ByteLevel(trim_offsets=True, add_prefix_space=False)
        yield made, ["b a", "b b", " a", "a\nb  a "]


def zero_cases(words):
    """Pieces with U+0000."""
    cut = pre_tokenizers.Split(Regex("[ab\\x00]+"), "isolated")
    lines = ["a\0a", "\0", "b\0\0a", "\0b", "é\0é\0", "a\0aé"]
    yield make(words("\0", "a", "b\0\0a"), None, cut), lines
    pieces = {p: i for i, p in enumerate(["[UNK]", "\0", "a", "b", "a\0", "##\0", "##a"])}
    yield make(models.WordPiece(pieces, unk_token="[UNK]"), None, cut), lines
    scored = [("[UNK]", 0.0), ("\0", -1.0), ("a", -1.5), ("a\0", -2.0), ("\0é\0", -9.0)]
    yield make(models.Unigram(scored, 0)), lines
    scored = [("[UNK]", 0.0), ("a", -1.5)]
    scored += [(f"<0x{byte:02X}>", -12.5) for byte in (0, 0xA9, 0xC3)]
    yield make(models.Unigram(scored, 0, byte_fallback=True)), lines


def late_cases():
    """Marks that are spelled as bytes, and a piece that is empty."""
    ids = {"a": 0, "a</w>": 1, "##a</w>": 2}
    spelled = {*"é#</w>".encode()}
    ids |= {f"<0x{byte:02X}>": i + 3 for i, byte in enumerate(sorted(spelled))}
    for marks in (
        {"end_of_word_suffix": "</w>"},
        {"continuing_subword_prefix": "##"},
        {"end_of_word_suffix": "</w>", "continuing_subword_prefix": "##"},
        {"end_of_word_suffix": "</z>"},
    ):
        yield make(models.BPE(ids, [], byte_fallback=True, **marks)), ["é", "aé", "éa", "éé", "aa"]
    empty = {p: i for i, p in enumerate(["[UNK]", "a", "", "##b"])}
    for decoder in None, decoders.WordPiece(), decoders.BPEDecoder("a"):
        yield make(models.WordPiece(empty, unk_token="[UNK]"), decoder=decoder), ["ab", "a", "ba"]


def write_cases():
    found = []
    for tokenizer, lines in special_cases():
        cases = []
        for line in lines:
            made = tokenizer.encode(line)
            # The library has ranges behind the end of a text.
            spans = [min(i, len(line)) for span in made.offsets for i in span]
            cases.append([line, made.ids, spans])
        ids = [i for case in cases for i in case[1]] + [2, 1, 2, 700]
        texts = [[ids, tokenizer.decode(ids)], [ids[::-1], tokenizer.decode(ids[::-1])]]
        found.append([json.loads(tokenizer.to_str()), cases, texts])
    write("cases.json", found)


def main():
    FOLDER.mkdir(exist_ok=True)
    write_characters()
    write_points()
    write_cases()
    lines = texts()
    write("texts.json", lines)
    rng = random.Random(2)
    known = {}
    for name, tokenizer in tokenizers():
        known[name] = tokenizer.to_str()
        write(f"{name}.json", json.loads(known[name]))
        # Ids, then the characters from where to where.
        tokens = []
        for line in lines:
            encoding = tokenizer.encode(line, add_special_tokens=False)
            tokens.append([encoding.ids, [i for span in encoding.offsets for i in span]])
        write(f"{name}.tokens.json", tokens)
        size = tokenizer.get_vocab_size()
        drawn = [[rng.randrange(size) for _ in range(rng.randint(0, 12))] for _ in range(40)]
        write(f"{name}.joined.json", [[ids, tokenizer.decode(ids)] for ids in drawn])
    write_windows(known, lines)


if __name__ == "__main__":
    main()
