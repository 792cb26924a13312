#!/usr/bin/env python3
"""Writes embed/: tiny models of sentence vectors in the forms that published folders
have, and the vectors that sentence-transformers 5.2.3 computes of texts in float64.

usage: make_embed_goldens.py [--folder FOLDER]

Run it with HF_HUB_OFFLINE=1. Vocabularies have 40 pieces; weights are drawn wide, so
that each score of attention, position and type counts. The library gets one text at
a time. README.md describes the files.
"""

import argparse
import json
import pathlib
import shutil

import numpy as np
import torch
import transformers
from safetensors.torch import save_file
from sentence_transformers import SentenceTransformer, SparseEncoder
from tokenizers import Regex, Tokenizer, models, pre_tokenizers, processors
from transformers.utils import logging

WIDTH = 32
BERT = {
    "architectures": ["BertModel"],
    "attention_probs_dropout_prob": 0.1,
    "classifier_dropout": None,
    "gradient_checkpointing": False,
    "hidden_act": "gelu",
    "hidden_dropout_prob": 0.1,
    "hidden_size": WIDTH,
    "initializer_range": 0.02,
    "intermediate_size": 64,
    "layer_norm_eps": 1e-12,
    "max_position_embeddings": 64,
    "model_type": "bert",
    "num_attention_heads": 4,
    "num_hidden_layers": 2,
    "pad_token_id": 0,
    "position_embedding_type": "absolute",
    "torch_dtype": "float32",
    "transformers_version": "4.57.6",
    "type_vocab_size": 2,
    "use_cache": True,
    "vocab_size": 40,
}
MPNET = {
    "_name_or_path": "microsoft/mpnet-base",
    "architectures": ["MPNetForMaskedLM"],
    "attention_probs_dropout_prob": 0.1,
    "bos_token_id": 0,
    "eos_token_id": 2,
    "hidden_act": "gelu",
    "hidden_dropout_prob": 0.1,
    "hidden_size": WIDTH,
    "initializer_range": 0.02,
    "intermediate_size": 64,
    "layer_norm_eps": 1e-5,
    "max_position_embeddings": 26,
    "model_type": "mpnet",
    "num_attention_heads": 4,
    "num_hidden_layers": 2,
    "pad_token_id": 1,
    "relative_attention_num_buckets": 32,
    "transformers_version": "4.8.2",
    "vocab_size": 40,
}
PIECES = (
    "the a cat dog fox sat jump run on over mat is it quick brown lazy un query pass"
    " 0 1 2 . , : ? ! ##s ##t ##ed ##ing ##able ##age ##er ##x"
).split()
BERT_PIECES = ["[PAD]", *PIECES, "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
MPNET_PIECES = ["<s>", "<pad>", "</s>", "<unk>", *PIECES[:-1], "[UNK]", "<mask>"]
# Python strips the space and the last five, the tokenizer does not.
CHARACTERS = "aeiounrstlcdAE" "éèäöüßñçσÉÄ" ".,12 " "\u001c\u0085\u00a0\u2028\u3000"

TEXTS = [
    "The quick brown fox jumps over the lazy dog.",
    "a",
    "",
    "Is it unjumpable?",
    "  the cat sat on the mat,   the dog ran  ",
    "[MASK] runs, zebras [SEP] run: 2 0 1!",
    "the quick fox jumped over it and " * 9,
]


def write_json(path, value):
    text = json.dumps(value, indent=1, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")


def link(folder, *names, to):
    for name in names:
        (folder / name).symlink_to(pathlib.Path(to, name))


def draw(model, seed):
    """Wide weights; scores of attention with a deviation of about 1.5."""
    rng = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, tensor in model.named_parameters():
            values = torch.randn(tensor.shape, generator=rng)
            if "norm" in name.lower() and name.endswith("weight"):
                tensor.copy_(1 + 0.3 * values)
            elif "embeddings" in name or "relative_attention_bias" in name:
                tensor.copy_(values)
            elif tensor.dim() == 2:
                tensor.copy_(0.25 * values)
            else:
                tensor.copy_(0.3 * values)
    return model


def write_model(folder, config, seed, *, auto=transformers.AutoModel, **more):
    """config.json and model.safetensors, as AUTO saves them, with MORE tensors."""
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / "config.json", config)
    model = auto.from_config(transformers.AutoConfig.from_pretrained(folder))
    state = draw(model, seed).state_dict()
    # Tied tensors are saved once.
    for head in ("cls.predictions", "lm_head"):
        state.pop(f"{head}.decoder.weight", None)
        state.pop(f"{head}.decoder.bias", None)
    save_file(state | more, folder / "model.safetensors", {"format": "pt"})
    return state


def write_words(folder, pieces, fields):
    (folder / "vocab.txt").write_text("".join(piece + "\n" for piece in pieces))
    write_json(folder / "tokenizer_config.json", fields)


def write_modules(folder, names, inside=""):
    """modules.json for a Transformer and NAMES, and their folders."""
    modules = [("Transformer", inside)]
    modules += [(name, f"{i}_{name}") for i, name in enumerate(names, start=1)]
    lines = [
        {
            "idx": i,
            "name": str(i),
            "path": path,
            "type": f"sentence_transformers.models.{name}",
        }
        for i, (name, path) in enumerate(modules)
    ]
    write_json(folder / "modules.json", lines)
    for name, path in modules[1:]:
        if name != "Normalize":
            (folder / path).mkdir()


def write_pooling(folder, *modes, **others):
    known = "cls_token mean_tokens max_tokens mean_sqrt_len_tokens"
    known += " weightedmean_tokens lasttoken"
    fields = {f"pooling_mode_{mode}": mode in modes for mode in known.split()}
    config = {"word_embedding_dimension": WIDTH} | fields | others
    write_json(folder / "1_Pooling/config.json", config)


# --- The folders --------------------------------------------------------------


def make_bert(folder):
    """A folder of transformers alone, with vocab.txt."""
    write_model(folder, BERT, seed=1)
    fields = {
        "do_lower_case": True,
        "model_max_length": 48,
        "tokenizer_class": "BertTokenizer",
    }
    write_words(folder, BERT_PIECES, fields)
    return TEXTS, {"mean": {}}


def make_bert_head(folder):
    """The same model, published in 2019 with the head of another task."""
    head = {
        "architectures": ["BertForSequenceClassification"],
        "directionality": "bidi",
        "finetuning_task": "cola",
        "num_labels": 2,
        "pooler_fc_size": 768,
        "pooler_num_attention_heads": 12,
        "pooler_num_fc_layers": 3,
        "pooler_size_per_head": 128,
        "pooler_type": "first_token_transform",
    }
    state = write_model(folder, BERT | head, seed=1)
    (folder / "model.safetensors").unlink()
    old = {
        "bert."
        + name.replace("LayerNorm.weight", "LayerNorm.gamma").replace(
            "LayerNorm.bias", "LayerNorm.beta"
        ): tensor
        for name, tensor in state.items()
    }
    old["classifier.weight"] = torch.ones(2, WIDTH)
    old["classifier.bias"] = torch.ones(2)
    torch.save(old, folder / "pytorch_model.bin")
    link(folder, "vocab.txt", to="../bert")
    write_json(folder / "tokenizer_config.json", {"do_lower_case": True, "max_len": 40})
    return TEXTS, {"mean": {}}


def make_bert_modules(folder):
    """All modules, the transformer in a folder of its own."""
    inside = folder / "0_Transformer"
    inside.mkdir(parents=True)
    names = ("config.json", "model.safetensors", "vocab.txt", "tokenizer_config.json")
    link(inside, *names, to="../../bert")
    fields = {"max_seq_length": 20, "do_lower_case": False}
    write_json(inside / "sentence_bert_config.json", fields)
    modules = ["Pooling", "Dense", "Dense", "LayerNorm", "Dropout", "Normalize"]
    write_modules(folder, modules, "0_Transformer")
    write_pooling(folder, "cls_token", "max_tokens", "mean_tokens")
    rng = torch.Generator().manual_seed(2)

    def normal(*shape):
        return torch.randn(shape, generator=rng)

    first, second = folder / "2_Dense", folder / "3_Dense"
    dense = {"in_features": 96, "out_features": 20, "bias": True}
    tanh = {"activation_function": "torch.nn.modules.activation.Tanh"}
    write_json(first / "config.json", dense | tanh)
    weights = {"linear.weight": 0.1 * normal(20, 96), "linear.bias": normal(20)}
    save_file(weights, first / "model.safetensors", {"format": "pt"})
    dense = {"in_features": 20, "out_features": 12, "bias": False}
    identity = {"activation_function": "torch.nn.modules.linear.Identity"}
    write_json(second / "config.json", dense | identity)
    torch.save({"linear.weight": normal(12, 20)}, second / "pytorch_model.bin")
    write_json(folder / "4_LayerNorm/config.json", {"dimension": 12})
    weights = {"norm.weight": 1 + normal(12), "norm.bias": normal(12)}
    save_file(weights, folder / "4_LayerNorm/model.safetensors", {"format": "pt"})
    write_json(folder / "5_Dropout/config.json", {"dropout": 0.2})
    return TEXTS, {"vectors": {}, "seven": {"truncate_dim": 7}}


def make_bert_prompts(folder):
    """Prompts that are not pooled, as of Instructor models."""
    folder.mkdir()
    names = ("config.json", "model.safetensors", "vocab.txt")
    link(folder, *names, to="../bert")
    tokenizer = transformers.BertTokenizerFast(folder / "vocab.txt")
    tokenizer.backend_tokenizer.save(str(folder / "tokenizer.json"))
    fields = {"max_seq_length": 24, "do_lower_case": False}
    write_json(folder / "sentence_bert_config.json", fields)
    write_modules(folder, ["Pooling"])
    modes = ("mean_sqrt_len_tokens", "weightedmean_tokens", "lasttoken")
    write_pooling(folder, *modes, include_prompt=False)
    config = {
        "__version__": {"sentence_transformers": "5.2.3"},
        "default_prompt_name": "query",
        "model_type": "SentenceTransformer",
        "prompts": {
            "query": "Query: ",
            "passage": "the passage is un",
            "long": "the quick brown fox jumps over the lazy dog, " * 3,
        },
        "similarity_fn_name": "cosine",
    }
    write_json(folder / "config_sentence_transformers.json", config)
    short = {"truncate_dim": 20, "normalize_embeddings": True}
    return TEXTS, {
        "default": {},
        "passage": {"prompt_name": "passage"},
        "long": {"prompt_name": "long"},
        "none": {"prompt": ""},
        "document": {"prompt_name": "document"},
        "short": short | {"prompt_name": "query"},
    }


def make_bert_max(folder):
    """The pooling by its name; the tokenizer cuts what modules do not."""
    folder.mkdir()
    names = ("config.json", "model.safetensors", "vocab.txt", "tokenizer_config.json")
    link(folder, *names, to="../bert")
    write_modules(folder, ["Pooling"])
    config = {"word_embedding_dimension": WIDTH, "pooling_mode": "max"}
    write_json(folder / "1_Pooling/config.json", config)
    return TEXTS, {"max": {}}


def make_bert_characters(folder):
    """Texts are stripped, lower-cased and cut by the library alone."""
    folder.mkdir()
    link(folder, "model.safetensors", to="../bert")
    write_json(folder / "config.json", BERT)
    first = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    ids = {piece: id for id, piece in enumerate([*first, *CHARACTERS])}
    assert len(ids) == 40
    tokenizer = Tokenizer(models.WordLevel(ids, unk_token="[UNK]"))
    each = Regex("[\\s\\S]")
    tokenizer.pre_tokenizer = pre_tokenizers.Split(each, "isolated")
    special = [(name, ids[name]) for name in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=special,
    )
    tokenizer.add_special_tokens(first)
    tokenizer.enable_truncation(8)
    tokenizer.enable_padding(pad_token="[PAD]", length=8)
    tokenizer.save(str(folder / "tokenizer.json"))
    fields = {
        "cls_token": "[CLS]",
        "mask_token": "[MASK]",
        "model_max_length": 8,
        "pad_token": "[PAD]",
        "sep_token": "[SEP]",
        "tokenizer_class": "PreTrainedTokenizerFast",
        "unk_token": "[UNK]",
    }
    write_json(folder / "tokenizer_config.json", fields)
    fields = {"max_seq_length": 16, "do_lower_case": True}
    write_json(folder / "sentence_bert_config.json", fields)
    write_modules(folder, ["Pooling", "Normalize"])
    write_pooling(folder, "mean_tokens")
    texts = [
        "cats",
        "CATS and DOGS.",
        "  \u001c\u0085\u3000 ends \u2028 do not\u00a0count \u3000\u00a0\u0085",
        "\u001c\u001d\u001e\u001f",
        "",
        "ÉTÉ, Äon È Ñ Ç ẞ",
        "[SEP] is text",
        "all of this is more than sixteen",
        "aΣa",
    ]
    return texts, {"vectors": {}}


def make_bert_template(folder):
    """Texts without an end, and types that the model is not given; prompts that end in
    a special token are counted without it."""
    folder.mkdir()
    names = ("config.json", "model.safetensors")
    link(folder, *names, to="../bert")
    tokenizer = transformers.BertTokenizerFast(folder.parent / "bert/vocab.txt")
    backend = tokenizer.backend_tokenizer
    backend.post_processor = processors.TemplateProcessing(
        single="[CLS]:1 $A:1",
        pair="[CLS] $A $B:1",
        special_tokens=[("[CLS]", tokenizer.cls_token_id)],
    )
    backend.save(str(folder / "tokenizer.json"))
    fields = {
        "cls_token": "[CLS]",
        "mask_token": "[MASK]",
        "model_input_names": ["input_ids", "attention_mask"],
        "model_max_length": 48,
        "pad_token": "[PAD]",
        "sep_token": "[SEP]",
        "tokenizer_class": "PreTrainedTokenizerFast",
        "unk_token": "[UNK]",
    }
    write_json(folder / "tokenizer_config.json", fields)
    write_modules(folder, ["Pooling"])
    write_pooling(folder, "mean_tokens", include_prompt=False)
    prompts = {"word": "the cat ", "mask": "the [MASK]", "unknown": "the zebra "}
    config = {"model_type": "SentenceTransformer", "prompts": prompts}
    write_json(folder / "config_sentence_transformers.json", config)
    return TEXTS, {name: {"prompt_name": name} for name in prompts} | {"none": {}}


def make_mpnet(folder):
    """24 positions; a literal <pad> has none."""
    positions = {"embeddings.position_ids": torch.arange(26)[None]}
    write_model(folder, MPNET, seed=3, **positions)
    fields = {
        "bos_token": "<s>",
        "cls_token": "<s>",
        "do_lower_case": True,
        "eos_token": "</s>",
        "mask_token": "<mask>",
        "model_max_length": 24,
        "pad_token": "<pad>",
        "sep_token": "</s>",
        "strip_accents": None,
        "tokenize_chinese_chars": True,
        "tokenizer_class": "MPNetTokenizer",
        "unk_token": "[UNK]",
    }
    write_words(folder, MPNET_PIECES, fields)
    tokenizer = transformers.MPNetTokenizerFast(folder / "vocab.txt")
    tokenizer.backend_tokenizer.save(str(folder / "tokenizer.json"))
    fields = {"max_seq_length": None, "do_lower_case": False}
    write_json(folder / "sentence_bert_config.json", fields)
    write_modules(folder, ["Pooling", "Normalize"])
    write_pooling(folder, "mean_tokens")
    texts = [
        "The quick brown fox jumps over the lazy dog.",
        "",
        "the cat <pad> sat on <pad><pad> the mat",
        "<pad>",
        "a <mask> runs, zebras </s> run",
        "the quick fox jumped over it and " * 9,
        "the <pad> quick fox jumped <pad> over it and " * 9,
    ]
    return texts, {"vectors": {}}


def make_mpnet_long(folder):
    """Texts so long that every distance up to 128 occurs, and greater ones."""
    config = MPNET | {"max_position_embeddings": 300, "num_hidden_layers": 1}
    write_model(folder, config, seed=4)
    link(folder, "vocab.txt", "tokenizer.json", to="../mpnet")
    fields = {"model_max_length": 298, "tokenizer_class": "MPNetTokenizer"}
    write_json(folder / "tokenizer_config.json", fields)
    words = "the quick fox jumped over it and a cat sat on 1 mat, is 2 un "
    return [words * n for n in (1, 8, 12, 30)], {"mean": {}}


def write_sparse(folder, path, config):
    """Modules of a SparseEncoder."""
    place = "sentence_transformers.sparse_encoder.models"
    names = [("MLMTransformer", ""), ("SpladePooling", path)]
    lines = [
        {"idx": i, "name": str(i), "path": inside, "type": f"{place}.{name}"}
        for i, (name, inside) in enumerate(names)
    ]
    write_json(folder / "modules.json", lines)
    (folder / path).mkdir()
    write_json(folder / path / "config.json", config)
    settings = {"model_type": "SparseEncoder", "prompts": {"query": "", "document": ""}}
    write_json(folder / "config_sentence_transformers.json", settings)


def make_splade(folder):
    """Weights of words: logits of a head of masked words, the largest of each."""
    more = {"architectures": ["BertForMaskedLM"]}
    write_model(folder, BERT | more, seed=5, auto=transformers.AutoModelForMaskedLM)
    link(folder, "vocab.txt", "tokenizer_config.json", to="../bert")
    config = {"pooling_strategy": "max", "activation_function": "relu"}
    write_sparse(folder, "1_SpladePooling", config | {"word_embedding_dimension": 40})
    return TEXTS, {"weights": {}}


def make_splade_bytes(folder):
    """Words that are pieces of bytes."""
    more = {
        "architectures": ["RobertaForMaskedLM"],
        "hidden_size": 16,
        "intermediate_size": 24,
        "max_position_embeddings": 50,
        "model_type": "roberta",
        "num_hidden_layers": 1,
        "pad_token_id": 1,
        "vocab_size": 701,
    }
    write_model(folder, BERT | more, seed=6, auto=transformers.AutoModelForMaskedLM)
    link(folder, "tokenizer.json", to="../../byte-level")
    write_json(folder / "tokenizer_config.json", {"model_max_length": 48})
    config = {"pooling_strategy": "max", "activation_function": "relu"}
    write_sparse(folder, "1_SpladePooling", config | {"word_embedding_dimension": 701})
    return TEXTS[:5] + ["  狐 😀 "], {"weights": {}}


def make_splade_twice(folder):
    """Two logarithms."""
    folder.mkdir()
    names = ("config.json", "model.safetensors", "vocab.txt", "tokenizer_config.json")
    link(folder, *names, to="../splade")
    config = {"pooling_strategy": "max", "activation_function": "log1p_relu"}
    write_sparse(folder, "1_SpladePooling", config)
    return TEXTS, {"weights": {}}


# --- Their vectors --------------------------------------------------------------

FLAGS = {
    "prompt_name": "--prompt",
    "prompt": "--prompt",
    "truncate_dim": "--dimensions",
}


def flags_of(options):
    flags = []
    for name, value in options.items():
        flags += [FLAGS[name], str(value)] if name in FLAGS else ["--normalize"]
    return flags


def make(folder, texts, runs):
    """Vectors of each run, and what float32 makes of them."""
    (folder / "texts.json").write_text(json.dumps(texts, indent=1) + "\n")
    is_sparse = folder.name.startswith("splade")
    library = SparseEncoder if is_sparse else SentenceTransformer
    model = library(str(folder), device="cpu").eval()

    def encode(options):
        if is_sparse:
            options = options | {"convert_to_sparse_tensor": False}
        vectors = model.encode(texts, batch_size=1, **options)
        return vectors.numpy() if is_sparse else vectors

    single = {name: encode(options) for name, options in runs.items()}
    model.double()
    for name, options in runs.items():
        vectors = encode(options)
        assert vectors.dtype == np.float64
        np.save(folder / f"{name}.npy", vectors.astype(np.float32))
        largest = np.abs(vectors).max()
        difference = np.abs(single[name] - vectors).max()
        apart = min(
            np.abs(a - b).max() for i, a in enumerate(vectors) for b in vectors[:i]
        )
        print(
            f"{folder.name}/{name}: {vectors.shape}, up to {largest:.3g}, apart"
            f" {apart:.2g}, float32 {difference / largest:.1e}"
        )
    write_json(
        folder / "runs.json",
        {name: flags_of(options) for name, options in runs.items()},
    )


def main():
    logging.set_verbosity_error()
    arguments = argparse.ArgumentParser()
    goldens = pathlib.Path(__file__).parent
    arguments.add_argument("--folder", type=pathlib.Path, default=goldens)
    root = arguments.parse_args().folder / "embed"
    torch.set_num_threads(1)
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    for write in (
        make_bert,
        make_bert_head,
        make_bert_modules,
        make_bert_prompts,
        make_bert_max,
        make_bert_characters,
        make_bert_template,
        make_mpnet,
        make_mpnet_long,
        make_splade,
        make_splade_bytes,
        make_splade_twice,
    ):
        folder = root / write.__name__.removeprefix("make_").replace("_", "-")
        make(folder, *write(folder))


if __name__ == "__main__":
    main()
