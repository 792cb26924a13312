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
import sentencepiece

FOLDERS = pathlib.Path(__file__).parent / "ctranslate2"
NAMES = ["bart", "marian", "mbart", "gated", "multi-query", "sigmoid", "aligned"]
MAX_LENGTH = 16
SEARCHES = {
    "patience": [
        {"beam_size": 3, "patience": 2.0, "num_hypotheses": 3},
        {"beam_size": 4, "patience": 0.5, "length_penalty": 0.6, "num_hypotheses": 2},
        {"beam_size": 2, "patience": 3.5, "length_penalty": 0.6, "num_hypotheses": 2},
    ],
    "coverage": [
        {"beam_size": 4, "coverage_penalty": 0.7, "length_penalty": 0.0, "num_hypotheses": 3},
        {"beam_size": 3, "coverage_penalty": 2.0, "length_penalty": 0.6, "patience": 2.0,
         "num_hypotheses": 3},
    ],
    "alignments": [
        {"beam_size": 1},
        {"beam_size": 4, "length_penalty": 0.6, "num_hypotheses": 2},
    ],
}


def tokens_of(folder, side):
    for name in (side + "_vocabulary.json", "shared_vocabulary.json"):
        if (folder / name).exists():
            return json.loads((folder / name).read_text())
    raise FileNotFoundError(folder)


def rounded(number):
    return float(f"{number:.6g}")


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
            texts, max_batch_size=1, max_decoding_length=MAX_LENGTH, return_scores=True, return_end_token=True,
            **options)

    found = {}
    for what, searches in SEARCHES.items():
        found[what] = []
        for options in searches:
            results = translate(return_attention=what == "alignments", **options)
            found[what].append({
                "options": options,
                "hypotheses": [
                    [[ids[token] for token in tokens] for tokens in result.hypotheses]
                    for result in results],
                "scores": [[rounded(score) for score in result.scores] for result in results]})
            if what == "alignments":
                found[what][-1]["attention"] = [
                    [[[rounded(weight) for weight in row] for row in rows]
                     for rows in result.attention] for result in results]
    (folder / "decoding.json").write_text(
        "{\n" + ",\n".join(
            f'"{key}": [\n' + ",\n".join(json.dumps(each) for each in value) + "]"
            for key, value in found.items()) + "\n}\n")


def write_unknowns(folder):
    """Lines whose greedy translation has unknown tokens, and what it is with and without
    the source's pieces in their place."""
    model = sentencepiece.SentencePieceProcessor(
        model_file=str(FOLDERS.parent / "marian-npz-old-pre-norm" / "vocab.spm"))
    pieces = [model.id_to_piece(i).replace("\u2581", " ") for i in range(model.get_piece_size())]
    lines = [" ".join(pieces[(a * 7 + k * (3 + a % 11)) % len(pieces)] for k in range(2 + a % 5))
             .strip() for a in range(600)]
    translator = ctranslate2.Translator(str(folder), compute_type="float32", intra_threads=1)

    def translate(lines, **options):
        results = translator.translate_batch(
            [model.encode(line, out_type=str) for line in lines], beam_size=1,
            max_decoding_length=MAX_LENGTH, **options)
        return [result.hypotheses[0] for result in results]

    lines = [line for line, tokens in zip(lines, translate(lines)) if "<unk>" in tokens]
    found = {"lines": lines, "kept": [model.decode(tokens) for tokens in translate(lines)],
             "replaced": [model.decode(tokens)
                          for tokens in translate(lines, replace_unknowns=True)]}
    (folder / "unknowns.json").write_text(json.dumps(found, indent=1) + "\n")


os.environ["HF_HUB_OFFLINE"] = "1"
for name in sys.argv[1:] or NAMES:
    write(FOLDERS / name)
write_unknowns(FOLDERS / "pieces")
