"""transformers on lines of ids, as many tokens and beams as are asked for, in float32.
usage: PYTHON THIS MODEL-FOLDER THREADS BATCH LENGTH BEAMS"""

import sys

import answer
import torch
from transformers import AutoModelForSeq2SeqLM

threads, batch, length, beams = map(int, sys.argv[2:])
torch.set_num_threads(threads)
model = AutoModelForSeq2SeqLM.from_pretrained(sys.argv[1]).eval()
padding = model.config.pad_token_id


@torch.inference_mode()
def translate(lines):
    """Sorted by length, as the others sort theirs."""
    rows = [[int(word) for word in line.split()] for line in lines]
    order = sorted(range(len(rows)), key=lambda i: len(rows[i]))
    answers = [""] * len(rows)
    for first in range(0, len(order), batch):
        part = order[first : first + batch]
        longest = max(len(rows[i]) for i in part)
        padded = [rows[i] + [padding] * (longest - len(rows[i])) for i in part]
        mask = [[1] * len(rows[i]) + [0] * (longest - len(rows[i])) for i in part]
        found = model.generate(
            torch.tensor(padded),
            attention_mask=torch.tensor(mask),
            num_beams=beams,
            do_sample=False,
            min_new_tokens=length,
            max_new_tokens=length,
        )
        for i, row in zip(part, found.tolist()):
            answers[i] = " ".join(map(str, row[1:]))
    return answers


answer.serve(translate)
