#!/usr/bin/env python3
"""Writes search.json of some tiny models: what generate() of transformers 4.57.6
finds by beams and with constraints, each sentence alone, in float64.

usage: make_search_goldens.py [FOLDER...]

A case has the flags that heddle-run gets and for each sentence the n best
sequences, without the start token, with their scores (of a greedy run only
where these are normalised again).
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
    "renormalize": {"--renormalize": True},
    # All but these, the ends and what is forced are suppressed.
    "few": {"--suppress": [20, 29, 30]},
    # A limit of the model counts a prefix in transformers, that of a run does not.
    "prefix": {"--prefix": [[8, 9], [], [5], [9, 4, 3, 7]], "--max-length": 9},
}
# Some together, of those that meet each other.
TOGETHER = [
    ("long", "never", "bigrams"),
    ("short", "at once", "least"),
    ("repetition", "words", "most"),
    ("prefix", "trigrams", "never"),
    ("prefix", "repetition", "least"),
    ("suppressed", "most", "long"),
    ("renormalize", "bigrams", "long"),
    ("renormalize", "words", "suppressed"),
    ("renormalize", "repetition", "least"),
    ("renormalize", "repetition", "words", "most"),
    ("renormalize", "prefix", "at once"),
    ("renormalize", "few", "trigrams"),
]
# Steps that leave fewer tokens than there are beams, or none; a greedy run of
# transformers writes token 0 there, which is not allowed either.
STARVED = [
    ("few", "bigrams", "least"),
    ("few", "bigrams", "never"),
    ("few", "trigrams", "least", "at once"),
    ("few", "trigrams", "most"),
    ("few", "trigrams", "least", "never"),
    ("few", "trigrams", "at once", "short"),
    ("few", "words", "never", "least"),
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
    "--renormalize": "renormalize_logits",
}
STOPPING = {"true": True, "false": False, "never": "never"}


def merged(names, few):
    options = OPTIONS | {"few": {"--suppress": few}}
    return dict(itertools.chain(*(options[name].items() for name in names)))


def cases(few):
    """`few` are the ids that leave few of a vocabulary."""
    for beams in (1, 2, 4, 8):
        names = [(), *((name,) for name in OPTIONS), *TOGETHER]
        for each in names + (STARVED if beams > 1 else []):
            flags = merged(each, few)
            searches = {"--length-penalty", "--early-stopping"}
            if beams == 1 and (searches & flags.keys() or "few" in each):
                continue
            # Beams that are not there have equal sums of -1e9. Which of them ends
            # first, and with that a search at once, is up to torch's topk.
            if beams == 8 and "at once" in each and each in STARVED:
                continue
            yield {"--beam": beams} | flags


def rows_of(path):
    return [[int(word) for word in line.split()] for line in open(path)]


def ends_of(model):
    eos = model.generation_config.eos_token_id
    return {eos} if isinstance(eos, int) else set(eos)


def all_but_few(model):
    settings = model.generation_config
    left = ends_of(model) | set(OPTIONS["few"]["--suppress"])
    left |= {settings.forced_bos_token_id, settings.forced_eos_token_id}
    return [id for id in range(model.config.vocab_size) if id not in left]


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
    ends = ends_of(model)
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
            # Sequences that did not finish are no hypotheses.
            length = max(end - len(prefix), 1)
            penalty = flags.get(
                "--length-penalty", model.generation_config.length_penalty
            )
            if score * length**penalty < -1e6:
                continue
        elif "--renormalize" in flags:
            # What transformers chose from; without the flag these are logits.
            chosen = zip(found.scores, ids[len(prefix) : end])
            score = round(sum(row[0, id].item() for row, id in chosen), 7)
        sequences.append({"ids": ids[:end], "score": score})
    return sequences


def write(folder):
    model = AutoModelForSeq2SeqLM.from_pretrained(folder, torch_dtype=torch.float64)
    model.eval()
    sources = rows_of(folder / "inputs.ids")[:SENTENCES]
    written = []
    for flags in cases(all_but_few(model)):
        rows = [generate(model, flags, source, row) for row, source in enumerate(sources)]
        written.append({"flags": flags, "rows": rows})
    lines = ",\n".join(json.dumps(case) for case in written)
    (folder / "search.json").write_text(f"[\n{lines}\n]\n")
    print(folder.name, len(written), "cases")


if __name__ == "__main__":
    for name in sys.argv[1:] or FOLDERS:
        write(HERE / name)
