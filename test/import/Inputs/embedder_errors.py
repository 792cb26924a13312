"""Folders of embedders with something wrong in them, see wrong_folders.py.

usage: embedder_errors.py GOLDENS TOOLS WORK
"""

import json
import pathlib
import sys

from embedder_module_cases import MODULE_CASES
from folder_changes import (
    NO_WEIGHTS,
    SIZE,
    WEIGHTS,
    config,
    fields,
    has,
    remove,
    tensor,
    text,
)
from wrong_folders import main

ACTIVATIONS = (
    "relu, gelu, gelu_python, gelu_new, gelu_fast, gelu_accurate, gelu_pytorch_tanh,"
    " gelu_python_tanh, quick_gelu, silu, swish, tanh, sigmoid, linear"
)
OWN_CODE = "no code of the folder: its model is not that of transformers' class"


def refused(field, value, supported):
    return has("config.json", field, value, supported)


GLOBAL_KEY = "longformer.encoder.layer.0.attention.self.key_global.weight"
LEFT = {
    "direction": "Left",
    "max_length": 8,
    "strategy": "LongestFirst",
    "stride": 0,
}

CASES = list(MODULE_CASES)

# config.json of both families.
HEADS = "divisors of hidden_size = 32"
for folder, field, value, sentence in [
    ("bert", "num_attention_heads", 5, HEADS),
    ("mpnet", "num_attention_heads", 3, HEADS),
    ("bert", "num_attention_heads", 0, SIZE),
    ("bert", "num_attention_heads", "4", SIZE),
    ("bert", "position_embedding_type", "relative_key", '"absolute"'),
    ("bert", "position_embedding_type", "relative_key_query", '"absolute"'),
    ("bert", "position_embedding_type", None, '"absolute"'),
    ("bert", "is_decoder", True, "false"),
    ("mpnet", "is_decoder", True, "false"),
    ("bert", "add_cross_attention", True, "false"),
    ("bert", "hidden_act", "sinus", ACTIVATIONS),
    ("mpnet", "hidden_act", "mish", ACTIVATIONS),
    ("bert", "hidden_act", None, ACTIVATIONS),
    ("bert", "hidden_act", 3, "a string"),
    ("bert", "layer_norm_eps", -1, "numbers from 0 to 1"),
    ("mpnet", "layer_norm_eps", "1e-5", "numbers from 0 to 1"),
    ("bert", "vocab_size", 0, "1 to 16777216"),
    ("mpnet", "vocab_size", -40, "1 to 16777216"),
    ("bert", "hidden_size", None, SIZE),
    ("bert", "hidden_size", 2**40, SIZE),
    ("bert", "intermediate_size", 0, SIZE),
    ("bert", "num_hidden_layers", 0, "1 to 256"),
    ("mpnet", "num_hidden_layers", 100000, "1 to 256"),
    ("bert", "max_position_embeddings", 0, SIZE),
    ("mpnet", "max_position_embeddings", 1, "3 to 1048576"),
    ("mpnet", "max_position_embeddings", 2, "3 to 1048576"),
    ("bert", "type_vocab_size", 0, SIZE),
    ("mpnet", "relative_attention_num_buckets", 31, "32 to 1048576"),
    ("bert", "pruned_heads", {"0": [1]}, "{}"),
    ("bert", "quantization_config", {"quant_method": "gptq"}, "null"),
    ("mpnet", "quantization_config", {}, "null"),
    ("bert", "transformers_weights", "other.safetensors", "null"),
    # As the folders of Nomic, Jina and GTE have it.
    ("bert", "auto_map", {"AutoModel": "modeling_bert.JinaBertModel"}, OWN_CODE),
    ("mpnet", "auto_map", {"AutoModel": "a/b--modeling.NewModel"}, OWN_CODE),
    ("bert", "model_type", "nomic_bert", "albert, bart, bert, *"),
    ("bert", "model_type", "new", "albert, bart, bert, *"),
]:
    known = json.dumps(value, separators=(",", ":"))
    CASES.append((folder, config(**{field: value}), refused(field, known, sentence)))

# Weights of both.
for folder, change, sentence in [
    (
        "bert",
        config(num_hidden_layers=3),
        "the model has no tensor 'encoder.layer.2.attention.self.query.weight'"
        " (expected shape [32, 32])",
    ),
    (
        "bert",
        config(vocab_size=41),
        "tensor 'embeddings.word_embeddings.weight' of 'model.safetensors' has shape"
        " [40, 32] but the model needs [41, 32]",
    ),
    (
        "bert",
        config(max_position_embeddings=65),
        "tensor 'embeddings.position_embeddings.weight' of 'model.safetensors' has"
        " shape [64, 32] but the model needs [65, 32]",
    ),
    (
        "bert",
        config(type_vocab_size=1),
        "tensor 'embeddings.token_type_embeddings.weight' of 'model.safetensors' has"
        " shape [2, 32] but the model needs [1, 32]",
    ),
    (
        "bert",
        config(intermediate_size=63),
        "tensor 'encoder.layer.0.intermediate.dense.weight' of 'model.safetensors' has"
        " shape [64, 32] but the model needs [63, 32]",
    ),
    (
        "bert",
        config(hidden_size=64),
        "tensor 'embeddings.word_embeddings.weight' of 'model.safetensors' has shape"
        " [40, 32] but the model needs [40, 64]",
    ),
    (
        "bert",
        tensor("encoder.layer.1.output.dense.bias", name="encoder.layer.1.bias"),
        "the model has no tensor 'encoder.layer.1.output.dense.bias' (expected shape"
        " [32])*",
    ),
    (
        "bert",
        tensor("embeddings.LayerNorm.weight", name="embeddings.LayerNorm.scale"),
        "the model has no tensor 'embeddings.LayerNorm.weight' (expected shape [32])*",
    ),
    (
        "bert",
        tensor("encoder.layer.0.attention.self.key.weight", shape=[16, 64]),
        "tensor 'encoder.layer.0.attention.self.key.weight' of 'model.safetensors' has"
        " shape [16, 64] but the model needs [32, 32]",
    ),
    (
        "bert",
        tensor("encoder.layer.0.attention.self.key.weight", dtype="I32"),
        "tensor 'encoder.layer.0.attention.self.key.weight' *",
    ),
    ("bert", remove(WEIGHTS), f"'model' {NO_WEIGHTS}"),
    (
        "bert-modules",
        remove("0_Transformer/model.safetensors"),
        f"'model/0_Transformer' {NO_WEIGHTS}",
    ),
    (
        "mpnet",
        config(num_attention_heads=8),
        "tensor 'encoder.relative_attention_bias.weight' of 'model.safetensors' has"
        " shape [32, 4] but the model needs [32, 8]",
    ),
    (
        "mpnet",
        config(relative_attention_num_buckets=33),
        "tensor 'encoder.relative_attention_bias.weight' of 'model.safetensors' has"
        " shape [32, 4] but the model needs [33, 4]",
    ),
    (
        "mpnet",
        tensor("encoder.relative_attention_bias.weight", name="relative_bias.weight"),
        "the model has no tensor 'encoder.relative_attention_bias.weight' (expected"
        " shape [32, 4])*",
    ),
    (
        "mpnet",
        config(max_position_embeddings=28),
        "tensor 'embeddings.position_embeddings.weight' of 'model.safetensors' has"
        " shape [26, 32] but the model needs [28, 32]",
    ),
    (
        "mpnet",
        text("tokenizer.json", "{"),
        "'model/tokenizer.json' is not valid JSON: *",
    ),
    ("bert", text("tokenizer_config.json", "[]"), "'model/tokenizer_config.json' *"),
    (
        "bert",
        fields("tokenizer_config.json", truncation_side="left"),
        has("tokenizer_config.json", "truncation_side", '"left"', '"right"'),
    ),
    (
        "bert-characters",
        fields("tokenizer.json", truncation=LEFT),
        "the tokenizer in 'model' cuts texts at their beginnings *",
    ),
]:
    CASES.append((folder, change, sentence))

# Labels, and what becomes of their logits.
RULE = "a text for each number from 0 to {}"
IDENTITY = "torch.nn.modules.linear.Identity, *"
PROBLEMS = '"regression", "single_label_classification", "multi_label_classification"'
for field, value, sentence in [
    ("id2label", ["a", "b", "c"], "an object of texts"),
    ("id2label", {"0": "a", "2": "b"}, RULE.format(1)),
    ("id2label", {"0": "a", "1": 2}, RULE.format(1)),
    ("id2label", {"0": "a", "1": "a"}, "labels that differ"),
    ("id2label", {}, "at least one label"),
    ("problem_type", 3, PROBLEMS),
    ("problem_type", "ranking", PROBLEMS),
    ("sbert_ce_default_activation_function", "torch.nn.ReLU", IDENTITY),
    ("sentence_transformers", {"activation_fn": "my.Sigmoid"}, IDENTITY),
    ("sentence_transformers", {"activation_fn": 5}, IDENTITY),
]:
    known = json.dumps(value, separators=(",", ":"))
    CASES.append(
        (
            "../heads/bert-classify",
            config(**{field: value}),
            refused(field, known, sentence),
        )
    )
CASES += [
    (
        "../heads/bert-classify",
        config(id2label={"0": "a"}),
        "'model/config.json' has 1 label ('id2label', 'num_labels'), but tensor"
        " 'classifier.weight' has 3 rows",
    ),
    # So many are not compared with each other.
    (
        "../heads/bert-classify",
        config(id2label=None, num_labels=1 << 20),
        "'model/config.json' has 1048576 labels ('id2label', 'num_labels'), but tensor"
        " 'classifier.weight' has 3 rows",
    ),
    (
        "../heads/modernbert-classify",
        config(classifier_pooling="max"),
        refused("classifier_pooling", '"max"', '"cls", "mean"'),
    ),
    (
        "../heads/modernbert-classify",
        config(rope_scaling={"rope_type": "linear", "factor": 2.0}),
        refused("rope_scaling", '{"factor":2,"rope_type":"linear"}', "null"),
    ),
    (
        "../heads/modernbert-classify",
        config(num_attention_heads=16),
        refused("num_attention_heads", "16", "heads of an even width"),
    ),
    (
        "../encoders/albert",
        config(num_hidden_groups=0),
        refused("num_hidden_groups", "0", "1 to 256"),
    ),
    (
        "../encoders/distilbert",
        config(n_heads=5),
        refused("n_heads", "5", "divisors of dim = 32"),
    ),
    (
        "../encoders/roberta",
        config(pad_token_id=None),
        refused("pad_token_id", "null", "0 to *"),
    ),
    (
        "../encoders/deberta",
        config(conv_kernel_size=3),
        refused("conv_kernel_size", "3", "0"),
    ),
    (
        "../encoders/deberta",
        config(position_buckets=1),
        refused(
            "position_buckets", "1", "-1, or 2 and more for distances above 1"
        ),
    ),
    (
        "../encoders/deberta",
        config(max_relative_positions=9),
        refused(
            "position_buckets", "16", "-1, or 2 and more for distances above 9"
        ),
    ),
    (
        "../encoders/deberta",
        config(attention_head_size=16),
        refused("attention_head_size", "16", "8"),
    ),
    (
        "../encoders/deberta",
        config(position_buckets=12),
        "tensor 'encoder.rel_embeddings.weight' of 'model.safetensors' has shape"
        " [32, 32] but the model needs [24, 32]",
    ),
    (
        "../heads/longformer-answer",
        config(sep_token_id=99),
        refused("sep_token_id", "99", "ids from 0 to 39"),
    ),
    (
        "../heads/longformer-classify",
        tensor(GLOBAL_KEY, name="longformer.other"),
        f"the model has no tensor '{GLOBAL_KEY}' (expected shape [16, 16])",
    ),
]
WINDOWS = "an even number from 2 to 1048576, or a list of 2 of them"
for window in (5, 0, 1 << 21, "8", 8.5, [4], [4, 6, 8], [4, 5], {}):
    value = json.dumps(window, separators=(",", ":"))
    CASES.append(
        (
            "../encoders/longformer",
            config(attention_window=window),
            refused("attention_window", value, WINDOWS),
        )
    )


if __name__ == "__main__":
    sys.exit(main(CASES, *map(pathlib.Path, sys.argv[1:])))
