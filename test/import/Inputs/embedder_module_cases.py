"""Wrong folders of sentence-transformers: modules.json and the files of modules.

MODULE_CASES is a part of the table of embedder_errors.py.
"""

import copy
import os

from folder_changes import (
    NO_WEIGHTS,
    SIZE,
    edit,
    fields,
    has,
    remove,
    tensor,
    text,
    without,
)

MODULES = "modules.json"
POOLING = "1_Pooling/config.json"
DENSE = "2_Dense/config.json"
INSIDE = "0_Transformer/sentence_bert_config.json"
PROMPTS = "config_sentence_transformers.json"


def module(number, **values):
    """Changes one of modules.json."""

    def change(modules):
        modules[number].update(values)

    return edit(MODULES, change)


def order(*numbers):
    """Modules of modules.json by their numbers."""
    return edit(MODULES, lambda modules: [copy.copy(modules[n]) for n in numbers])


TORCH_ACTIVATIONS = (
    "torch.nn.modules.linear.Identity and, of torch.nn.modules.activation, Tanh, ReLU,"
    " GELU, SiLU, Sigmoid"
)
SUPPORTED = "(supported: one Pooling, then Dense, LayerNorm, Normalize and Dropout)"
MODULE = "expected an object with the texts 'type' and 'path'"
MANY = "1 to 2147483647"

MODULE_CASES = [
    # modules.json: what is no list of modules.
    ("bert-modules", text(MODULES, "{}"), "'model/modules.json' is not a JSON list"),
    ("bert-modules", text(MODULES, '"x"'), "'model/modules.json' is not a JSON list"),
    ("bert-modules", text(MODULES, "[{"), "'model/modules.json' is not valid JSON: *"),
    ("bert-modules", text(MODULES, ""), "'model/modules.json' is not valid JSON: *"),
    (
        "bert-modules",
        text(MODULES, "[" * 5000 + "]" * 5000),
        "'model/modules.json' *",
    ),
    (
        "bert-modules",
        text(MODULES, "[1]"),
        f"'model/modules.json' has the module 1, {MODULE}",
    ),
    (
        "bert-modules",
        text(MODULES, '[{"idx": 0}]'),
        f"'model/modules.json' has the module {{\"idx\":0}}, {MODULE}",
    ),
    (
        "bert-modules",
        module(0, type=3),
        f"'model/modules.json' has the module *, {MODULE}",
    ),
    (
        "bert-modules",
        module(2, path=None),
        f"'model/modules.json' has the module *, {MODULE}",
    ),
    # The order of modules.
    (
        "bert-modules",
        text(MODULES, "[]"),
        "'model/modules.json' begins with nothing, expected a Transformer or an"
        " MLMTransformer",
    ),
    (
        "bert-modules",
        order(1, 2),
        "'model/modules.json' begins with 'Pooling', expected a Transformer or an"
        " MLMTransformer",
    ),
    (
        "bert-modules",
        order(0),
        "'model/modules.json' has no Pooling: its model gives no vector of a text",
    ),
    (
        "bert-modules",
        order(0, 6),
        f"'model/modules.json' has the module 'Normalize' in front of the pooling"
        f" {SUPPORTED}",
    ),
    (
        "bert-modules",
        order(0, 1, 1),
        f"'model/modules.json' has the module 'Pooling' behind the pooling {SUPPORTED}",
    ),
    (
        "bert-modules",
        order(0, 2, 1),
        "'model/modules.json' has the module 'Dense' in front of the pooling"
        f" {SUPPORTED}",
    ),
    (
        "bert-modules",
        order(0, 0, 1),
        "'model/modules.json' has the module 'Transformer' in front of the pooling"
        f" {SUPPORTED}",
    ),
    # Modules that Heddle lacks, and code of others.
    (
        "bert-modules",
        module(2, type="sentence_transformers.models.CNN"),
        f"'model/modules.json' has the module 'CNN' behind the pooling {SUPPORTED}",
    ),
    (
        "bert-modules",
        module(1, type="sentence_transformers.models.WeightedLayerPooling"),
        "'model/modules.json' has the module 'WeightedLayerPooling' in front of the"
        f" pooling {SUPPORTED}",
    ),
    (
        "bert-modules",
        module(0, type="sentence_transformers.models.Router"),
        "'model/modules.json' begins with 'Router', expected a Transformer or an"
        " MLMTransformer",
    ),
    (
        "bert-modules",
        module(0, type="sentence_transformers.sparse_encoder.models.MLMTransformer"),
        "'model/modules.json' has other modules behind the MLMTransformer than one"
        " SpladePooling",
    ),
    (
        "bert-modules",
        module(0, type="custom_st.Transformer"),
        "'model/modules.json' has the module 'custom_st.Transformer', which is code of"
        " its own: Heddle runs none (supported: those of sentence_transformers.models)",
    ),
    (
        "bert-modules",
        module(6, type=""),
        "'model/modules.json' has the module '', which is code of its own: Heddle runs"
        " none (supported: those of sentence_transformers.models)",
    ),
    # Folders of modules.
    (
        "bert-modules",
        module(0, path="../bert"),
        "'model/modules.json' has a module in '../bert', expected a folder of the"
        " model's",
    ),
    (
        "bert-modules",
        module(2, path="/etc"),
        "'model/modules.json' has a module in '/etc', expected a folder of the model's",
    ),
    (
        "bert-modules",
        module(0, path="1_Transformer"),
        "cannot read 'model/1_Transformer/config.json': No such file or directory",
    ),
    (
        "bert-modules",
        module(1, path="9_Pooling"),
        "cannot read 'model/9_Pooling/config.json': No such file or directory",
    ),
    # Dense and LayerNorm.
    (
        "bert-modules",
        order(0, 1, 3, 2),
        "the module '3_Dense' has in_features 20, but vectors in front of it have 96"
        " numbers",
    ),
    (
        "bert-modules",
        fields(DENSE, in_features=32),
        "the module '2_Dense' has in_features 32, but vectors in front of it have 96"
        " numbers",
    ),
    (
        "bert-modules",
        fields(DENSE, out_features=21),
        "the module '3_Dense' has in_features 20, but vectors in front of it have 21"
        " numbers",
    ),
    (
        "bert-modules",
        fields(DENSE, in_features=0),
        has(DENSE, "in_features", 0, SIZE),
    ),
    (
        "bert-modules",
        fields(DENSE, out_features="20"),
        has(DENSE, "out_features", '"20"', SIZE),
    ),
    (
        "bert-modules",
        without(DENSE, "in_features"),
        f"'model/{DENSE}' has no 'in_features' (expected {SIZE})",
    ),
    (
        "bert-modules",
        without(DENSE, "out_features"),
        f"'model/{DENSE}' has no 'out_features' (expected {SIZE})",
    ),
    (
        "bert-modules",
        fields(DENSE, activation_function="torch.nn.modules.activation.Softplus"),
        has(
            DENSE,
            "activation_function",
            '"torch.nn.modules.activation.Softplus"',
            TORCH_ACTIVATIONS,
        ),
    ),
    (
        "bert-modules",
        fields(DENSE, activation_function="my.Tanh"),
        has(DENSE, "activation_function", '"my.Tanh"', TORCH_ACTIVATIONS),
    ),
    (
        "bert-modules",
        fields(DENSE, activation_function=None),
        has(DENSE, "activation_function", "null", "*"),
    ),
    (
        "bert-modules",
        fields(DENSE, activation_function=3),
        has(DENSE, "activation_function", 3, "a string"),
    ),
    ("bert-modules", text(DENSE, "[]"), f"'model/{DENSE}' is not a JSON object"),
    (
        "bert-modules",
        remove("2_Dense/model.safetensors"),
        f"'model/2_Dense' {NO_WEIGHTS}",
    ),
    (
        "bert-modules",
        remove("4_LayerNorm/model.safetensors"),
        f"'model/4_LayerNorm' {NO_WEIGHTS}",
    ),
    (
        "bert-modules",
        fields("3_Dense/config.json", bias=True),
        "the model has no tensor '3_Dense/linear.bias' (expected shape [12])",
    ),
    (
        "bert-modules",
        tensor("linear.weight", "2_Dense/model.safetensors", name="weight"),
        "the model has no tensor '2_Dense/linear.weight' (expected shape [20, 96])*",
    ),
    (
        "bert-modules",
        tensor("linear.weight", "2_Dense/model.safetensors", shape=[96, 20]),
        "tensor '2_Dense/linear.weight' of '2_Dense/model.safetensors' has shape"
        " [96, 20] but the model needs [20, 96]",
    ),
    (
        "bert-modules",
        order(0, 1, 4),
        "tensor '4_LayerNorm/norm.weight' of '4_LayerNorm/model.safetensors' has shape"
        " [12] but the model needs [96]",
    ),
    (
        "bert-modules",
        lambda folder: os.truncate(folder / "2_Dense/model.safetensors", 200),
        "tensor '*' of 'model/2_Dense/model.safetensors' ends at byte * but the file"
        " has 200 bytes",
    ),
    # 1_Pooling/config.json.
    (
        "mpnet",
        fields(POOLING, pooling_mode_mean_tokens=False),
        has(
            POOLING,
            "pooling_mode_mean_tokens",
            "false",
            "true, for this mode or another",
        ),
    ),
    (
        "mpnet",
        fields(POOLING, word_embedding_dimension=33),
        has(POOLING, "word_embedding_dimension", 33, 32),
    ),
    (
        "mpnet",
        fields(POOLING, word_embedding_dimension="32"),
        has(POOLING, "word_embedding_dimension", '"32"', 32),
    ),
    (
        "mpnet",
        text(POOLING, '{"word_embedding_dimension": 32'),
        f"'model/{POOLING}' is not valid JSON: *",
    ),
    ("mpnet", text(POOLING, "[32]"), f"'model/{POOLING}' is not a JSON object"),
    (
        "mpnet",
        remove(POOLING),
        f"cannot read 'model/{POOLING}': No such file or directory",
    ),
    (
        "bert-max",
        fields(POOLING, pooling_mode="median"),
        has(POOLING, "pooling_mode", '"median"', "*"),
    ),
    (
        "bert-prompts",
        fields(POOLING, pooling_mode_cls_token=True, pooling_mode_max_tokens=True),
        has(POOLING, "include_prompt", "false", "true, with the modes cls and max"),
    ),
    # sentence_bert_config.json.
    (
        "bert-modules",
        fields(INSIDE, max_seq_length=0),
        has(INSIDE, "max_seq_length", 0, MANY),
    ),
    (
        "bert-modules",
        fields(INSIDE, max_seq_length=-1),
        has(INSIDE, "max_seq_length", -1, MANY),
    ),
    (
        "bert-modules",
        fields(INSIDE, max_seq_length=1),
        "'model' reads texts of at most 1 tokens (max_seq_length), expected at least"
        " the 2 that its tokenizer puts around each",
    ),
    (
        "bert-modules",
        fields(INSIDE, max_seq_length="512"),
        has(INSIDE, "max_seq_length", '"512"', MANY),
    ),
    (
        "bert-modules",
        fields(INSIDE, max_seq_length=16.5),
        has(INSIDE, "max_seq_length", 16.5, MANY),
    ),
    (
        "bert-modules",
        fields(INSIDE, max_seq_length=10**20),
        has(INSIDE, "max_seq_length", "1e+20", MANY),
    ),
    (
        "bert-modules",
        fields(INSIDE, config_args={"num_hidden_layers": 1}),
        has(INSIDE, "config_args", '{"num_hidden_layers":1}', "*"),
    ),
    (
        "bert-modules",
        fields(INSIDE, tokenizer_args={"do_lower_case": False}),
        has(INSIDE, "tokenizer_args", '{"do_lower_case":false}', "*"),
    ),
    (
        "bert-modules",
        fields(INSIDE, model_args={"torch_dtype": "bfloat16"}),
        has(INSIDE, "model_args", '{"torch_dtype":"bfloat16"}', "{}"),
    ),
    (
        "bert-modules",
        fields(INSIDE, tokenizer_name_or_path="bert-base-cased"),
        has(INSIDE, "tokenizer_name_or_path", '"bert-base-cased"', "null"),
    ),
    ("bert-modules", text(INSIDE, "[]"), f"'model/{INSIDE}' is not a JSON object"),
    ("bert-modules", text(INSIDE, "{"), f"'model/{INSIDE}' is not valid JSON: *"),
    # config_sentence_transformers.json.
    (
        "bert-prompts",
        fields(PROMPTS, prompts=["query: "]),
        has(PROMPTS, "prompts", '["query: "]', "an object of texts"),
    ),
    (
        "bert-prompts",
        fields(PROMPTS, prompts="query: "),
        has(PROMPTS, "prompts", '"query: "', "an object of texts"),
    ),
    (
        "bert-prompts",
        fields(PROMPTS, prompts={"query": 3}),
        has(PROMPTS, "prompts", '{"query":3}', "an object of texts"),
    ),
    (
        "bert-prompts",
        fields(PROMPTS, prompts={"query": None}),
        has(PROMPTS, "prompts", '{"query":null}', "an object of texts"),
    ),
    (
        "bert-prompts",
        fields(PROMPTS, prompts={"": "a "}, default_prompt_name=None),
        has(PROMPTS, "prompts", '{"":"a "}', "prompts with names"),
    ),
    (
        "bert-prompts",
        fields(PROMPTS, default_prompt_name="question"),
        f"'model/{PROMPTS}' has 'default_prompt_name' with the value 'question', which"
        f" is none of its prompts",
    ),
    (
        "bert-prompts",
        fields(PROMPTS, default_prompt_name=3),
        has(PROMPTS, "default_prompt_name", 3, "a string"),
    ),
    (
        "bert-prompts",
        fields(PROMPTS, model_type="SparseEncoder"),
        has(PROMPTS, "model_type", '"SparseEncoder"', '"SentenceTransformer"'),
    ),
    ("bert-prompts", text(PROMPTS, "[]"), f"'model/{PROMPTS}' is not a JSON object"),
    ("bert-prompts", text(PROMPTS, "{"), f"'model/{PROMPTS}' is not valid JSON: *"),
]
