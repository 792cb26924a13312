"""How far the log-probabilities of given targets are from torch's in float32, a
line for each thing that is asked about: the mean over all tokens of their
absolute difference. usage: PYTHON THIS FOLDER KIND|LOGITS.npy...

FOLDER is what opus_model.py wrote; KIND is one of CTranslate2's in it, and
LOGITS.npy what heddle-run --teacher FOLDER/target.ids wrote."""

import json
import pathlib
import sys

import ctranslate2
import numpy as np
import torch
from transformers import AutoModelForSeq2SeqLM

folder = pathlib.Path(sys.argv[1])


def read_ids(name):
    return [
        [int(word) for word in line.split()]
        for line in (folder / name).read_text().splitlines()
    ]


sources, targets = read_ids("source.ids"), read_ids("target.ids")


def chosen(logits, targets):
    """The log-probabilities of the targets under logits [tokens, vocabulary]."""
    tokens = torch.log_softmax(torch.as_tensor(logits).double(), dim=-1)
    return tokens[torch.arange(len(targets)), torch.tensor(targets)].numpy()


def of_torch():
    model = AutoModelForSeq2SeqLM.from_pretrained(folder / "model").eval()
    start = model.config.decoder_start_token_id
    with torch.no_grad():
        return [
            chosen(
                model(
                    input_ids=torch.tensor([source]),
                    decoder_input_ids=torch.tensor([[start] + target[:-1]]),
                ).logits[0],
                target,
            )
            for source, target in zip(sources, targets)
        ]


def of_ctranslate2(kind):
    ids = json.loads((folder / "vocab.json").read_text())
    pieces = sorted(ids, key=ids.get)
    translator = ctranslate2.Translator(str(folder / kind), compute_type=kind)
    scores = translator.score_batch(
        [[pieces[i] for i in row] for row in sources],
        [[pieces[i] for i in row] for row in targets],
    )
    # The end, which it scores too, is left out.
    return [np.array(s.log_probs[: len(t)]) for s, t in zip(scores, targets)]


def of_file(path):
    logits = np.load(path)
    return [chosen(row[: len(t)], t) for row, t in zip(logits, targets)]


expected = np.concatenate(of_torch())
for which in sys.argv[2:]:
    found = of_file(which) if which.endswith(".npy") else of_ctranslate2(which)
    print(np.abs(np.concatenate(found) - expected).mean())
