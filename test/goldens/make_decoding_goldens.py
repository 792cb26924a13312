"""Writes what CTranslate2 decodes of the folders in ctranslate2/ with options that other
goldens do not have: patience, attention vectors, coverage penalty.

usage: make_decoding_goldens.py [NAME...]

Inputs are those of a folder's expected.json. README.md describes the files.
"""

import json
import os
import pathlib
import sys

import ctranslate2
import numpy as np

FOLDERS = pathlib.Path(__file__).parent / "ctranslate2"
NAMES = ["bart", "marian", "mbart", "gated", "multi-query", "sigmoid"]
MAX_LENGTH = 16
SEARCHES = {
    "patience": [
        {"beam_size": 3, "patience": 2.0, "num_hypotheses": 3},
        {"beam_size": 4, "patience": 0.5, "length_penalty": 0.6, "num_hypotheses": 2},
        {"beam_size": 2, "patience": 3.5, "length_penalty": 0.6, "num_hypotheses": 2},
    ],
}


def tokens_of(folder, side):
    for name in (side + "_vocabulary.json", "shared_vocabulary.json"):
        if (folder / name).exists():
            return json.loads((folder / name).read_text())
    raise FileNotFoundError(folder)


def write(folder):
    source, target = tokens_of(folder, "source"), tokens_of(folder, "target")
    config = json.loads((folder / "config.json").read_text())
    ids = {name: i for i, name in reversed(list(enumerate(target)))}
    # The engine adds what ids have.
    first, last = config["add_source_bos"], config["add_source_eos"]
    inputs = json.loads((folder / "expected.json").read_text())["inputs"]
    texts = [[source[i] for i in line[int(first) : len(line) - int(last)]] for line in inputs]
    translator = ctranslate2.Translator(str(folder), compute_type="float32", intra_threads=1)

    def translate(**options):
        return translator.translate_batch(
            texts, max_decoding_length=MAX_LENGTH, return_scores=True, return_end_token=True,
            **options)

    found = {}
    for what, searches in SEARCHES.items():
        found[what] = []
        for options in searches:
            results = translate(**options)
            found[what].append({
                "options": options,
                "hypotheses": [
                    [[ids[token] for token in tokens] for tokens in result.hypotheses]
                    for result in results],
                "scores": [
                    [float(f"{score:.7g}") for score in result.scores] for result in results]})
    (folder / "decoding.json").write_text(
        "{\n" + ",\n".join(
            f'"{key}": [\n' + ",\n".join(json.dumps(each) for each in value) + "]"
            for key, value in found.items()) + "\n}\n")


os.environ["HF_HUB_OFFLINE"] = "1"
for name in sys.argv[1:] or NAMES:
    write(FOLDERS / name)
