"""Compiles folders of embedders with something wrong in them, and compares what the
compiler says.

usage: embedder_errors.py GOLDENS TOOLS WORK

A case is a folder of GOLDENS, changes of its files and the sentence, in which * stands
for anything; the folder is `model` then. Each command prints one line, exits with 1 and
leaves no file behind.
"""

import copy
import fnmatch
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys

MODULES = "modules.json"
POOLING = "1_Pooling/config.json"
DENSE = "2_Dense/config.json"
INSIDE = "0_Transformer/sentence_bert_config.json"
PROMPTS = "config_sentence_transformers.json"
WEIGHTS = "model.safetensors"

# --- Changes: functions of the folder -------------------------------------------


def edit(file, change):
    """Changes what a file of JSON has; a file that is missing has nothing."""

    def apply(folder):
        path = folder / file
        value = json.loads(path.read_text()) if path.exists() else {}
        changed = change(value)
        path.write_text(json.dumps(value if changed is None else changed))

    return apply


def fields(file, **values):
    return edit(file, lambda value: value.update(values))


def without(file, field):
    return edit(file, lambda value: value.pop(field) and None)


def text(file, content):
    return lambda folder: (folder / file).write_text(content)


def remove(file):
    return lambda folder: (folder / file).unlink()


def tensor(old, file=WEIGHTS, *, name=None, **values):
    """Changes what the file says of a tensor: its name, its shape."""

    def apply(folder):
        data = (folder / file).read_bytes()
        (length,) = struct.unpack_from("<Q", data)
        header = json.loads(data[8 : 8 + length])
        header[name or old] = header.pop(old) | values
        changed = json.dumps(header).encode()
        changed += b" " * (-len(changed) % 8)
        rest = data[8 + length :]
        (folder / file).write_bytes(struct.pack("<Q", len(changed)) + changed + rest)

    return apply


def module(number, **values):
    """Changes one of modules.json."""

    def change(modules):
        modules[number].update(values)

    return edit(MODULES, change)


def order(*numbers):
    """Modules of modules.json by their numbers."""
    return edit(MODULES, lambda modules: [copy.copy(modules[n]) for n in numbers])


def config(**values):
    return fields("config.json", **values)


# --- The sentences ----------------------------------------------------------------


def has(file, field, value, supported):
    return (
        f"'model/{file}' has '{field}' with the value {value} (supported: {supported})"
    )


def refused(field, value, supported):
    return has("config.json", field, value, supported)


SIZE = "1 to 1048576"
ACTIVATIONS = (
    "relu, gelu, gelu_python, gelu_new, gelu_fast, gelu_accurate, gelu_pytorch_tanh,"
    " gelu_python_tanh, quick_gelu, silu, swish, tanh, sigmoid, linear"
)
TORCH_ACTIVATIONS = (
    "torch.nn.modules.linear.Identity and, of torch.nn.modules.activation, Tanh, ReLU,"
    " GELU, SiLU, Sigmoid"
)
SUPPORTED = "(supported: one Pooling, then Dense, LayerNorm, Normalize and Dropout)"
OWN_CODE = "no code of the folder: its model is not that of transformers' class"
NO_WEIGHTS = (
    "has no weights: neither model.safetensors nor pytorch_model.bin, whole or in parts"
    " with an index"
)
MODULE = "expected an object with the texts 'type' and 'path'"
MANY = "1 to 2147483647"

CASES = [
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
        "'model/modules.json' begins with nothing, expected a Transformer",
    ),
    (
        "bert-modules",
        order(1, 2),
        "'model/modules.json' begins with 'Pooling', expected a Transformer",
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
        "'model/modules.json' begins with 'Router', expected a Transformer",
    ),
    (
        "bert-modules",
        module(0, type="sentence_transformers.sparse_encoder.models.MLMTransformer"),
        "'model/modules.json' begins with 'MLMTransformer', expected a Transformer",
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
    ("bert-prompts", text(PROMPTS, "[]"), f"'model/{PROMPTS}' is not a JSON object"),
    ("bert-prompts", text(PROMPTS, "{"), f"'model/{PROMPTS}' is not valid JSON: *"),
]

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
    ("bert", "model_type", "nomic_bert", "bart, bert, *"),
    ("bert", "model_type", "new", "bart, bert, *"),
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
]:
    CASES.append((folder, change, sentence))


def check(golden, change, sentence):
    """What is wrong with a case, or nothing. The folder is `model`, in this one."""
    shutil.copytree(golden, "model")
    change(pathlib.Path("model"))
    command = ["heddle-compile", "model", "--emit=mlir", "-o", "out"]
    done = subprocess.run(command, capture_output=True, text=True)
    shutil.rmtree("model")
    left = os.listdir()
    for name in left:
        os.unlink(name)
    wrong = []
    if done.returncode != 1:
        wrong.append(f"exit code {done.returncode}, expected 1")
    if left:
        wrong.append(f"left behind: {', '.join(left)}")
    # Brackets mean nothing but themselves.
    pattern = re.sub(r"\[", "[[]", f"heddle-compile: error: {sentence}\n")
    if done.stderr.count("\n") != 1 or not fnmatch.fnmatchcase(done.stderr, pattern):
        wrong.append(f"expected: {sentence}\n  found:    {done.stderr.rstrip()}")
    return "\n  ".join(wrong)


def main(goldens, tools, work):
    os.environ["PATH"] = f"{tools}:{os.environ['PATH']}"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    os.chdir(work)
    failures = 0
    for number, (folder, change, sentence) in enumerate(CASES):
        if wrong := check(goldens / folder, change, sentence):
            print(f"case {number}, of {folder}:\n  {wrong}")
            failures += 1
    print(f"{len(CASES)} wrong folders, {failures} not as expected")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main(*map(pathlib.Path, sys.argv[1:])))
