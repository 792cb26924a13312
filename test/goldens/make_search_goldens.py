#!/usr/bin/env python3
"""Writes search.json of some tiny models: what generate() of transformers 4.57.6
finds by beams and with constraints, each sentence alone, in float64.

usage: make_search_goldens.py [FOLDER...]

A case has the flags that heddle-run gets and for each sentence the n best
sequences, without the start token, with their scores (none of a greedy run).
"""

import itertools
import json
import pathlib
import sys

import torch
from transformers import AutoModelForSeq2SeqLM

HERE = pathlib.Path(__file__).parent
FOLDERS = [
    "bart-untied",
    "bart-generation-config",
    "marian-opus",
    "marian-separate-embeddings",
]
SENTENCES = 8

# A flag's value is a list of lists where heddle-run reads a file.
OPTIONS = {
    "short": {"--length-penalty": 0.5},
    "long": {"--length-penalty": 2.0},
    "at once": {"--early-stopping": "true"},
    "never": {"--early-stopping": "never"},
    "least": {"--min-length": 6},
    "most": {"--max-length": 7},
    "bigrams": {"--no-repeat-ngram": 2},
    "trigrams": {"--no-repeat-ngram": 3},
    "repetition": {"--repetition-penalty": 1.3},
    "words": {"--bad-words": [[4], [6, 9], [9, 6]]},
    "suppressed": {"--suppress": [7, 12]},
    # A limit of the model counts a prefix in transformers, that of a run does not.
    "prefix": {"--prefix": [[8, 9], [], [5], [9, 4, 3, 7]], "--max-length": 9},
}
# Three together, of those that meet each other.
TRIPLES = [
    ("long", "never", "bigrams"),
    ("short", "at once", "least"),
    ("repetition", "words", "most"),
    ("prefix", "trigrams", "never"),
    ("prefix", "repetition", "least"),
    ("suppressed", "most", "long"),
]
ARGUMENTS = {
    "--beam": "num_beams",
    "--length-penalty": "length_penalty",
    "--min-length": "min_new_tokens",
    "--max-length": "max_new_tokens",
    "--no-repeat-ngram": "no_repeat_ngram_size",
    "--repetition-penalty": "repetition_penalty",
    "--bad-words": "bad_words_ids",
    "--suppress": "suppress_tokens",
}
STOPPING = {"true": True, "false": False, "never": "never"}


def cases():
    for beams in (1, 2, 4, 8):
        sets = [{}] + [OPTIONS[name] for name in OPTIONS]
        sets += [
            dict(itertools.chain(*(OPTIONS[name].items() for name in names)))
            for names in TRIPLES
        ]
        for flags in sets:
            searches = {"--length-penalty", "--early-stopping"}
            if beams == 1 and searches & flags.keys():
                continue
            yield {"--beam": beams} | flags


def rows_of(path):
    return [[int(word) for word in line.split()] for line in open(path)]


def generate(model, flags, source, row):
    options = {ARGUMENTS[flag]: value for flag, value in flags.items() if flag in ARGUMENTS}
    if "--early-stopping" in flags:
        options["early_stopping"] = STOPPING[flags["--early-stopping"]]
    start = model.generation_config.decoder_start_token_id
    prefixes = flags.get("--prefix", [[]])
    prefix = prefixes[row % len(prefixes)]
    found = model.generate(
        torch.tensor([source]),
        decoder_input_ids=torch.tensor([[start] + prefix]),
        do_sample=False,
        num_return_sequences=flags["--beam"],
        return_dict_in_generate=True,
        output_scores=True,
        **options,
    )
    eos = model.generation_config.eos_token_id
    ends = {eos} if isinstance(eos, int) else set(eos)
    sequences = []
    for index, ids in enumerate(found.sequences.tolist()):
        ids = ids[1:]
        # What stands behind the end is padding.
        end = next(
            (k + 1 for k in range(len(prefix), len(ids)) if ids[k] in ends), len(ids)
        )
        score = None
        if flags["--beam"] > 1:
            score = round(found.sequences_scores[index].item(), 7)
        sequences.append({"ids": ids[:end], "score": score})
    # Sequences that did not finish are no hypotheses.
    return [each for each in sequences if each["score"] is None or each["score"] > -1e8]


def write(folder):
    model = AutoModelForSeq2SeqLM.from_pretrained(folder, torch_dtype=torch.float64)
    model.eval()
    sources = rows_of(folder / "inputs.ids")[:SENTENCES]
    written = []
    for flags in cases():
        rows = [generate(model, flags, source, row) for row, source in enumerate(sources)]
        written.append({"flags": flags, "rows": rows})
    lines = ",\n".join(json.dumps(case) for case in written)
    (folder / "search.json").write_text(f"[\n{lines}\n]\n")
    print(folder.name, len(written), "cases")


if __name__ == "__main__":
    for name in sys.argv[1:] or FOLDERS:
        write(HERE / name)
