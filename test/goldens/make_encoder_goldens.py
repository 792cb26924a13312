#!/usr/bin/env python3
"""Writes encoders/: tiny models of the families beside BERT and MPNet, and the vectors
that sentence-transformers 5.2.3 computes of texts in float64: means of hidden states.

usage: make_encoder_goldens.py [--folder FOLDER]

Run it with HF_HUB_OFFLINE=1. make_embed_goldens.py says what the files are. A family
has what its code makes of it: positions, widths, groups of layers, windows. layerN.npy
are means of hidden_states[N].
"""

import argparse
import pathlib
import shutil

import numpy as np
import torch
from make_embed_goldens import (
    BERT,
    BERT_PIECES,
    MPNET_PIECES,
    TEXTS,
    link,
    make,
    write_json,
    write_model,
    write_modules,
    write_words,
)
from make_t5_goldens import GATED, MT5, T5, draw, shape, write_tokenizer
from safetensors.torch import save_file
from tokenizers import processors
from transformers import (
    AutoConfig,
    AutoModel,
    AutoModelForSequenceClassification,
    AutoTokenizer,
    BertTokenizerFast,
    MT5EncoderModel,
    T5EncoderModel,
)
from transformers.utils import logging

# What configurations of all families have.
COMMON = {
    "torch_dtype": "float32",
    "transformers_version": "4.57.6",
    "vocab_size": 40,
}
# Of <s>, <pad>, </s>, as RoBERTa and its kin number them.
ANGLES = {"bos_token": "<s>", "cls_token": "<s>", "eos_token": "</s>"} | {
    "mask_token": "<mask>",
    "model_input_names": ["input_ids", "attention_mask"],
    "model_max_length": 24,
    "pad_token": "<pad>",
    "sep_token": "</s>",
    "tokenizer_class": "PreTrainedTokenizerFast",
    "unk_token": "<unk>",
}
BRACKETS = {"do_lower_case": True, "model_max_length": 48}
ODD_TEXTS = TEXTS + ["the cat <pad> sat on <pad><pad> the mat", "<pad>"]


def write_angles(folder, **more):
    """A tokenizer of words for classes whose own one is of bytes or pieces."""
    write_words(folder, MPNET_PIECES, ANGLES | more)
    tokenizer = BertTokenizerFast(
        folder / "vocab.txt",
        unk_token="<unk>",
        sep_token="</s>",
        pad_token="<pad>",
        cls_token="<s>",
        mask_token="<mask>",
    )
    backend = tokenizer.backend_tokenizer
    backend.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B </s>",
        special_tokens=[("<s>", 0), ("</s>", 2)],
    )
    backend.save(str(folder / "tokenizer.json"))
    (folder / "vocab.txt").unlink()


ROBERTA = COMMON | {
    "attention_probs_dropout_prob": 0.1,
    "bos_token_id": 0,
    "classifier_dropout": None,
    "eos_token_id": 2,
    "hidden_act": "gelu",
    "hidden_dropout_prob": 0.1,
    "hidden_size": 32,
    "initializer_range": 0.02,
    "intermediate_size": 64,
    "layer_norm_eps": 1e-5,
    "max_position_embeddings": 26,
    "model_type": "roberta",
    "num_attention_heads": 4,
    "num_hidden_layers": 2,
    "pad_token_id": 1,
    "position_embedding_type": "absolute",
    "type_vocab_size": 1,
    "use_cache": True,
}


def make_roberta(folder):
    """24 positions; a literal <pad> has none; one type, whose vector counts."""
    write_model(folder, ROBERTA | {"architectures": ["RobertaModel"]}, seed=21)
    write_angles(folder)
    return ODD_TEXTS


def make_xlm_roberta(folder):
    """Another pad, so that positions begin elsewhere."""
    kin = {"model_type": "xlm-roberta", "architectures": ["XLMRobertaModel"]}
    more = {"max_position_embeddings": 28, "pad_token_id": 3}
    write_model(folder, ROBERTA | kin | more, seed=22)
    write_angles(folder)
    return ODD_TEXTS


def make_camembert(folder):
    kin = {"model_type": "camembert", "architectures": ["CamembertModel"]}
    write_model(folder, ROBERTA | kin, seed=23)
    write_angles(folder)
    return ODD_TEXTS


def make_distilbert(folder):
    """`layer_norm_eps` is no field of the class."""
    config = COMMON | {
        "activation": "gelu",
        "architectures": ["DistilBertModel"],
        "attention_dropout": 0.1,
        "dim": 32,
        "dropout": 0.1,
        "hidden_dim": 64,
        "initializer_range": 0.02,
        "layer_norm_eps": 0.1,
        "max_position_embeddings": 64,
        "model_type": "distilbert",
        "n_heads": 4,
        "n_layers": 2,
        "pad_token_id": 0,
        "qa_dropout": 0.1,
        "seq_classif_dropout": 0.2,
        "sinusoidal_pos_embds": True,
        "tie_weights_": True,
    }
    write_model(folder, config, seed=24)
    write_words(folder, BERT_PIECES, BRACKETS)
    return TEXTS


ALBERT = COMMON | {
    "architectures": ["AlbertModel"],
    "attention_probs_dropout_prob": 0,
    "bos_token_id": 2,
    "classifier_dropout_prob": 0.1,
    "embedding_size": 12,
    "eos_token_id": 3,
    "hidden_act": "gelu_new",
    "hidden_dropout_prob": 0,
    "hidden_size": 32,
    "initializer_range": 0.02,
    "inner_group_num": 2,
    "intermediate_size": 64,
    "layer_norm_eps": 1e-12,
    "max_position_embeddings": 64,
    "model_type": "albert",
    "num_attention_heads": 4,
    "num_hidden_groups": 2,
    "num_hidden_layers": 5,
    "pad_token_id": 0,
    "position_embedding_type": "absolute",
    "type_vocab_size": 2,
}


def make_albert(folder):
    """Two groups of two layers in five steps: the first group has three."""
    write_model(folder, ALBERT, seed=25)
    write_words(folder, BERT_PIECES, BRACKETS | {"tokenizer_class": "BertTokenizer"})
    return TEXTS


def make_electra(folder):
    config = BERT | {"architectures": ["ElectraModel"], "model_type": "electra"}
    config |= {"embedding_size": 12, "summary_type": "first"}
    write_model(folder, config, seed=26)
    write_words(folder, BERT_PIECES, BRACKETS)
    return TEXTS


def make_electra_wide(folder):
    """Tables as wide as the model: no matrix behind them."""
    config = BERT | {"architectures": ["ElectraModel"], "model_type": "electra"}
    config |= {"embedding_size": 32, "num_hidden_layers": 1}
    write_model(folder, config, seed=27)
    link(folder, "vocab.txt", "tokenizer_config.json", to="../electra")
    return TEXTS


MODERN = COMMON | {
    "architectures": ["ModernBertModel"],
    "attention_bias": False,
    "bos_token_id": 38,
    "classifier_pooling": "mean",
    "cls_token_id": 38,
    "decoder_bias": True,
    "embedding_dropout": 0.0,
    "eos_token_id": 39,
    "global_attn_every_n_layers": 3,
    "global_rope_theta": 160000.0,
    "hidden_activation": "gelu",
    "hidden_size": 32,
    "initializer_cutoff_factor": 2.0,
    "initializer_range": 0.02,
    "intermediate_size": 48,
    "layer_norm_eps": 1e-5,
    "local_attention": 8,
    "local_rope_theta": 10000.0,
    "max_position_embeddings": 128,
    "mlp_bias": False,
    "mlp_dropout": 0.0,
    "model_type": "modernbert",
    "norm_bias": False,
    "norm_eps": 1e-5,
    "num_attention_heads": 4,
    "num_hidden_layers": 4,
    "pad_token_id": 0,
    "position_embedding_type": "absolute",
    "reference_compile": False,
    "repad_logits_with_grad": False,
    "sep_token_id": 39,
    "sparse_pred_ignore_index": -100,
    "sparse_prediction": False,
}
PLAIN = {
    "cls_token": "[CLS]",
    "mask_token": "[MASK]",
    "model_input_names": ["input_ids", "attention_mask"],
    "model_max_length": 128,
    "pad_token": "[PAD]",
    "sep_token": "[SEP]",
    "tokenizer_class": "PreTrainedTokenizerFast",
    "unk_token": "[UNK]",
}
LONG = ["the quick fox jumped over it and a cat sat on 1 mat, is 2 un " * 5]


def make_modernbert(folder):
    """Two layers over everything, two of windows of four to either side."""
    write_model(folder, MODERN, seed=28)
    write_words(folder, BERT_PIECES, PLAIN)
    tokenizer = BertTokenizerFast(folder / "vocab.txt")
    tokenizer.backend_tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "vocab.txt").unlink()
    return TEXTS + LONG


def make_modernbert_biases(folder):
    """All biases, one base, and every second layer over everything."""
    more = {name: True for name in ("attention_bias", "mlp_bias", "norm_bias")}
    more |= {"local_rope_theta": None, "global_attn_every_n_layers": 2}
    more |= {"global_rope_theta": 500.5, "hidden_activation": "silu"}
    write_model(folder, MODERN | more, seed=29)
    link(folder, "tokenizer.json", "tokenizer_config.json", to="../modernbert")
    return TEXTS + LONG


DEBERTA = COMMON | {
    "architectures": ["DebertaV2Model"],
    "attention_probs_dropout_prob": 0.1,
    "hidden_act": "gelu",
    "hidden_dropout_prob": 0.1,
    "hidden_size": 32,
    "initializer_range": 0.02,
    "intermediate_size": 64,
    "layer_norm_eps": 1e-7,
    "legacy": True,
    "max_position_embeddings": 128,
    "max_relative_positions": -1,
    "model_type": "deberta-v2",
    "norm_rel_ebd": "layer_norm",
    "num_attention_heads": 4,
    "num_hidden_layers": 2,
    "pad_token_id": 0,
    "pooler_dropout": 0,
    "pooler_hidden_act": "gelu",
    "pos_att_type": "p2c|c2p",
    "position_biased_input": False,
    "position_buckets": 16,
    "relative_attention": True,
    "share_att_key": True,
    "type_vocab_size": 0,
}
LETTERS = {"model_max_length": 128, "tokenizer_class": "BertTokenizer"}


def make_deberta(folder):
    """As v3: no positions but buckets of distances, of which texts reach the last."""
    write_model(folder, DEBERTA, seed=33)
    write_words(folder, BERT_PIECES, BRACKETS | LETTERS)
    return TEXTS + LONG


def make_deberta_own(folder):
    """Own projections of distances up to 6, positions, types and narrow tables."""
    more = {"embedding_size": 12, "max_relative_positions": 6, "norm_rel_ebd": "none"}
    more |= {"pos_att_type": ["c2p", "p2c"], "position_biased_input": True}
    more |= {"position_buckets": -1, "share_att_key": False, "type_vocab_size": 2}
    write_model(folder, DEBERTA | more, seed=34)
    link(folder, "vocab.txt", "tokenizer_config.json", to="../deberta")
    return TEXTS + LONG


def make_deberta_keys(folder):
    """Products of queries alone; scores are divided by the root of twice a head."""
    more = {"num_hidden_layers": 1, "pos_att_type": "c2p", "share_att_key": False}
    write_model(folder, DEBERTA | more, seed=35)
    link(folder, "vocab.txt", "tokenizer_config.json", to="../deberta")
    return TEXTS + LONG


LONGFORMER = ROBERTA | {
    "architectures": ["LongformerModel"],
    "attention_window": [4, 8],
    "max_position_embeddings": 130,
    "model_type": "longformer",
    "onnx_export": False,
    "sep_token_id": 2,
}


def make_longformer(folder):
    """A window for each layer, of which texts have many; no token is global."""
    write_model(folder, LONGFORMER, seed=36)
    write_angles(folder, model_max_length=128)
    return ODD_TEXTS + LONG


def make_longformer_labels(folder):
    """A class with global tokens, which vectors of texts are made without."""
    head = {"architectures": ["LongformerForSequenceClassification"]}
    more = {"attention_window": 6, "num_labels": 3, "pad_token_id": 3}
    auto = AutoModelForSequenceClassification
    write_model(folder, LONGFORMER | head | more, seed=37, auto=auto)
    link(folder, "tokenizer.json", "tokenizer_config.json", to="../longformer")
    return TEXTS + LONG


LAYERS = (0, 1, -2, -1)


def write_t5(folder, model, config, seed, **more):
    """An encoder alone, with MORE tensors, and a tokenizer of T5's class."""
    folder.mkdir()
    config = config | {"architectures": [model.__name__], "vocab_size": 60}
    write_json(folder / "config.json", config | {"is_encoder_decoder": False})
    rng = np.random.Generator(np.random.PCG64(seed))
    encoder = model(AutoConfig.from_pretrained(folder))
    state = {
        name: torch.from_numpy(draw(name, tuple(tensor.shape), rng, config)).float()
        for name, tensor in sorted(encoder.named_parameters())
    }
    save_file(state | more, folder / "model.safetensors", {"format": "pt"})
    write_tokenizer(folder)


# The longest one has a distance in each bucket.
T5_TEXTS = [
    "the cat sat on a mat",
    "a",
    "",
    "<2pt> zebras, <extra_id_1> and a dog",
    "the dog sat on it, and ran " * 12,
]


def make_t5(folder):
    """As T5EncoderModel saves it."""
    write_t5(folder, T5EncoderModel, T5 | shape(24, 8, 4, 44, (2, 1), 60), seed=51)
    return T5_TEXTS


def make_mt5(folder):
    """What the class has by default, a gate among it."""
    write_t5(folder, MT5EncoderModel, MT5 | shape(16, 8, 2, 28, (2, 2), 60), seed=52)
    return T5_TEXTS


def make_sentence_t5(folder):
    """As sentence-t5 and gtr: a Dense without a bias; tensors of a decoder that the
    library does not look at; the modules cut texts."""
    config = T5 | GATED | shape(20, 8, 3, 36, (2, 2), 60)
    more = {"decoder.final_layer_norm.weight": torch.ones(20)}
    write_t5(folder, T5EncoderModel, config, seed=53, **more)
    write_json(
        folder / "sentence_bert_config.json",
        {"max_seq_length": 40, "do_lower_case": False},
    )
    write_modules(folder, ["Pooling", "Dense", "Normalize"])
    pooling = {"word_embedding_dimension": 20, "pooling_mode_mean_tokens": True}
    write_json(folder / "1_Pooling/config.json", pooling)
    identity = "torch.nn.modules.linear.Identity"
    dense = {"in_features": 20, "out_features": 12, "bias": False}
    write_json(
        folder / "2_Dense/config.json", dense | {"activation_function": identity}
    )
    rng = torch.Generator().manual_seed(54)
    weight = torch.randn(12, 20, generator=rng)
    path = folder / "2_Dense/model.safetensors"
    save_file({"linear.weight": weight}, path, {"format": "pt"})
    return T5_TEXTS


LAYERED = (
    make_roberta,
    make_distilbert,
    make_albert,
    make_modernbert,
    make_deberta,
    make_longformer,
    make_t5,
)


def write_layers(folder, texts):
    """Means of the hidden states of some layers, in float64."""
    auto = T5EncoderModel if folder.name == "t5" else AutoModel
    model = auto.from_pretrained(folder).double().eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    means = {layer: [] for layer in LAYERS}
    for text in texts:
        # As sentence-transformers reads a text.
        inputs = tokenizer(text.strip(), return_tensors="pt", truncation=True)
        with torch.no_grad():
            states = model(**inputs, output_hidden_states=True).hidden_states
        for layer in LAYERS:
            means[layer].append(states[layer][0].mean(dim=0))
    for layer, rows in means.items():
        np.save(folder / f"layer{layer}.npy", torch.stack(rows).float().numpy())


def main():
    logging.set_verbosity_error()
    arguments = argparse.ArgumentParser()
    goldens = pathlib.Path(__file__).parent
    arguments.add_argument("--folder", type=pathlib.Path, default=goldens)
    root = arguments.parse_args().folder / "encoders"
    torch.set_num_threads(1)
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    for write in (
        make_roberta,
        make_xlm_roberta,
        make_camembert,
        make_distilbert,
        make_albert,
        make_electra,
        make_electra_wide,
        make_modernbert,
        make_modernbert_biases,
        make_deberta,
        make_deberta_own,
        make_deberta_keys,
        make_longformer,
        make_longformer_labels,
        make_t5,
        make_mt5,
        make_sentence_t5,
    ):
        folder = root / write.__name__.removeprefix("make_").replace("_", "-")
        texts = write(folder)
        make(folder, texts, {"mean": {}})
        if write in LAYERED:
            write_layers(folder, texts)


if __name__ == "__main__":
    main()
