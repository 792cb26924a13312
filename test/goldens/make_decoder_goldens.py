#!/usr/bin/env python3
"""Writes decoders/: tiny random decoders alone, and what transformers 4.57.6 computes of
prompts in float64: logits behind a prompt, greedy search and four beams.

usage: make_decoder_goldens.py [--folder FOLDER] [NAME...]

Run it with HF_HUB_OFFLINE=1. Each model has a shape of its own. Seeds are tried from the
recorded one on until greedy search is unambiguous and varied. README.md describes the
files. Norms of Llama and softmax are in float32 whatever the type.
"""

import argparse
import itertools
import json
import pathlib
import shutil

import numpy as np
import torch
from make_goldens import TOLERANCE, write_ids, write_json
from safetensors.torch import save_file
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer
from transformers.utils import logging

PROMPTS = [1, 2, 3, 5, 8, 13, 21, 34]
TARGETS = [6, 1, 13, 3, 2, 8, 4, 5]
LIMIT = 12

LLAMA = {
    "architectures": ["LlamaForCausalLM"],
    "attention_bias": False,
    "attention_dropout": 0.0,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "hidden_act": "silu",
    "initializer_range": 0.02,
    "mlp_bias": False,
    "model_type": "llama",
    "pretraining_tp": 1,
    "rms_norm_eps": 1e-05,
    "rope_scaling": None,
    "rope_theta": 10000.0,
    "torch_dtype": "float32",
    "transformers_version": "4.57.6",
    "use_cache": True,
}
GPT2 = {
    "activation_function": "gelu_new",
    "architectures": ["GPT2LMHeadModel"],
    "attn_pdrop": 0.1,
    "bos_token_id": 2,
    "embd_pdrop": 0.1,
    "eos_token_id": 2,
    "initializer_range": 0.02,
    "layer_norm_epsilon": 1e-05,
    "model_type": "gpt2",
    "n_inner": None,
    "resid_pdrop": 0.1,
    "scale_attn_weights": True,
    "summary_activation": None,
    "summary_first_dropout": 0.1,
    "summary_proj_to_labels": True,
    "summary_type": "cls_index",
    "summary_use_proj": True,
    "task_specific_params": {"text-generation": {"do_sample": True, "max_length": 50}},
    "transformers_version": "4.57.6",
    "use_cache": True,
}


def llama(width, layers, heads, ffn, vocabulary, positions):
    """Heads are those of queries, and of keys and values."""
    return LLAMA | {
        "hidden_size": width,
        "intermediate_size": ffn,
        "max_position_embeddings": positions,
        "num_attention_heads": heads[0],
        "num_hidden_layers": layers,
        "num_key_value_heads": heads[1],
        "vocab_size": vocabulary,
    }


def gpt2(width, layers, heads, vocabulary, positions):
    return GPT2 | {
        "n_ctx": positions,
        "n_embd": width,
        "n_head": heads,
        "n_layer": layers,
        "n_positions": positions,
        "vocab_size": vocabulary,
    }


# name: config.json, the accepted seed unless it is 0, and where it applies `generation`
# (generation_config.json), `dtype` (of the file), `bare` (names without the prefix, and
# the masks that old releases stored), `texts` (prompts that a tokenizer reads).
MODELS = {
    "llama": {"seed": 2, "config": llama(32, 3, (4, 2), 44, 61, 64)},
    # Waves of some frequencies are longer than 16 positions, of others shorter than 4,
    # and of some between; heads wider than the width has room for; biases; tied.
    "llama-scaled": {
        "seed": 5,
        "config": llama(40, 2, (4, 1), 52, 71, 64)
        | {
            "attention_bias": True,
            "eos_token_id": [2, 7],
            "head_dim": 16,
            "mlp_bias": True,
            "rms_norm_eps": 0.01,
            "rope_scaling": {
                "factor": 8.0,
                "high_freq_factor": 4.0,
                "low_freq_factor": 1.0,
                "original_max_position_embeddings": 16,
                "rope_type": "llama3",
            },
            "rope_theta": 500.0,
            "tie_word_embeddings": True,
        },
        "dtype": torch.bfloat16,
    },
    # A factor alone; null where defaults follow; settings that count the prompt.
    "llama-linear": {
        "seed": 5,
        "config": llama(24, 2, (3, None), 60, 53, 64)
        | {
            "head_dim": None,
            "hidden_act": "gelu",
            "rope_scaling": {"factor": 4.0, "type": "linear"},
        },
        "generation": {
            "bos_token_id": 1,
            "eos_token_id": 2,
            "max_length": 40,
            "no_repeat_ngram_size": 3,
            "repetition_penalty": 1.2,
        },
    },
    "gpt2": {"config": gpt2(24, 2, 3, 67, 64), "bare": True},
    "gpt2-untied": {
        "seed": 3,
        "config": gpt2(32, 3, 2, 59, 48)
        | {"activation_function": "relu", "n_inner": 52, "tie_word_embeddings": False},
        "dtype": torch.float16,
    },
    "gpt2-text": {
        "seed": 11,
        "config": gpt2(32, 2, 4, 701, 96) | {"tie_word_embeddings": False},
        "texts": [
            "The weather is beautiful today",
            "Ünï çödé",
            " leading space",
            "a",
            "1, 2, 3,",
            "Where is the station?",
            "日本",
            "It rained, and",
        ],
    },
}
TOKENIZER = {
    "add_prefix_space": False,
    "bos_token": "</s>",
    "clean_up_tokenization_spaces": False,
    "eos_token": "</s>",
    "tokenizer_class": "GPT2Tokenizer",
    "unk_token": "</s>",
}


def draw(name, shape, rng):
    """One tensor, as wide as keeps sums over its inputs at order one or two."""
    values = rng.standard_normal(shape)
    if "norm" in name or ".ln_" in name:
        return 1 + 0.3 * values if name.endswith("weight") else 0.2 * values
    if name.endswith("bias"):
        return 0.2 * values
    if "wpe" in name:
        return 0.5 * values
    if "embed_tokens" in name or "wte" in name:
        return 2 * values / shape[1] ** 0.25
    inputs = shape[0] if ".c_" in name else shape[1]
    sharp = any(part in name for part in ("q_proj", "k_proj", "c_attn", "lm_head"))
    return (1.5 if sharp else 0.8) * values / inputs**0.5


def write_weights(folder, spec, seed):
    """Draws the tensors in name order, and saves those that are not tied."""
    model = AutoModelForCausalLM.from_config(AutoConfig.from_pretrained(folder))
    rng = np.random.Generator(np.random.PCG64(seed))
    is_tied = model.config.tie_word_embeddings
    tied = set(model._tied_weights_keys or []) if is_tied else set()
    saved = {}
    for name, tensor in sorted(model.named_parameters()):
        if name in tied:
            continue
        values = torch.from_numpy(draw(name, tuple(tensor.shape), rng))
        saved[name] = values.to(spec.get("dtype", torch.float32)).contiguous()
    if spec.get("bare"):
        saved = {name.removeprefix("transformer."): x for name, x in saved.items()}
        positions = spec["config"]["n_positions"]
        for layer in range(spec["config"]["n_layer"]):
            mask = torch.tril(torch.ones(1, 1, positions, positions))
            saved[f"h.{layer}.attn.bias"] = mask
            saved[f"h.{layer}.attn.masked_bias"] = torch.tensor(-10000.0)
    save_file(saved, folder / "model.safetensors", metadata={"format": "pt"})


def load(folder):
    """The oracle; nothing in it may come from an initialisation."""
    model, report = AutoModelForCausalLM.from_pretrained(
        folder, dtype=torch.float32, output_loading_info=True
    )
    assert not any(report.values()), (folder, report)
    return model.double().eval()


def generate(model, prompt, **options):
    return model.generate(
        torch.tensor([prompt]),
        do_sample=False,
        output_scores=True,
        pad_token_id=0,
        return_dict_in_generate=True,
        **options,
    )


def greedy(model, prompts, **limit):
    """What follows each prompt, and the smallest top-2 margin."""
    rows, margin = [], np.inf
    for prompt in prompts:
        result = generate(model, prompt, num_beams=1, **limit)
        rows.append(result.sequences[0, len(prompt) :].tolist())
        for scores in result.scores:
            top = torch.topk(scores[0], 2).values
            margin = min(margin, float(top[0] - top[1]))
    return rows, margin


def beams(model, prompt, **limit):
    result = generate(model, prompt, num_beams=4, num_return_sequences=4, **limit)
    ends = set(np.atleast_1d(model.generation_config.eos_token_id).tolist())
    hypotheses = []
    for ids in result.sequences[:, len(prompt) :].tolist():
        stops = [at + 1 for at, token in enumerate(ids) if token in ends]
        hypotheses.append(ids[: stops[0]] if stops else ids)
    return {"ids": hypotheses, "scores": result.sequences_scores.tolist()}


def teacher_forced(model, prompts, targets):
    """logits[r, k] follows prompt r and the first k tokens of its target."""
    shape = (len(prompts), max(map(len, targets)), model.config.vocab_size)
    logits = np.full(shape, np.nan, np.float32)
    with torch.no_grad():
        for row, prompt, target in zip(logits, prompts, targets):
            result = model(torch.tensor([prompt + target[:-1]])).logits[0]
            row[: len(target)] = result[len(prompt) - 1 :].float().numpy()
    return logits


def write_tokenizer(folder):
    """The vocabulary of byte-level/, as GPT-2's class has it."""
    write_json(folder / "tokenizer_config.json", TOKENIZER)
    for file in ("vocab.json", "merges.txt"):
        (folder / file).symlink_to(f"../../byte-level/{file}")
    return AutoTokenizer.from_pretrained(folder)


def is_clear(found):
    """Scores of beams that f32 cannot confuse."""
    return all(
        abs(a - b) > 1e-4
        for beam in found
        for a, b in itertools.pairwise(beam["scores"])
    )


def write_lines(path, lines):
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")


def make(folder, spec, seed):
    """Writes one model with its goldens; False if the seed does not serve."""
    config, generation = spec["config"], spec.get("generation")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    write_json(folder / "config.json", config)
    if generation:
        write_json(folder / "generation_config.json", generation)
    write_weights(folder, spec, seed)
    model = load(folder)
    rng = np.random.Generator(np.random.PCG64(seed))
    vocabulary = config["vocab_size"]
    prompts, targets = (
        [rng.integers(3, vocabulary, n).tolist() for n in lengths]
        for lengths in (PROMPTS, TARGETS)
    )
    if "texts" in spec:
        tokenizer = write_tokenizer(folder)
        prompts = [tokenizer(text)["input_ids"] for text in spec["texts"]]
    limit = {} if generation else {"max_new_tokens": LIMIT}
    rows, margin = greedy(model, prompts, **limit)
    logits = teacher_forced(model, prompts, targets)
    found = [beams(model, prompt, **limit) for prompt in prompts]
    lengths = [len(row) for row in rows]
    if (
        margin <= 2 * TOLERANCE * np.nanmax(np.abs(logits))
        or len(set(map(tuple, rows))) < 6
        or len({i for row in rows for i in row}) < 8
        or (not generation and not min(lengths) < LIMIT == max(lengths))
        or not is_clear(found)
    ):
        return False
    write_ids(folder / "inputs.ids", prompts)
    write_ids(folder / "teacher.ids", targets)
    write_ids(folder / "greedy.ids", rows)
    np.save(folder / "logits.npy", logits)
    lines = [json.dumps(beam) + "\n" for beam in found]
    (folder / "beams.jsonl").write_text("".join(lines))
    if not generation:
        (folder / "max-length").write_text(f"{LIMIT}\n")
    if "texts" in spec:
        write_lines(folder / "prompts.txt", spec["texts"])
        found = tokenizer.batch_decode(rows, skip_special_tokens=True)
        # A line is one line.
        write_lines(folder / "greedy.txt", [text.replace("\n", " ") for text in found])
    return True


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("names", nargs="*", default=list(MODELS))
    options = parser.parse_args()
    root = options.folder or pathlib.Path(__file__).parent / "decoders"
    logging.set_verbosity_error()
    for name in options.names:
        spec = MODELS[name]
        for seed in itertools.count(spec.get("seed", 0)):
            if make(root / name, spec, seed):
                print(name, "seed", seed, flush=True)
                break


if __name__ == "__main__":
    main()
