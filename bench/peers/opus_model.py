"""Writes to FOLDER a model that translates, in `model`, unless one is there: of a SHAPE,
with random weights. Then what CTranslate2 makes of it in each KIND (float32, int8), its
vocabulary (`vocab.json`), and lines of ids: `source.ids`, and `target.ids` to score. Does
what is not there yet. usage: PYTHON THIS FOLDER SHAPE|- KIND..."""

import json
import pathlib
import shutil
import sys

import torch
from ctranslate2.converters import TransformersConverter
from transformers import M2M100Config, M2M100ForConditionalGeneration
from transformers import T5Config, T5ForConditionalGeneration

SENTENCES = [
    "The quick brown fox jumps over the lazy dog near the bank of the river.",
    "This package contains the shared libraries needed by programs that use the "
    "graphics toolkit.",
    "He said that the government would publish the new report next week.",
    "A small tool.",
    "You can configure the server by editing the file in the configuration "
    "directory and restarting the service, which takes only a few seconds on "
    "most machines.",
    "We present a new method for machine translation that does not need any "
    "parallel data.",
    "It was raining.",
    "The committee decided to postpone the vote until all of its members had "
    "been able to read the amended proposal in full.",
]
TARGET_LENGTH = 25

# Those of google-t5/t5-small and t5-base and of facebook/nllb-200-distilled-600M.
SHAPES = {
    "t5-small": (T5ForConditionalGeneration, T5Config(vocab_size=32128, decoder_start_token_id=0)),
    "t5-base": (
        T5ForConditionalGeneration,
        T5Config(
            vocab_size=32128,
            decoder_start_token_id=0,
            d_model=768,
            d_ff=3072,
            num_layers=12,
            num_heads=12,
        ),
    ),
    "nllb-600m": (
        M2M100ForConditionalGeneration,
        M2M100Config(
            vocab_size=256206,
            max_position_embeddings=1024,
            activation_function="relu",
            scale_embedding=True,
        ),
    ),
}
SPECIAL = {"bos_token": 0, "pad_token": 1, "eos_token": 2, "unk_token": 3}


def word(number):
    return f"w{number}"


def draw_model(folder, shape):
    """A word for each id stands in for a tokenizer, which CTranslate2 asks for. A T5
    has its own numbers of special tokens: padding is 0, the end 1."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    family, config = SHAPES[shape]
    torch.manual_seed(0)
    unfinished = folder / "unfinished"
    shutil.rmtree(unfinished, ignore_errors=True)
    family(config).eval().save_pretrained(unfinished)
    special = dict(SPECIAL)
    for name in ("pad", "eos"):
        special[f"{name}_token"] = getattr(config, f"{name}_token_id")
    words = {word(i): i for i in range(config.vocab_size)}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token=word(special["unk_token"])))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, **{name: word(i) for name, i in special.items()}
    ).save_pretrained(unfinished)
    (folder / "vocab.json").write_text(json.dumps(words))
    unfinished.rename(folder / "model")


def drawn_sources(count, end):
    """As long as the sentences are in the pieces of OPUS models, less their end."""
    draws = torch.Generator().manual_seed(2)
    lengths = (17, 17, 13, 4, 30, 17, 4, 24)
    return [
        torch.randint(4, count, (length - 1,), generator=draws).tolist() + [end]
        for length in lengths
    ]


def cut_sentences(model, vocabulary):
    import sentencepiece

    pieces = sentencepiece.SentencePieceProcessor(str(model / "source.spm"))
    unknown, end = vocabulary["<unk>"], vocabulary["</s>"]
    return [
        [vocabulary.get(piece, unknown) for piece in pieces.encode(text, out_type=str)]
        + [end]
        for text in SENTENCES
    ]


def write_ids(path, rows):
    path.write_text("".join(" ".join(map(str, row)) + "\n" for row in rows))


def main():
    folder, shape = pathlib.Path(sys.argv[1]), sys.argv[2]
    model = folder / "model"
    if not model.exists():
        draw_model(folder, shape)
    if not (folder / "vocab.json").exists():
        shutil.copy(model / "vocab.json", folder)
    for kind in sys.argv[3:]:
        if not (folder / kind).exists():
            TransformersConverter(str(model)).convert(folder / kind, quantization=kind)
    vocabulary = json.loads((folder / "vocab.json").read_text())
    if shape in SHAPES:
        sources = drawn_sources(len(vocabulary), SHAPES[shape][1].eos_token_id)
    else:
        sources = cut_sentences(model, vocabulary)
    write_ids(folder / "source.ids", sources)
    draws = torch.Generator().manual_seed(1)
    count = len(sources), TARGET_LENGTH
    targets = torch.randint(4, len(vocabulary) - 1, count, generator=draws)
    write_ids(folder / "target.ids", targets.tolist())


main()
