"""Folders of decoders alone with something wrong in them, see wrong_folders.py.

usage: decoder_errors.py GOLDENS TOOLS WORK
"""

import json
import pathlib
import sys

from folder_changes import SIZE, config, fields, has, remove, tensor
from wrong_folders import main

COUNT = "1 to 256"
KINDS = "the types default, linear, dynamic and llama3"
PARTS = (
    "numbers above 0 for 'factor', 'low_freq_factor', 'high_freq_factor',"
    " 'original_max_position_embeddings'"
)
LLAMA3 = {
    "factor": 8,
    "high_freq_factor": 4,
    "low_freq_factor": 1,
    "original_max_position_embeddings": 16,
    "rope_type": "llama3",
}


def refused(field, value, supported, file="config.json"):
    known = json.dumps(value, separators=(",", ":"))
    return has(file, field, known, supported)


CASES = [
    (folder, config(**{field: value}), refused(field, value, sentence))
    for folder, field, value, sentence in [
        ("llama", "vocab_size", 0, "1 to 16777216"),
        ("llama", "hidden_size", None, SIZE),
        ("llama", "num_hidden_layers", 0, COUNT),
        ("llama", "num_hidden_layers", "3", COUNT),
        ("llama", "num_key_value_heads", 3, "divisors of num_attention_heads = 4"),
        ("llama", "num_key_value_heads", 0, SIZE),
        ("llama", "head_dim", 7, "an even width of heads"),
        ("llama", "intermediate_size", -1, SIZE),
        ("llama", "max_position_embeddings", 2**40, SIZE),
        ("llama", "rms_norm_eps", "small", "numbers from 0 to 1"),
        ("llama", "rope_theta", 1, "numbers from 1.0001 to *"),
        ("llama", "rope_scaling", 8, "null, or an object"),
        ("llama", "rope_scaling", {"factor": 2, "type": "yarn"}, KINDS),
        ("llama", "rope_scaling", {"factor": 2}, KINDS),
        ("llama", "rope_scaling", {"type": "linear"}, "numbers above 0 for 'factor'"),
        ("llama", "rope_scaling", {"factor": 0, "type": "linear"}, "numbers above 0 *"),
        ("llama", "rope_scaling", {"factor": 8, "rope_type": "llama3"}, PARTS),
        ("llama", "is_encoder_decoder", True, "false"),
        ("llama", "add_cross_attention", True, "false"),
        ("llama", "sliding_window", 16, "null, or more than 64"),
        ("llama", "layer_types", ["sliding_attention"], 'null, a list of "full_attention"'),
        ("llama", "quantization_config", {"bits": 4}, "null"),
        ("llama", "eos_token_id", "</s>", "ids from 0 to 60"),
        ("llama", "forced_bos_token_id", 3, "null"),
        ("llama", "partial_rotary_factor", 0.5, "1"),
        (
            "llama",
            "architectures",
            ["LlamaForSequenceClassification"],
            "classes of causal language models",
        ),
        (
            "gpt2",
            "architectures",
            ["GPT2ForTokenClassification"],
            "classes of causal language models",
        ),
        ("gpt2", "n_head", 5, "divisors of n_embd = 24"),
        ("gpt2", "n_positions", 0, SIZE),
        ("gpt2", "n_layer", 1000, COUNT),
        ("gpt2", "n_inner", 0, SIZE),
        ("gpt2", "pruned_heads", {"0": [1]}, "{}"),
    ]
]
GENERATION = "generation_config.json"
CASES += [
    (
        "llama-linear",
        fields(GENERATION, **{field: value}),
        refused(field, value, sentence, GENERATION),
    )
    for field, value, sentence in [
        ("max_length", 1, "2 and more"),
        ("repetition_penalty", -1, "numbers from *"),
        ("guidance_scale", 3, "1"),
    ]
]
LAYER = "model.layers.1."
CASES += [
    ("llama", remove("model.safetensors"), "'model' has no weights: *"),
    (
        "llama",
        tensor("lm_head.weight", name="head.weight"),
        "the model has no tensor 'lm_head.weight' (expected shape [61, 32])",
    ),
    (
        "llama",
        tensor(LAYER + "mlp.up_proj.weight", name="other"),
        f"the model has no tensor '{LAYER}mlp.up_proj.weight' (expected shape [44, 32])",
    ),
    (
        "llama",
        tensor(LAYER + "self_attn.k_proj.weight", shape=[32, 16]),
        f"tensor '{LAYER}self_attn.k_proj.weight' of 'model.safetensors' has shape [32, 16]"
        " but the model needs [16, 32]",
    ),
    (
        "llama",
        config(rope_scaling=LLAMA3 | {"low_freq_factor": 4}),
        has(
            "config.json",
            "rope_scaling",
            "*",
            "a 'high_freq_factor' above 'low_freq_factor'",
        ),
    ),
    (
        "llama",
        config(attention_bias=True),
        "the model has no tensor 'model.layers.0.self_attn.q_proj.bias' (expected shape"
        " [32])",
    ),
    (
        "gpt2",
        tensor("h.0.attn.c_attn.weight", shape=[72, 24]),
        "tensor 'h.0.attn.c_attn.weight' of 'model.safetensors' has shape [72, 24] but the"
        " model needs [24, 72]",
    ),
    (
        "gpt2",
        tensor("wpe.weight", shape=[32, 48]),
        "tensor 'wpe.weight' of 'model.safetensors' has shape [32, 48] but the model needs"
        " [64, 24]",
    ),
]


if __name__ == "__main__":
    sys.exit(main(CASES, *map(pathlib.Path, sys.argv[1:])))
