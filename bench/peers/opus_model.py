"""Writes to FOLDER, which has a MarianMT model in `model`, what CTranslate2 makes
of it in each KIND (float32, int8), and lines of ids: `source.ids`, and `target.ids`
to score. Does what is not there yet.
usage: PYTHON THIS FOLDER KIND..."""

import json
import pathlib
import sys

import sentencepiece
import torch
from ctranslate2.converters import TransformersConverter

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


def write_ids(path, rows):
    path.write_text("".join(" ".join(map(str, row)) + "\n" for row in rows))


folder = pathlib.Path(sys.argv[1])
model = folder / "model"
for kind in sys.argv[2:]:
    if not (folder / kind).exists():
        TransformersConverter(str(model)).convert(folder / kind, quantization=kind)

vocabulary = json.loads((model / "vocab.json").read_text())
pieces = sentencepiece.SentencePieceProcessor(str(model / "source.spm"))
unknown, end = vocabulary["<unk>"], vocabulary["</s>"]
sources = [
    [vocabulary.get(piece, unknown) for piece in pieces.encode(text, out_type=str)]
    + [end]
    for text in SENTENCES
]
write_ids(folder / "source.ids", sources)
draws = torch.Generator().manual_seed(1)
shape = (len(sources), TARGET_LENGTH)
targets = torch.randint(2, len(vocabulary) - 1, shape, generator=draws)
write_ids(folder / "target.ids", targets.tolist())
