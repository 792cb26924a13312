#!/usr/bin/env python3
"""Writes heads/: tiny models of the classes with heads, and the scores that their
logits become in transformers' pipelines, in float64.

usage: make_head_goldens.py [--folder FOLDER]

Run it with HF_HUB_OFFLINE=1, behind make_embed_goldens.py and
make_encoder_goldens.py, whose vocabularies the folders link. A folder is named after
its family and task. `scores.json` has the task and, for each text, the scores of each
place by label: the text, its tokens or its masks. Of a model that answers questions it
has the answers of the pipeline, by its arguments.
"""

import argparse
import json
import pathlib
import shutil
from typing import NamedTuple

import torch
import transformers
from make_embed_goldens import BERT, MPNET, draw, link, write_json
from make_encoder_goldens import (
    ALBERT,
    COMMON,
    DEBERTA,
    LONGFORMER,
    MODERN,
    ROBERTA,
)
from transformers.utils import logging

SMALL = {
    "hidden_size": 16,
    "intermediate_size": 24,
    "max_position_embeddings": 48,
    "num_attention_heads": 2,
    "num_hidden_layers": 1,
}
DISTIL = COMMON | {
    "activation": "gelu",
    "dim": 16,
    "hidden_dim": 24,
    "max_position_embeddings": 48,
    "model_type": "distilbert",
    "n_heads": 2,
    "n_layers": 1,
}
ELECTRA = BERT | {"embedding_size": 12, "model_type": "electra"}


class Family(NamedTuple):
    """How a family's folders are made. Seeds are those of its heads, of which the one
    that answers questions has the last; no other family has one of them."""

    config: dict
    vocabulary: str
    mask: str
    seeds: tuple


FAMILIES = {
    "bert": Family(
        BERT | SMALL | {"hidden_act": "relu"}, "embed/bert", "[MASK]", (41, 42, 43, 67)
    ),
    "roberta": Family(ROBERTA | SMALL, "encoders/roberta", "<mask>", (44, 45, 46, 68)),
    "mpnet": Family(MPNET | SMALL, "embed/mpnet", "<mask>", (47, 48, 49, 69)),
    "distilbert": Family(DISTIL, "encoders/distilbert", "[MASK]", (50, 51, 52, 70)),
    "albert": Family(
        ALBERT | SMALL | {"inner_group_num": 1, "num_hidden_groups": 1},
        "encoders/albert",
        "[MASK]",
        (53, 54, 55, 71),
    ),
    "electra": Family(
        ELECTRA | SMALL | {"hidden_act": "relu"},
        "encoders/electra",
        "[MASK]",
        (56, 57, 58, 72),
    ),
    "modernbert": Family(
        MODERN
        | SMALL
        | {"classifier_activation": "silu", "max_position_embeddings": 128},
        "encoders/modernbert",
        "[MASK]",
        (59, 60, 61, 73),
    ),
    "deberta": Family(
        DEBERTA | SMALL | {"pooler_hidden_act": "tanh"},
        "encoders/deberta",
        "[MASK]",
        (62, 63, 64, 77),
    ),
    "longformer": Family(
        LONGFORMER | SMALL | {"attention_window": 8, "max_position_embeddings": 130},
        "encoders/longformer",
        "<mask>",
        (78, 79, 80, 81),
    ),
}
# Pieces of bytes: white space at the ends of a text counts, and a character may be
# several pieces.
BYTES = "byte-level"
BYTE_FAMILY = Family(
    ROBERTA | SMALL | {"vocab_size": 701}, BYTES, "<mask>", (82, 117)
)
HEADS = {
    "classify": transformers.AutoModelForSequenceClassification,
    "tag": transformers.AutoModelForTokenClassification,
    "answer": transformers.AutoModelForQuestionAnswering,
    "fill": transformers.AutoModelForMaskedLM,
}
LABELS = {
    "classify": ["bad", "so so", "good"],
    "tag": ["O", "B-PER", "I-PER", "B-ÄÖ"],
}


def labels_of(names):
    return {
        "id2label": {str(id): name for id, name in enumerate(names)},
        "label2id": {name: id for id, name in enumerate(names)},
    }


def softmax(logits):
    return torch.softmax(logits, dim=-1)


def identity(logits):
    return logits


def texts_of(mask):
    return [
        "The quick brown fox jumps over the lazy dog.",
        "a",
        f"the {mask} sat on the {mask}, is it {mask}?",
        f"{mask}",
        "the quick fox jumped over it",
    ]


# Behind texts, pairs, texts of spans and long ones of BYTES.
BYTE_TEXTS = ["  the fox", "the fox \u3000"]
BYTE_PAIRS = [[" the fox  ", "  is it lazy? "]]
BYTE_SPAN_TEXTS = [" 狐 sat狐😀, 😀😀 the "]
BYTE_LONG_TEXTS = ["狐 sat狐😀, 😀😀 the"]


def write_folder(folder, config, vocabulary, head, seed):
    """A model, and itself in float64 with its tokenizer."""
    folder.mkdir(parents=True)
    for file in (folder.parent.parent / vocabulary).iterdir():
        if file.name in ("vocab.txt", "tokenizer.json", "tokenizer_config.json"):
            link(folder, file.name, to=f"../../{vocabulary}")
    if not (folder / "tokenizer_config.json").exists():
        write_json(folder / "tokenizer_config.json", {"model_max_length": 46})
    write_json(folder / "config.json", config)
    automatic = HEADS[head].from_config(
        transformers.AutoConfig.from_pretrained(folder)
    )
    model = draw(automatic, seed).eval()
    model.save_pretrained(folder)
    (folder / "generation_config.json").unlink(missing_ok=True)
    classes = {"architectures": [type(model).__name__]}
    write_json(folder / "config.json", config | classes)
    return model.double(), transformers.AutoTokenizer.from_pretrained(folder)


# Both texts in types of their own, one without a token, and texts that are cut.
PAIRS = [
    ["the cat sat on the mat", "a dog is lazy."],
    ["", "a"],
    ["the fox", "the quick fox jumped over it and " * 9],
    ["the quick fox jumped over it and " * 9, "the lazy dog ran " * 8],
]


def score(model, tokenizer, text, head, function):
    """The scores of each place of a text, or of a pair."""
    texts = [text] if isinstance(text, str) else text
    inputs = tokenizer(*texts, return_tensors="pt", truncation=True)
    with torch.no_grad():
        scores = function(model(**inputs).logits[0])
    if head == "classify":
        scores = scores[None]
    names = model.config.id2label
    if head == "tag":
        scores = scores[1:-1]
    if head == "fill":
        scores = scores[inputs.input_ids[0] == tokenizer.mask_token_id]
        names = {id: str(id) for id in range(scores.shape[-1])}
    return [
        {names[id]: round(float(p), 9) for id, p in enumerate(place)} for place in scores
    ]


# Words of several pieces, an unknown one, capitals and marks that pieces lack.
SPAN_TEXTS = [
    "the cats jumped over it, jumping unlazy dogs",
    "Zebras and foxes; RUNNER, éa  quickest.",
    "a un able",
]


# Texts of several windows, which have STRIDE tokens of the one before.
LONG_TEXTS = [
    "the cats jumped over it, jumping unlazy dogs. " * 7,
    "Zebras and foxes; RUNNER, éa  quickest. a un able " * 5,
    "the fox",
]
STRIDE = 7


def spans_of(model, tokenizer, texts, strategies, **more):
    """What the pipeline finds of texts, by strategy."""
    spans = {}
    for strategy in strategies:
        pipeline = transformers.pipeline(
            "token-classification",
            model=model,
            tokenizer=tokenizer,
            aggregation_strategy=strategy,
            **more,
        )
        spans[strategy] = [
            [
                {
                    "label": span.get("entity_group", span.get("entity")),
                    "score": round(float(span["score"]), 7),
                    "start": span["start"],
                    "end": span["end"],
                }
                for span in pipeline(text)
            ]
            for text in texts
        ]
    return spans


# Questions and texts: words of several pieces, capitals, the same word twice, marks, one
# word, and texts of several windows.
QUESTIONS = [
    ["what is lazy?", "The quick brown fox jumps over the lazy dog; a DOG ran."],
    ["who jumped", "Zebras and foxes; RUNNER, éa  quickest. the cats jumped, jumping."],
    ["a", "fox"],
    ["is it the cat?", "the quick fox jumped over it and " * 9],
    ["where", "the cats jumped over it, jumping unlazy dogs. ÄÖ a un able fox " * 6],
]
# Arguments of the pipeline. Windows are those of a model of few positions.
ASKED = [
    {},
    {"top_k": 5, "max_answer_len": 3},
    {"top_k": 4, "handle_impossible_answer": True},
    {"top_k": 3, "doc_stride": 5},
    {"top_k": 2, "max_seq_len": 32, "doc_stride": 2},
]


def answers_of(model, tokenizer, asked):
    """The pipeline's answers, those of a probability above 0."""
    pipeline = transformers.pipeline(
        "question-answering", model=model, tokenizer=tokenizer
    )
    lines = []
    for question, context in QUESTIONS:
        found = pipeline(question=question, context=context, **asked)
        lines.append(
            [
                {**answer, "score": round(float(answer["score"]), 9)}
                for answer in ([found] if isinstance(found, dict) else found)
                if answer["score"] > 0
            ]
        )
    return lines


def make_answers(folder, config, vocabulary, seed):
    model, tokenizer = write_folder(folder, config, vocabulary, "answer", seed)
    write_json(folder / "questions.json", QUESTIONS)
    answers = [
        {"asked": asked, "lines": answers_of(model, tokenizer, asked)} for asked in ASKED
    ]
    text = json.dumps({"task": "answer", "answers": answers}, ensure_ascii=False)
    (folder / "scores.json").write_text(text + "\n", encoding="utf-8")


def make(folder, config, vocabulary, mask, head, seed, function=softmax):
    model, tokenizer = write_folder(folder, config, vocabulary, head, seed)
    is_of_bytes = vocabulary == BYTES
    texts = texts_of(mask) + BYTE_TEXTS * is_of_bytes
    write_json(folder / "texts.json", texts)
    lines = [score(model, tokenizer, text, head, function) for text in texts]
    scores = {"task": head, "lines": lines}
    if head == "tag":
        texts = texts[:2] + SPAN_TEXTS + BYTE_SPAN_TEXTS * is_of_bytes
        write_json(folder / "span-texts.json", texts)
        joined = ["simple", "first", "average", "max"]
        scores["spans"] = spans_of(model, tokenizer, texts, ["none", *joined])
        texts = LONG_TEXTS + BYTE_LONG_TEXTS * is_of_bytes
        write_json(folder / "long-texts.json", texts)
        scores["stride"] = STRIDE
        scores["windows"] = spans_of(model, tokenizer, texts, joined, stride=STRIDE)
    if head == "classify":
        pairs = PAIRS + BYTE_PAIRS * is_of_bytes
        scores["pairs"] = [
            score(model, tokenizer, pair, head, function) for pair in pairs
        ]
        write_json(folder / "pairs.json", pairs)
    text = json.dumps(scores, ensure_ascii=False)
    (folder / "scores.json").write_text(text + "\n", encoding="utf-8")


def main():
    logging.set_verbosity_error()
    arguments = argparse.ArgumentParser()
    goldens = pathlib.Path(__file__).parent
    arguments.add_argument("--folder", type=pathlib.Path, default=goldens)
    root = arguments.parse_args().folder / "heads"
    torch.set_num_threads(1)
    shutil.rmtree(root, ignore_errors=True)
    for name, family in FAMILIES.items():
        config, vocabulary, mask, (*seeds, last) = family
        for head, seed in zip(("classify", "tag", "fill"), seeds):
            more = labels_of(LABELS[head]) if head in LABELS else {}
            folder = root / f"{name}-{head}"
            make(folder, config | more, vocabulary, mask, head, seed)
        make_answers(root / f"{name}-answer", config, vocabulary, last)
    config, vocabulary, mask, seeds = BYTE_FAMILY
    for head, seed in zip(("classify", "tag"), seeds):
        folder = root / f"bytes-{head}"
        make(folder, config | labels_of(LABELS[head]), vocabulary, mask, head, seed)
    bert, vocabulary, mask, _ = FAMILIES["bert"]
    # Labels that do not exclude each other; a number; names that nobody gave.
    cases = [
        (
            "several",
            labels_of(["a", "b"]) | {"problem_type": "multi_label_classification"},
            torch.sigmoid,
        ),
        ("number", labels_of(["score"]) | {"problem_type": "regression"}, identity),
        ("one", {"num_labels": 1}, torch.sigmoid),
        (
            "ranker",
            labels_of(["LABEL_0"])
            | {
                "sentence_transformers": {
                    "activation_fn": "torch.nn.modules.linear.Identity",
                    "version": "5.2.3",
                }
            },
            identity,
        ),
        ("mean", {"num_labels": 3}, softmax),
    ]
    for seed, (name, more, function) in enumerate(cases, start=62):
        config = bert | more
        words = vocabulary
        if name == "mean":
            config, words, *_ = FAMILIES["modernbert"]
            config = config | {"classifier_pooling": "mean"} | more
        make(root / f"labels-{name}", config, words, mask, "classify", seed, function)


if __name__ == "__main__":
    main()
