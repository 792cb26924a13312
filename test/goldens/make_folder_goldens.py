#!/usr/bin/env python3
"""Writes folders/: tiny models in the forms that published folders have, and what
`generate` of transformers 4.57.6 makes of lines by each folder's own search.

usage: make_folder_goldens.py [--folder FOLDER] [NAME...]

The files are those that people have: fields without effect, null settings, legacy
names, settings in one file, the other or both, tensors under other names, tokenizers
with more pieces than the model has rows. Nothing is passed to `generate` but what
`options` says, so that what comes follows from the files alone; it runs in float64,
and a run in float32 finds the same. README.md describes the files.
"""

import argparse
import json
import pathlib
import shutil

import torch
import transformers
from safetensors.torch import save_file, save_model
from small100 import Small100Tokenizer
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer
from transformers.models.m2m_100.tokenization_m2m_100 import FAIRSEQ_LANGUAGE_CODES
from transformers.utils import logging

LENGTHS = [3, 9, 1, 14, 6, 5]  # of source ids, with the closing eos
TEXTS = [
    "The quick brown fox",
    "jumps over the lazy dog, doesn't it?",
    "In 2024 the price rose by 3.75%",
]

M2M100_NAMES = FAIRSEQ_LANGUAGE_CODES["m2m100"]

UNREAD = {
    "_num_labels": 3,
    "activation_dropout": 0.0,
    "add_final_layer_norm": False,
    "attention_dropout": 0.0,
    "classif_dropout": 0.0,
    "classifier_dropout": 0.0,
    "decoder_layerdrop": 0.0,
    "dropout": 0.1,
    "encoder_layerdrop": 0.0,
    "id2label": {"0": "LABEL_0", "1": "LABEL_1", "2": "LABEL_2"},
    "init_std": 0.02,
    "is_encoder_decoder": True,
    "label2id": {"LABEL_0": 0, "LABEL_1": 1, "LABEL_2": 2},
    "num_hidden_layers": 1,
    "use_cache": True,
}
SIZES = {
    "d_model": 8,
    "decoder_attention_heads": 2,
    "decoder_ffn_dim": 12,
    "decoder_layers": 1,
    "encoder_attention_heads": 2,
    "encoder_ffn_dim": 12,
    "encoder_layers": 1,
}
BART = {
    **UNREAD,
    **SIZES,
    "activation_function": "gelu",
    "architectures": ["BartForConditionalGeneration"],
    "bos_token_id": 0,
    "decoder_start_token_id": 2,
    "eos_token_id": 2,
    "max_position_embeddings": 40,
    "model_type": "bart",
    "normalize_before": False,
    "pad_token_id": 1,
    "scale_embedding": False,
    "vocab_size": 40,
}
MARIAN = {
    **UNREAD,
    **SIZES,
    "activation_function": "swish",
    "add_bias_logits": False,
    "architectures": ["MarianMTModel"],
    "bos_token_id": 0,
    "decoder_start_token_id": 39,
    "decoder_vocab_size": 40,
    "eos_token_id": 0,
    "extra_pos_embeddings": 40,
    "forced_eos_token_id": 0,
    "max_position_embeddings": 64,
    "model_type": "marian",
    "normalize_before": False,
    "normalize_embedding": False,
    "pad_token_id": 39,
    "scale_embedding": True,
    "share_encoder_decoder_embeddings": True,
    "static_position_embeddings": True,
    "vocab_size": 40,
}
MBART = {
    **UNREAD,
    **SIZES,
    "activation_function": "relu",
    "add_final_layer_norm": True,
    "architectures": ["MBartForConditionalGeneration"],
    "bos_token_id": 0,
    "decoder_start_token_id": 2,
    "eos_token_id": 2,
    "forced_eos_token_id": 2,
    "max_position_embeddings": 64,
    "model_type": "mbart",
    "normalize_before": True,
    "normalize_embedding": True,
    "output_past": True,
    "pad_token_id": 1,
    "scale_embedding": True,
    "static_position_embeddings": False,
    "tokenizer_class": "MBart50Tokenizer",
}
PEGASUS = {
    **UNREAD,
    **SIZES,
    "activation_function": "relu",
    "add_final_layer_norm": True,
    "architectures": ["PegasusForConditionalGeneration"],
    "bos_token_id": 0,
    "decoder_start_token_id": 0,
    "do_blenderbot_90_layernorm": False,
    "eos_token_id": 1,
    "extra_pos_embeddings": 0,
    "force_bos_token_to_be_generated": False,
    "forced_eos_token_id": 1,
    "max_position_embeddings": 64,
    "model_type": "pegasus",
    "normalize_before": True,
    "normalize_embedding": False,
    "pad_token_id": 0,
    "scale_embedding": True,
    "static_position_embeddings": True,
    "vocab_size": 40,
}
M2M100 = {
    **UNREAD,
    **SIZES,
    "activation_function": "relu",
    "add_final_layer_norm": True,
    "architectures": ["M2M100ForConditionalGeneration"],
    "bos_token_id": 0,
    "decoder_start_token_id": 2,
    "eos_token_id": 2,
    "max_position_embeddings": 64,
    "model_type": "m2m_100",
    "pad_token_id": 1,
    "scale_embedding": True,
}
LED = {
    **UNREAD,
    **SIZES,
    "activation_function": "gelu",
    "architectures": ["LEDForConditionalGeneration"],
    "attention_window": [4],
    "bos_token_id": 0,
    "decoder_start_token_id": 2,
    "eos_token_id": 2,
    "max_decoder_position_embeddings": 40,
    "max_encoder_position_embeddings": 64,
    "model_type": "led",
    "pad_token_id": 1,
    "vocab_size": 40,
}
NULLS = {
    "early_stopping": None,
    "length_penalty": None,
    "max_length": None,
    "min_length": None,
    "no_repeat_ngram_size": None,
    "num_beams": None,
}
SUMMARIES = {"num_beams": 4, "length_penalty": 2.0, "early_stopping": True}
TEXT = "abcdefghijklmnopqrstuvwxyzTIH0123456789.,%?'Ġ"


def byte_level(folder):
    """BART's tokenizer, whose <mask> the model has no row for."""
    pieces = ["<s>", "<pad>", "</s>", "<unk>", *TEXT, "th", "Ġth", "he", "Ġthe"]
    table = {piece: id for id, piece in enumerate([*pieces, "<mask>"])}
    write_json(folder / "vocab.json", table)
    merges = "#version: 0.2\nt h\nĠ th\nĠth e\nh e\n"
    (folder / "merges.txt").write_text(merges)
    return len(pieces)


def link(folder, name, place):
    (folder / place).symlink_to(pathlib.Path("..", "..", "offset", name))


def opus(folder):
    """Pieces in another order than SentencePiece's, and an added token."""
    for place in ("source.spm", "target.spm"):
        link(folder, "fairseq.model", place)
    known = json.loads((folder / "../../offset/marian/vocab.json").read_text())
    write_json(folder / "vocab.json", known)
    write_json(folder / "added_tokens.json", {"<term>": len(known)})
    names = {"source_lang": "eng", "target_lang": "por", "separate_vocabs": False}
    write_json(folder / "tokenizer_config.json", names)
    return len(known) + 1


def mbart50(folder):
    link(folder, "fairseq.model", "sentencepiece.bpe.model")
    names = {"tokenizer_class": "MBart50Tokenizer", "src_lang": None}
    write_json(folder / "tokenizer_config.json", names | {"tgt_lang": None})
    return len(AutoTokenizer.from_pretrained(folder))


def numbered(config, **more):
    """M2M100's files, or those of SMaLL-100."""

    def write(folder):
        link(folder, "fairseq.model", "sentencepiece.bpe.model")
        place = pathlib.Path("..", "..", "languages", "vocab.json")
        (folder / "vocab.json").symlink_to(place)
        write_json(folder / "tokenizer_config.json", config)
        for name, content in more.items():
            write_json(folder / f"{name}.json", content)
        madeup = 8
        return len(json.loads((folder / "vocab.json").read_text())) + 100 + madeup

    return write


def nllb(**more):
    def write(folder):
        place = pathlib.Path("..", "..", "languages", "nllb.model")
        (folder / "sentencepiece.bpe.model").symlink_to(place)
        names = {"tokenizer_class": "NllbTokenizer", "src_lang": None, **more}
        write_json(folder / "tokenizer_config.json", names)
        return len(AutoTokenizer.from_pretrained(folder))

    return write


# name: config.json; and where it applies `generation` (generation_config.json),
# `tokenizer` (writes its files and returns the model's rows), `tensors` (how
# they are named), `texts`, `options` of generate with the `flags` that say the
# same, and `languages` (source, target): the names that a request has, and the
# tokens, if those are others.
FOLDERS = {
    # Fine-tuned and saved by 4.4x: config.json kept the names, not the values.
    "bart-null-settings": {
        "config": BART | NULLS,
        "generation": SUMMARIES
        | {
            "bos_token_id": 0,
            "decoder_start_token_id": 2,
            "eos_token_id": 2,
            "forced_bos_token_id": 0,
            "forced_eos_token_id": 2,
            "max_length": 16,
            "min_length": 5,
            "no_repeat_ngram_size": 3,
            "pad_token_id": 1,
        },
    },
    # A summariser of 2020, all in config.json.
    "bart-legacy": {
        "config": BART
        | SUMMARIES
        | {
            "eos_token_ids": [2],
            "force_bos_token_to_be_generated": True,
            "max_length": 15,
            "min_length": 4,
            "no_repeat_ngram_size": 3,
            "output_past": True,
            "prefix": " ",
            "task_specific_params": {"summarization": {"num_beams": 2}},
        },
    },
    # Other heads, and tensors that lack the prefix of the class: BartModel's.
    "bart-other-heads": {
        "config": BART
        | {
            "architectures": ["BartModel", "BartForSequenceClassification"],
            "forced_eos_token_id": 2,
            "gradient_checkpointing": False,
            "num_beams": 4,
        },
        "tensors": "base",
        "flags": "--max-length 20",
    },
    "bart-mask-beyond": {
        "config": BART | SUMMARIES | {"forced_bos_token_id": 0, "max_length": 14},
        "tokenizer": byte_level,
        "texts": TEXTS,
    },
    # generation_config.json stands back where config.json has settings.
    "bart-from-config": {
        "config": BART
        | {"num_beams": 3, "max_length": 12, "replacing_rate": 0, "torch_dtype": None},
        "generation": {
            "_from_model_config": True,
            "bos_token_id": 0,
            "decoder_start_token_id": 2,
            "eos_token_id": 2,
            "pad_token_id": 1,
        },
        "tensors": "aliases",
    },
    # An OPUS-MT folder of today.
    "marian-renormalized": {
        "config": MARIAN | {"max_length": None, "num_beams": None},
        "generation": {
            "bad_words_ids": [[39]],
            "bos_token_id": 0,
            "decoder_start_token_id": 39,
            "eos_token_id": [0],
            "forced_eos_token_id": 0,
            "max_length": 18,
            "num_beams": 4,
            "pad_token_id": 39,
            "renormalize_logits": True,
        },
    },
    # One of 2020, with 6 beams in config.json, and texts.
    "marian-added-tokens": {
        "config": MARIAN | {"bad_words_ids": [[39]], "max_length": 16, "num_beams": 6},
        "tokenizer": opus,
        "texts": [">>por<< The quick<term> fox", "<term> dog, <term>", TEXTS[2]],
    },
    # model_type decides the class: this is a BART.
    "marian-as-bart": {
        "config": BART
        | {
            "architectures": ["MarianMTModel"],
            "extra_pos_embeddings": 2,
            "max_length": 14,
            "num_beams": 6,
            "static_position_embeddings": False,
        },
    },
    "mbart-languages": {
        "config": MBART
        | {"early_stopping": True, "max_length": 20, "num_beams": 5},
        "generation": {
            "_from_model_config": True,
            "bos_token_id": 0,
            "decoder_start_token_id": 2,
            "early_stopping": True,
            "eos_token_id": 2,
            "forced_eos_token_id": 2,
            "max_length": 20,
            "num_beams": 5,
            "pad_token_id": 1,
        },
        "tokenizer": mbart50,
        "texts": TEXTS,
        "languages": ("en_XX", "ro_RO"),
    },
    "m2m100-languages": {
        "config": M2M100 | {"early_stopping": True, "max_length": 16, "num_beams": 5},
        "generation": {
            "_from_model_config": True,
            "bos_token_id": 0,
            "decoder_start_token_id": 2,
            "early_stopping": True,
            "eos_token_id": 2,
            "max_length": 16,
            "num_beams": 5,
            "pad_token_id": 1,
        },
        "tokenizer": numbered(
            {"tokenizer_class": "M2M100Tokenizer", "src_lang": None},
            special_tokens_map={
                "additional_special_tokens": [f"__{name}__" for name in M2M100_NAMES]
            },
        ),
        "texts": TEXTS,
        "languages": ("fr", "__zu__"),
        "tokens": ("__fr__", "__zu__"),
    },
    # The language to translate into stands in the source; nothing is forced.
    "small100-languages": {
        "config": M2M100
        | {"decoder_layers": 1, "encoder_layers": 2, "max_length": 14, "num_beams": 5},
        "tokenizer": numbered({"tokenizer_class": "SMALL100Tokenizer"}),
        "texts": TEXTS,
        "languages": (None, "pt"),
        "tokens": ("__pt__", None),
        "class": Small100Tokenizer,
    },
    # Of the published distilled models: languages have three letters and a script.
    "nllb-languages": {
        "config": M2M100
        | {"max_length": 15, "num_beams": 2, "tokenizer_class": "NllbTokenizer"},
        "generation": {
            "_from_model_config": True,
            "bos_token_id": 0,
            "decoder_start_token_id": 2,
            "eos_token_id": 2,
            "max_length": 200,
            "pad_token_id": 1,
        },
        "tokenizer": nllb(),
        "texts": TEXTS,
        "languages": ("fr", "sw"),
        "tokens": ("fra_Latn", "swh_Latn"),
    },
    "nllb-legacy": {
        "config": M2M100 | {"max_length": 13, "num_beams": 3},
        "tokenizer": nllb(legacy_behaviour=True),
        "texts": TEXTS,
        "languages": ("zho_Hans", "en"),
        "tokens": ("zho_Hans", "eng_Latn"),
    },
    "pegasus-search": {
        "config": PEGASUS | {"length_penalty": 0.6, "max_length": 17, "num_beams": 8},
    },
    "led-search": {
        "config": LED
        | SUMMARIES
        | {"max_length": 18, "min_length": 6, "no_repeat_ngram_size": 3},
        "generation": SUMMARIES
        | {
            "bos_token_id": 0,
            "decoder_start_token_id": 2,
            "eos_token_id": 2,
            "max_length": 18,
            "min_length": 6,
            "no_repeat_ngram_size": 3,
            "num_beams": 2,
            "pad_token_id": 1,
        },
    },
    # min_length above max_length, and settings of samples that nobody asks for.
    "bart-unused-settings": {
        "config": BART
        | {"max_length": 9, "min_length": 56, "num_beams": 2, "use_bfloat16": False},
        "generation": {
            "bos_token_id": 0,
            "decoder_start_token_id": 2,
            "diversity_penalty": 0.0,
            "eos_token_id": 2,
            "max_length": 9,
            "min_length": 56,
            "num_beam_groups": 1,
            "num_beams": 2,
            "pad_token_id": 1,
            "temperature": 1.0,
            "top_k": 50,
            "top_p": 1.0,
            "typical_p": 1.0,
        },
    },
}


def write_json(path, value):
    text = json.dumps(value, indent=1, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")


def draw(model, ends, seed):
    """Wide weights, and a bias that ends some lines."""
    rng = torch.Generator().manual_seed(seed)

    def normal(tensor):
        return torch.randn(tensor.shape, generator=rng)

    with torch.no_grad():
        for name, tensor in model.named_parameters():
            module = model.get_submodule(name.rsplit(".", 1)[0])
            if "Sinusoidal" in type(module).__name__:
                continue
            if "norm" in name and name.endswith("weight"):
                tensor.copy_(1 + 0.2 * normal(tensor))
            elif "embed_positions" in name:
                tensor.copy_(normal(tensor))
            elif isinstance(module, torch.nn.Embedding) or "lm_head" in name:
                tensor.copy_(0.4 * normal(tensor))
            elif tensor.dim() == 2:
                tensor.copy_(1.5 * normal(tensor))
            else:
                tensor.copy_(0.2 * normal(tensor))
        model.tie_weights()
        if hasattr(model, "final_logits_bias"):
            bias = 0.5 * normal(model.final_logits_bias)
            bias[0, ends] += 3
            model.final_logits_bias.copy_(bias)


def write_tensors(folder, model, form):
    path = folder / "model.safetensors"
    positions = isinstance(model, transformers.MarianMTModel)
    tensors, seen = {}, set()
    for name, tensor in model.state_dict().items():
        is_computed = positions and "embed_positions" in name
        if tensor.data_ptr() not in seen and not is_computed:
            tensors[name] = tensor
        seen.add(tensor.data_ptr())
    if form == "base":
        tensors = {
            name.removeprefix("model."): tensor
            for name, tensor in tensors.items()
            if name.startswith("model.")
        }
    save_file(tensors, path, {"format": "pt"})


def read_tokenizer(folder, spec):
    return spec.get("class", AutoTokenizer).from_pretrained(folder)


def tokens_of(spec):
    """Of the languages of a request, if there are any."""
    return spec.get("tokens", spec.get("languages", (None, None)))


def answers(folder, spec, sources, dtype):
    """Scores and ids without the start token."""
    model = AutoModelForSeq2SeqLM.from_pretrained(folder, dtype=dtype).eval()
    options = {}
    if target := tokens_of(spec)[1]:
        tokenizer = read_tokenizer(folder, spec)
        options["forced_bos_token_id"] = tokenizer.convert_tokens_to_ids(target)
    rows = []
    for source in sources:
        ids = torch.tensor([source])
        if isinstance(model, transformers.LEDForConditionalGeneration):
            # Heddle's default; generate alone has no global token.
            first = [1] + [0] * (len(source) - 1)
            options["global_attention_mask"] = torch.tensor([first])
        found = model.generate(
            ids, output_scores=True, return_dict_in_generate=True, **options
        )
        row = found.sequences[0, 1:].tolist()
        rows.append((found.sequences_scores[0].item(), row))
    return rows


def sources_of(folder, spec, rows, end):
    if "texts" in spec:
        tokenizer = read_tokenizer(folder, spec)
        if language := tokens_of(spec)[0]:
            tokenizer.src_lang = language.strip("_")
        return [tokenizer(text).input_ids for text in spec["texts"]]
    rng = torch.Generator().manual_seed(1)
    return [
        torch.randint(3, rows - 1, (n - 1,), generator=rng).tolist() + [end]
        for n in LENGTHS
    ]


def accept(rows, other):
    """Whether float32 finds the same and lines are no repetitions."""
    same = [ids for _, ids in rows] == [ids for _, ids in other]
    lines = {tuple(ids) for _, ids in rows}
    return same and sum(len(set(ids)) for ids in lines) >= 3 * len(rows)


def make(folder, spec):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    config = dict(spec["config"])
    if "tokenizer" in spec:
        count = spec["tokenizer"](folder)
        config["vocab_size"] = count
        if config["model_type"] == "marian":
            pad = json.loads((folder / "vocab.json").read_text())["<pad>"]
            config |= {"decoder_vocab_size": count, "pad_token_id": pad}
            config |= {"decoder_start_token_id": pad, "bad_words_ids": [[pad]]}
    write_json(folder / "config.json", config)
    if "generation" in spec:
        write_json(folder / "generation_config.json", spec["generation"])
    ends = config["eos_token_id"]
    sources = sources_of(folder, spec, config["vocab_size"], ends)
    for seed in range(200):
        model = AutoModelForSeq2SeqLM.from_config(
            transformers.AutoConfig.from_pretrained(folder)
        )
        draw(model, ends, seed)
        write_tensors(folder, model, spec.get("tensors"))
        rows = answers(folder, spec, sources, torch.float64)
        if accept(rows, answers(folder, spec, sources, torch.float32)):
            break
    else:
        raise SystemExit(f"{folder.name}: no seed is accepted")
    if spec.get("tensors") == "aliases":
        # Names of tied tensors stand in the metadata, which from_pretrained does
        # not read, but load_model of safetensors.
        save_model(model, str(folder / "model.safetensors"), {"format": "pt"})
    flags = spec.get("flags", "").split()
    if "texts" in spec:
        tokenizer = read_tokenizer(folder, spec)
        lines = spec["texts"]
        outputs = [tokenizer.decode(ids, skip_special_tokens=True) for _, ids in rows]
        for kind, name in zip(("source", "target"), spec.get("languages", ())):
            flags += [f"--{kind}-language", name] if name else []
    else:
        flags.append("--ids")
        lines = [" ".join(map(str, ids)) for ids in sources]
        outputs = [" ".join(map(str, ids)) for _, ids in rows]
    (folder / "flags").write_text(" ".join(flags) + "\n")
    (folder / "lines").write_text("".join(line + "\n" for line in lines))
    scored = zip((score for score, _ in rows), outputs)
    text = "".join(f"{score:.9g}\t{line}\n" for score, line in scored)
    (folder / "expected").write_text(text)
    lengths = [len(ids) for _, ids in rows]
    print(f"{folder.name}: seed {seed}, lengths {lengths}", flush=True)


def main():
    logging.set_verbosity_error()
    arguments = argparse.ArgumentParser()
    goldens = pathlib.Path(__file__).parent
    arguments.add_argument("--folder", type=pathlib.Path, default=goldens)
    arguments.add_argument("names", nargs="*")
    options = arguments.parse_args()
    torch.set_num_threads(1)
    for name in options.names or FOLDERS:
        make(options.folder / "folders" / name, FOLDERS[name])


if __name__ == "__main__":
    main()
