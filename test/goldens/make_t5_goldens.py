#!/usr/bin/env python3
"""Writes t5/: tiny random models of T5 and its kin, and what transformers 4.57.6 computes
of them in float64: the encoder's output, logits behind teacher-forced targets, greedy
search and four beams.

usage: make_t5_goldens.py [--folder FOLDER] [NAME...]

Run it with HF_HUB_OFFLINE=1. Each model has a shape of its own. Seeds are tried from the
recorded one on until greedy search is unambiguous and varied. README.md describes the
files. Norms and softmax of the classes are in float32 whatever the type.
"""

import argparse
import itertools
import json
import pathlib
import shutil

import numpy as np
import torch
from make_decoder_goldens import is_clear, write_lines
from make_goldens import TOLERANCE, write_ids, write_json
from safetensors.torch import save_file
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from tokenizers.decoders import Metaspace
from transformers import AutoConfig, AutoModelForSeq2SeqLM, AutoTokenizer
from transformers.utils import logging

SOURCES = [1, 2, 3, 5, 8, 13, 17, 4]  # with the closing eos
TARGETS = [6, 1, 13, 3, 2, 8, 4, 5]
LIMIT = 12
EXTRA_IDS = 4

T5 = {
    "architectures": ["T5ForConditionalGeneration"],
    "decoder_start_token_id": 0,
    "dropout_rate": 0.1,
    "eos_token_id": 1,
    "initializer_factor": 1.0,
    "is_encoder_decoder": True,
    "layer_norm_epsilon": 1e-06,
    "model_type": "t5",
    "pad_token_id": 0,
    "relative_attention_num_buckets": 32,
    "use_cache": True,
}
# What files of a later release have beside it.
GATED = {
    "classifier_dropout": 0.0,
    "dense_act_fn": "gelu_new",
    "feed_forward_proj": "gated-gelu",
    "is_gated_act": True,
    "relative_attention_max_distance": 128,
    "transformers_version": "4.57.6",
}
MT5 = {
    "architectures": ["MT5ForConditionalGeneration"],
    "d_ff": 60,
    "eos_token_id": 1,
    "feed_forward_proj": "gated-gelu",
    "is_encoder_decoder": True,
    "model_type": "mt5",
    "pad_token_id": 0,
    "relative_attention_num_buckets": 32,
    "tokenizer_class": "T5Tokenizer",
}


def shape(width, head, heads, ffn, layers, vocabulary):
    """`layers` are those of the encoder and of the decoder."""
    return {
        "d_ff": ffn,
        "d_kv": head,
        "d_model": width,
        "num_decoder_layers": layers[1],
        "num_heads": heads,
        "num_layers": layers[0],
        "vocab_size": vocabulary,
    }


# name: config.json, the accepted seed unless it is 0, and where it applies `generation`
# (generation_config.json), `dtype` (of the file), `sources` and `targets` (lengths),
# `table` (under which name the file has the table of tokens), `texts` (sources that a
# tokenizer reads).
MODELS = {
    # As of 2020: tied, so that the output is scaled; relu without a gate; heads are
    # wider together than the model; fields that nobody reads.
    "t5": {
        "config": T5
        | shape(32, 12, 4, 44, (2, 3), 61)
        | {
            "n_positions": 512,
            "output_past": True,
            "task_specific_params": {"summarization": {"max_length": 200}},
        },
    },
    # Each distance up to 300, before and behind; buckets of other numbers.
    "t5-long": {
        "config": T5
        | shape(16, 8, 2, 20, (1, 1), 23)
        | {
            "relative_attention_max_distance": 160,
            "relative_attention_num_buckets": 24,
        },
        "sources": [301, 40],
        "targets": [300, 130],
    },
    # FLAN-T5: a gate, an output of its own, and a file of settings.
    "flan": {
        "config": T5
        | GATED
        | shape(40, 8, 3, 52, (2, 2), 71)
        | {"tie_word_embeddings": False},
        "generation": {
            "_from_model_config": True,
            "decoder_start_token_id": 0,
            "eos_token_id": 1,
            "pad_token_id": 0,
            "transformers_version": "4.57.6",
        },
        "dtype": torch.bfloat16,
    },
    # UL2's gate; an epsilon that shows; one layer each.
    "gated-silu": {
        "config": T5
        | shape(24, 8, 2, 36, (1, 1), 53)
        | {"feed_forward_proj": "gated-silu", "layer_norm_epsilon": 0.05},
    },
    # What the class has by default: an output of its own, tokens that begin targets.
    "mt5": {
        "config": MT5 | shape(32, 16, 2, 60, (2, 1), 67),
        "dtype": torch.float16,
    },
    # Biases in each layer; tied by default.
    "umt5": {
        "config": MT5
        | shape(24, 8, 3, 40, (3, 2), 59)
        | {"architectures": ["UMT5ForConditionalGeneration"], "model_type": "umt5"},
    },
    # Bytes are tokens, and no file has them.
    "byt5": {
        "config": T5
        | GATED
        | shape(16, 8, 2, 28, (3, 1), 384)
        | {"tie_word_embeddings": False, "tokenizer_class": "ByT5Tokenizer"},
        "texts": ["Life is like", "Ünï 日本 </s>x", " ", "a <extra_id_0> b<extra_id_124>"],
        "targets": [3, 6, 1, 4],
    },
    # A tag in front of a text says the language; the table has the decoder's name.
    "madlad": {
        "config": T5
        | GATED
        | shape(24, 8, 3, 36, (1, 2), 60)
        | {"tie_word_embeddings": False},
        "table": "decoder.embed_tokens.weight",
        "texts": [
            "<2pt> the cat sat on a mat",
            "<2de> the cat sat on a mat",
            "the dog  <extra_id_0> ran",
            "<2pt>",
            "zebras, and <2pt> the dog",
            "a",
        ],
        "targets": [3, 6, 1, 4, 9, 2],
    },
}
PIECES = (
    "▁the ▁a ▁cat ▁dog ▁sat ▁ran ▁on ▁mat ▁and ▁ , . s t e a o n r d m c h i l g u p y k w"
).split()


def draw(name, shape, rng, config):
    """One tensor, as wide as keeps sums over its inputs at order one or two."""
    values = rng.standard_normal(shape)
    if "norm" in name:
        return 1 + 0.3 * values
    if "relative_attention_bias" in name:
        return values
    if "shared" in name:
        # Else a tied model repeats what it reads.
        return 0.15 * values
    scale = 1.0
    if name.endswith(".q.weight"):
        # Scores are not divided by this.
        scale = 1.2 / config["d_kv"] ** 0.5
    elif any(part in name for part in (".k.", ".wi", "lm_head")):
        scale = 1.2
    return scale * values / shape[1] ** 0.5


def write_weights(folder, spec, seed):
    """Draws the tensors in name order, and saves those that are not tied."""
    model = AutoModelForSeq2SeqLM.from_config(AutoConfig.from_pretrained(folder))
    rng = np.random.Generator(np.random.PCG64(seed))
    config, saved = spec["config"], {}
    for name, tensor in sorted(model.named_parameters()):
        values = torch.from_numpy(draw(name, tuple(tensor.shape), rng, config))
        if name == "shared.weight":
            name = spec.get("table", name)
        saved[name] = values.to(spec.get("dtype", torch.float32)).contiguous()
    is_tied = model.config.tie_word_embeddings
    assert is_tied != ("lm_head.weight" in saved)
    save_file(saved, folder / "model.safetensors", metadata={"format": "pt"})


def load(folder, spec):
    """The oracle; nothing in it may come from an initialisation."""
    model, report = AutoModelForSeq2SeqLM.from_pretrained(
        folder, dtype=torch.float32, output_loading_info=True
    )
    assert "table" in spec or not any(report.values()), (folder, report)
    if "table" in spec:
        table = model.get_decoder().embed_tokens.weight
        model.shared.weight = model.get_encoder().embed_tokens.weight = table
    return model.double().eval()


def generate(model, source, **options):
    return model.generate(
        torch.tensor([source]),
        do_sample=False,
        output_scores=True,
        return_dict_in_generate=True,
        # The release makes a cache of as many layers as the encoder has.
        use_cache=False,
        **options,
    )


def greedy(model, sources, **limit):
    """Ids without the start token, and the smallest top-2 margin."""
    rows, margin = [], np.inf
    for source in sources:
        result = generate(model, source, num_beams=1, **limit)
        rows.append(result.sequences[0, 1:].tolist())
        for scores in result.scores:
            top = torch.topk(scores[0], 2).values
            margin = min(margin, float(top[0] - top[1]))
    return rows, margin


def beams(model, source, **limit):
    result = generate(model, source, num_beams=4, num_return_sequences=4, **limit)
    hypotheses = []
    for ids in result.sequences[:, 1:].tolist():
        hypotheses.append(ids[: ids.index(1) + 1] if 1 in ids else ids)
    return {"ids": hypotheses, "scores": result.sequences_scores.tolist()}


def teacher_forced(model, sources, targets):
    """logits[r, k] follows the start token and the first k target tokens."""
    shape = (len(sources), max(map(len, targets)), model.config.vocab_size)
    logits = np.full(shape, np.nan, np.float32)
    with torch.no_grad():
        for row, source, target in zip(logits, sources, targets):
            result = model(
                input_ids=torch.tensor([source]),
                decoder_input_ids=torch.tensor([[0] + target[:-1]]),
                use_cache=False,
            )
            row[: len(target)] = result.logits[0].float().numpy()
    return logits


def encoded(model, sources):
    """hidden[r, k] is what the encoder makes of token k of a source."""
    shape = (len(sources), max(map(len, sources)), model.config.d_model)
    hidden = np.full(shape, np.nan, np.float32)
    with torch.no_grad():
        for row, source in zip(hidden, sources):
            result = model.get_encoder()(torch.tensor([source])).last_hidden_state
            row[: len(source)] = result[0].float().numpy()
    return hidden


def write_tokenizer(folder):
    """Pieces as T5's class has them, with tags that text has as a whole."""
    first = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0)]
    pieces = [(piece, -2.0 - i / 8) for i, piece in enumerate(PIECES)]
    extra = [f"<extra_id_{i}>" for i in reversed(range(EXTRA_IDS))]
    last = [(token, 0.0) for token in extra]
    tokenizer = Tokenizer(models.Unigram([*first, *pieces, *last], unk_id=2))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", 1)]
    )
    tokenizer.add_special_tokens(["<pad>", "</s>", "<unk>", *extra])
    tokenizer.add_tokens(["<2pt>", "<2de>"])
    tokenizer.save(str(folder / "tokenizer.json"))
    fields = {
        "additional_special_tokens": sorted(extra),
        "clean_up_tokenization_spaces": False,
        "eos_token": "</s>",
        "extra_ids": EXTRA_IDS,
        "pad_token": "<pad>",
        "tokenizer_class": "T5Tokenizer",
        "unk_token": "<unk>",
    }
    write_json(folder / "tokenizer_config.json", fields)


def read_texts(folder, spec):
    """The tokenizer of the folder, and the ids of its texts."""
    if "tokenizer_class" not in spec["config"]:
        write_tokenizer(folder)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    return tokenizer, [tokenizer(text)["input_ids"] for text in spec["texts"]]


def make(folder, spec, seed):
    """Writes one model with its goldens; False if the seed does not serve."""
    config, generation = spec["config"], spec.get("generation")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    write_json(folder / "config.json", config)
    if generation:
        write_json(folder / "generation_config.json", generation)
    write_weights(folder, spec, seed)
    model = load(folder, spec)
    rng = np.random.Generator(np.random.PCG64(seed + 1_000_000))
    vocabulary = config["vocab_size"]
    if "texts" in spec:
        tokenizer, sources = read_texts(folder, spec)
    else:
        lengths = spec.get("sources", SOURCES)
        sources = [[*rng.integers(2, vocabulary, n - 1).tolist(), 1] for n in lengths]
    lengths = spec.get("targets", TARGETS)
    targets = [rng.integers(2, vocabulary, n).tolist() for n in lengths]
    limit = {"max_new_tokens": LIMIT}
    rows, margin = greedy(model, sources, **limit)
    logits = teacher_forced(model, sources, targets)
    found = [beams(model, source, **limit) for source in sources]
    lengths = [len(row) for row in rows]
    if (
        margin <= 2 * TOLERANCE * np.nanmax(np.abs(logits))
        or len(set(map(tuple, rows))) < min(6, len(sources))
        or len({i for row in rows for i in row}) < 8
        or (len(sources) > 4 and not min(lengths) < LIMIT == max(lengths))
        or not is_clear(found)
    ):
        return False
    write_ids(folder / "inputs.ids", sources)
    write_ids(folder / "teacher.ids", targets)
    write_ids(folder / "greedy.ids", rows)
    np.save(folder / "logits.npy", logits)
    np.save(folder / "hidden.npy", encoded(model, sources))
    write_lines(folder / "beams.jsonl", map(json.dumps, found))
    (folder / "max-length").write_text(f"{LIMIT}\n")
    if "texts" in spec:
        write_lines(folder / "lines", spec["texts"])
        found = tokenizer.batch_decode(rows, skip_special_tokens=True)
        # A line is one line.
        write_lines(folder / "expected", [text.replace("\n", " ") for text in found])
    print(f"{folder.name}: seed {seed}, smallest greedy margin {margin:.4f}")
    return True


def main():
    logging.set_verbosity_error()
    torch.set_num_threads(1)
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("names", nargs="*", default=list(MODELS))
    options = parser.parse_args()
    root = options.folder or pathlib.Path(__file__).parent / "t5"
    for name in options.names:
        spec = MODELS[name]
        seeds = itertools.count(spec.get("seed", 0))
        next(seed for seed in seeds if make(root / name, spec, seed))


if __name__ == "__main__":
    main()
