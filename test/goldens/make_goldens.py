"""Makes the tiny random Hugging Face models of this folder and their goldens.

usage: make_goldens.py [--folder FOLDER] [NAME...]

Each model has a shape of its own, so that nothing but a faithful reading of its
config.json gives its logits. Weights are wide enough for attention to be sharp
and for every activation to leave its linear range. The oracle is Hugging Face
transformers, which loads the folder as anybody would, widens the weights and
computes in float64: what the tests then measure is our rounding alone, and
another CPU's order of summation leaves the same bytes. Seeds are tried from the
recorded one on until greedy decoding is unambiguous and varied (see `accept`).
README.md describes the files.
"""

import argparse
import itertools
import json
import pathlib
import shutil
import tempfile

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    BigBirdPegasusConfig,
    BigBirdPegasusForConditionalGeneration,
    BlenderbotConfig,
    BlenderbotForConditionalGeneration,
    BlenderbotSmallConfig,
    BlenderbotSmallForConditionalGeneration,
    FSMTConfig,
    FSMTForConditionalGeneration,
    LEDConfig,
    LEDForConditionalGeneration,
    M2M100Config,
    M2M100ForConditionalGeneration,
    MarianConfig,
    MarianMTModel,
    MBartConfig,
    MBartForConditionalGeneration,
    PegasusConfig,
    PegasusForConditionalGeneration,
    PLBartConfig,
    PLBartForConditionalGeneration,
)
from transformers.models.fsmt import modeling_fsmt
from transformers.utils import logging

SOURCE_LENGTHS = [1, 2, 3, 5, 8, 13, 17, 4]  # with the closing eos
TARGET_LENGTHS = [6, 1, 13, 3, 2, 8, 4, 5]
DEFAULT_MAX_LENGTH = 20  # for folders that set no max_length
TOLERANCE = 1e-4  # of the tests on logits, relative to the largest

BART = {
    "architectures": ["BartForConditionalGeneration"],
    "model_type": "bart",
    "is_encoder_decoder": True,
    "bos_token_id": 0,
    "pad_token_id": 1,
    "eos_token_id": 2,
    "decoder_start_token_id": 2,
    "forced_eos_token_id": 2,
}
LED = {
    "architectures": ["LEDForConditionalGeneration"],
    "model_type": "led",
    "is_encoder_decoder": True,
    "bos_token_id": 0,
    "pad_token_id": 1,
    "eos_token_id": 2,
    "decoder_start_token_id": 2,
}
MARIAN = {
    "architectures": ["MarianMTModel"],
    "model_type": "marian",
    "is_encoder_decoder": True,
    "eos_token_id": 0,
}


MBART = {
    "architectures": ["MBartForConditionalGeneration"],
    "model_type": "mbart",
    "is_encoder_decoder": True,
    "bos_token_id": 0,
    "pad_token_id": 1,
    "eos_token_id": 2,
}
M2M100 = {
    "architectures": ["M2M100ForConditionalGeneration"],
    "model_type": "m2m_100",
    "is_encoder_decoder": True,
    "bos_token_id": 0,
    "pad_token_id": 1,
    "eos_token_id": 2,
    "decoder_start_token_id": 2,
}
BIGBIRD = {
    "architectures": ["BigBirdPegasusForConditionalGeneration"],
    "model_type": "bigbird_pegasus",
    "is_encoder_decoder": True,
    "bos_token_id": 2,
    "pad_token_id": 0,
    "eos_token_id": 1,
    "decoder_start_token_id": 2,
}
BLENDERBOT = {
    "architectures": ["BlenderbotForConditionalGeneration"],
    "model_type": "blenderbot",
    "is_encoder_decoder": True,
    "bos_token_id": 1,
    "pad_token_id": 0,
    "eos_token_id": 2,
    "decoder_start_token_id": 1,
}
SMALL = BLENDERBOT | {
    "architectures": ["BlenderbotSmallForConditionalGeneration"],
    "model_type": "blenderbot-small",
}
FSMT = {
    "architectures": ["FSMTForConditionalGeneration"],
    "model_type": "fsmt",
    "is_encoder_decoder": True,
    "bos_token_id": 0,
    "pad_token_id": 1,
    "eos_token_id": 2,
    "decoder_start_token_id": 2,
}
PLBART = {
    "architectures": ["PLBartForConditionalGeneration"],
    "model_type": "plbart",
    "is_encoder_decoder": True,
    "bos_token_id": 0,
    "pad_token_id": 1,
    "eos_token_id": 2,
}
PEGASUS = {
    "architectures": ["PegasusForConditionalGeneration"],
    "model_type": "pegasus",
    "is_encoder_decoder": True,
    "pad_token_id": 0,
    "eos_token_id": 1,
    "decoder_start_token_id": 0,
}


def shape(d, layers, heads, ffn, vocabulary, positions, activation, scale):
    """The keys every model has; pairs are (encoder, decoder)."""
    return {
        "d_model": d,
        "encoder_layers": layers[0],
        "decoder_layers": layers[1],
        "encoder_attention_heads": heads[0],
        "decoder_attention_heads": heads[1],
        "encoder_ffn_dim": ffn[0],
        "decoder_ffn_dim": ffn[1],
        "vocab_size": vocabulary,
        "max_position_embeddings": positions,
        "activation_function": activation,
        "scale_embedding": scale,
    }


def unscaled(d, layers, heads, ffn, vocabulary, positions):
    """Likewise, with the scale and the activation that the class has."""
    keys = shape(d, layers, heads, ffn, vocabulary, positions, None, None)
    return {key: value for key, value in keys.items() if value is not None}


def led_shape(d, layers, heads, ffn, vocabulary, positions, window, activation):
    """Likewise, of an LED; the positions are a pair, too."""
    keys = shape(d, layers, heads, ffn, vocabulary, 0, activation, False)
    del keys["max_position_embeddings"], keys["scale_embedding"]
    return keys | {
        "max_encoder_position_embeddings": positions[0],
        "max_decoder_position_embeddings": positions[1],
        "attention_window": window,
    }


# name: config.json, the accepted seed unless it is 0, and where it applies
# `generation` (generation_config.json), `dtype` (of the file), `ban` (lengths
# of the bad words to look for), `embeddings` (factor on their width), `sources`
# (lengths), `global` (positions of LED's global tokens, by default the first),
# `pads` (sources have padding inside), `learned` (the file has positions where the class would compute them), `least`
# (a min_length above max_length, for least.ids), `beams` (four beams, too).
MODELS = {
    "bart-one-layer": {
        "config": BART
        | shape(16, (1, 1), (2, 1), (37, 52), 61, 24, "relu", False),
    },
    # Three embedding tables, and every rule of generation in config.json. The
    # tables are so small that the epsilon of the first norm shows.
    "bart-untied": {
        "embeddings": 0.02,
        "config": BART
        | shape(48, (3, 1), (1, 6), (100, 37), 97, 40, "gelu_new", True)
        | {
            "tie_word_embeddings": False,
            "forced_bos_token_id": 5,
            "min_length": 10,
            "max_length": 16,
        },
        "ban": [1, 2, 3],
    },
    # Every value of config.json about generation is contradicted.
    "bart-generation-config": {
        "seed": 1,
        "config": BART
        | shape(80, (1, 3), (5, 2), (52, 36), 83, 32, "silu", False)
        | {
            "decoder_start_token_id": 0,
            "forced_bos_token_id": 5,
            "bad_words_ids": [[6], [7], [8]],
            "min_length": 3,
            "max_length": 9,
        },
        "generation": {
            "bos_token_id": 0,
            "pad_token_id": 1,
            "eos_token_id": [2, 11],
            "decoder_start_token_id": 2,
            "max_length": 14,
        },
        "ban": [1, 2],
        "dtype": torch.bfloat16,
    },
    # Source and output reach the last learned position.
    "bart-float16": {
        "seed": 13,
        "config": BART
        | shape(24, (3, 2), (3, 1), (100, 60), 67, 17, "quick_gelu", False)
        | {"max_length": 18, "forced_eos_token_id": None},
        "dtype": torch.float16,
    },
    # The meaning that normalize_before and add_final_layer_norm had for Bart in
    # transformers 3 lives on as MBart, which is the oracle here.
    "bart-pre-norm": {
        "seed": 11,
        "config": BART
        | shape(32, (2, 1), (4, 2), (44, 100), 71, 30, "gelu", True)
        | {
            "normalize_before": True,
            "add_final_layer_norm": True,
            "max_length": 12,
        },
    },
    # What the converted OPUS models look like: keys without effect, pad as the
    # start token and as bad word, forced_eos_token_id only by default.
    "marian-opus": {
        "seed": 29,
        "config": MARIAN
        | shape(24, (3, 1), (3, 1), (52, 100), 61, 512, "swish", True)
        | {
            "add_bias_logits": False,
            "add_final_layer_norm": False,
            "bad_words_ids": [[60]],
            "bos_token_id": 0,
            "decoder_start_token_id": 60,
            "max_length": 13,
            "normalize_before": False,
            "normalize_embedding": False,
            "num_beams": 4,
            "num_hidden_layers": 3,
            "pad_token_id": 60,
            "static_position_embeddings": True,
        },
    },
    # MarianMTModel takes the positions of the file, which are learned here. Most
    # lines that may not end before the limit differ.
    "marian-learned": {
        "seed": 1,
        "config": MARIAN
        | shape(16, (1, 1), (2, 2), (20, 28), 41, 24, "relu", True)
        | {
            "decoder_start_token_id": 40,
            "max_length": 12,
            "pad_token_id": 40,
            "static_position_embeddings": False,
        },
        "learned": True,
        "least": 30,
    },
    # No length is a multiple of the window, and some are shorter than it.
    "led-one-layer": {
        "config": LED
        | led_shape(16, (1, 1), (2, 1), (37, 52), 61, (128, 24), 8, "relu"),
        "sources": [1, 2, 7, 9, 40, 65, 97, 13],
        "global": [],
    },
    # Windows differ by layer; global tokens in the middle of a line, and behind
    # the ends of most.
    "led-windows": {
        "config": LED
        | led_shape(
            24, (3, 1), (3, 2), (52, 36), 83, (256, 20), [8, 64, 32], "gelu"
        )
        | {"max_length": 14, "num_hidden_layers": 3},
        "sources": [1, 5, 6, 31, 33, 64, 130, 201],
        "global": [0, 5, 63, 64, 150],
    },
    # A head of its own; source and output reach the last learned position.
    # Embeddings are small, see bart-untied.
    "led-untied": {
        "embeddings": 0.02,
        "config": LED
        | led_shape(
            32, (2, 2), (4, 2), (44, 60), 71, (96, 13), [16, 48], "gelu_new"
        )
        | {"max_length": 14, "tie_word_embeddings": False, "min_length": 5},
        "sources": [1, 3, 12, 17, 49, 50, 95, 96],
    },
    "led-generation-config": {
        "config": LED
        | led_shape(
            40, (2, 3), (5, 1), (36, 76), 67, (128, 32), [12, 36], "silu"
        )
        | {"decoder_start_token_id": 0, "max_length": 9},
        "generation": {
            "bos_token_id": 0,
            "pad_token_id": 1,
            "eos_token_id": [2, 11],
            "decoder_start_token_id": 2,
            "forced_eos_token_id": 2,
            "max_length": 14,
        },
        "dtype": torch.bfloat16,
        "sources": [1, 2, 11, 14, 27, 58, 83, 101],
        "global": [1, 2, 3, 50, 51, 80],
    },
    # A language starts the decoder and another is forced, as in mBART-50; fields
    # that an old file has, which say what the class does anyway.
    "mbart": {
        "seed": 25,
        "config": MBART
        | shape(32, (2, 2), (4, 2), (44, 60), 67, 21, "gelu", True)
        | {
            "add_bias_logits": False,
            "add_final_layer_norm": True,
            "decoder_start_token_id": 64,
            "forced_bos_token_id": 65,
            "max_length": 13,
            "normalize_before": True,
            "normalize_embedding": True,
            "static_position_embeddings": False,
        },
    },
    "mbart-untied": {
        "config": MBART
        | shape(24, (1, 3), (3, 1), (52, 36), 71, 30, "relu", False)
        | {
            "decoder_start_token_id": 3,
            "max_length": 12,
            "tie_word_embeddings": False,
        },
        "embeddings": 0.5,
    },
    # Scale and activation are the class's. The source reaches the last position.
    "m2m100": {
        "config": M2M100
        | {
            key: value
            for key, value in shape(
                32, (2, 2), (4, 2), (44, 60), 67, 17, "", None
            ).items()
            if value not in ("", None)
        }
        | {"forced_bos_token_id": 65, "max_length": 13},
        "pads": True,
    },
    # The depths of SMaLL-100, another id of padding, an output of its own.
    "m2m100-untied": {
        "config": M2M100
        | shape(24, (4, 1), (3, 1), (52, 36), 71, 30, "gelu", False)
        | {"pad_token_id": 7, "tie_word_embeddings": False},
        "pads": True,
        "dtype": torch.bfloat16,
        "generation": {
            "bos_token_id": 0,
            "decoder_start_token_id": 3,
            "eos_token_id": [2, 9],
            "max_length": 12,
            "pad_token_id": 7,
        },
    },
    "pegasus": {
        "seed": 7,
        "config": PEGASUS
        | shape(40, (2, 2), (5, 2), (76, 36), 83, 64, "relu", True)
        | {
            "add_final_layer_norm": True,
            "extra_pos_embeddings": 1,
            "length_penalty": 0.6,
            "max_length": 14,
            "normalize_before": True,
            "normalize_embedding": False,
            "num_beams": 8,
            "static_position_embeddings": True,
        },
    },
    # Scale and activation are the class's, a language starts the decoder.
    "plbart": {
        "config": PLBART
        | unscaled(24, (2, 1), (3, 2), (52, 36), 67, 19)
        | {"decoder_start_token_id": 64, "max_length": 13},
        "beams": True,
    },
    # Fields of the published models; source and output reach the last position.
    "blenderbot": {
        "seed": 6,
        "config": BLENDERBOT
        | shape(32, (1, 3), (4, 2), (44, 60), 71, 17, "gelu", True)
        | {
            "add_bias_logits": False,
            "add_final_layer_norm": True,
            "encoder_no_repeat_ngram_size": 0,
            "extra_layer_norm": False,
            "extra_pos_embeddings": 0,
            "layernorm_variant": "prelayernorm",
            "length_penalty": 0.65,
            "max_length": 16,
            "min_length": 4,
            "no_repeat_ngram_size": 3,
            "num_beams": 3,
            "normalize_before": True,
            "normalize_embedding": False,
            "static_position_embeddings": False,
            "unk_token_id": 3,
        },
        "beams": True,
    },
    # The decoder's positions stand behind the norm of its embeddings.
    "blenderbot-small": {
        "seed": 1,
        "config": SMALL
        | shape(40, (2, 2), (5, 1), (76, 36), 61, 24, "relu", False)
        | {
            "do_blenderbot_90_layernorm": True,
            "eos_token_id": [2, 5, 9, 14, 20, 33],
            "no_repeat_ngram_size": 2,
            "layernorm_variant": "xlm",
            "max_length": 14,
        },
        "dtype": torch.bfloat16,
        "beams": True,
    },
    # Two vocabularies; padding inside sources; beams and length are the class's.
    # Tables of positions are in the file, and are no sinusoids.
    "fsmt": {
        "seed": 10,
        "config": FSMT
        | unscaled(32, (2, 2), (4, 2), (44, 60), None, 30)
        | {
            "decoder": {"model_type": "fsmt_decoder", "vocab_size": 47},
            "eos_token_id": [2, 5, 9, 14],
            "no_repeat_ngram_size": 2,
            "langs": ["en", "ru"],
            "src_vocab_size": 61,
            "tgt_vocab_size": 47,
            "max_length": 14,
        },
        "pads": True,
        "learned": True,
        "beams": True,
    },
    # One table for all, another id of padding, positions by formula.
    "fsmt-tied": {
        "seed": 12,
        "config": FSMT
        | unscaled(24, (3, 1), (3, 1), (52, 36), None, 17)
        | {
            "activation_function": "gelu",
            "pad_token_id": 7,
            "scale_embedding": False,
            "src_vocab_size": 53,
            "tgt_vocab_size": 53,
            "tie_word_embeddings": True,
        },
        "generation": {
            "bos_token_id": 0,
            "decoder_start_token_id": 2,
            "eos_token_id": [2, 9, 5, 14],
            "no_repeat_ngram_size": 2,
            "max_length": 15,
            "pad_token_id": 7,
        },
        "pads": True,
    },
    # A source is as long as attention is full: (5 + 2 * 1) * 4.
    "bigbird-pegasus": {
        "config": BIGBIRD
        | unscaled(32, (2, 2), (4, 2), (44, 60), 67, 64)
        | {
            "block_size": 4,
            "eos_token_id": [1, 5, 9, 14],
            "no_repeat_ngram_size": 2,
            "max_length": 14,
            "num_random_blocks": 1,
        },
        "sources": [1, 2, 4, 9, 16, 23, 28, 5],
        "beams": True,
    },
    # Biases in attention, and full attention whatever the length.
    "bigbird-pegasus-full": {
        "seed": 1,
        "config": BIGBIRD
        | shape(24, (1, 2), (3, 1), (52, 36), 71, 96, "relu", False)
        | {
            "attention_type": "original_full",
            "block_size": 4,
            "eos_token_id": [1, 5, 9, 14],
            "no_repeat_ngram_size": 2,
            "max_length": 12,
            "num_random_blocks": 1,
            "use_bias": True,
        },
        "sources": [1, 3, 12, 28, 29, 50, 95, 96],
    },
    "marian-two-vocabularies": {
        "seed": 23,
        "config": MARIAN
        | shape(40, (1, 2), (1, 5), (37, 76), 61, 64, "relu", False)
        | {
            "decoder_start_token_id": 46,
            "decoder_vocab_size": 47,
            "max_length": 10,
            "pad_token_id": 46,
            "share_encoder_decoder_embeddings": False,
            "tie_word_embeddings": False,
        },
    },
    "marian-separate-embeddings": {
        "seed": 4,
        "config": MARIAN
        | shape(32, (5, 1), (2, 4), (20, 52), 73, 64, "gelu", True)
        | {
            "decoder_start_token_id": 72,
            "pad_token_id": 72,
            "share_encoder_decoder_embeddings": False,
        },
        "generation": {
            "bad_words_ids": [[72]],
            "decoder_start_token_id": 72,
            "eos_token_id": 0,
            "forced_eos_token_id": 0,
            "max_length": 15,
            "min_length": 4,
            "pad_token_id": 72,
        },
    },
    "marian-untied-head": {
        "seed": 17,
        "config": MARIAN
        | shape(16, (1, 5), (1, 2), (100, 37), 53, 64, "tanh", False)
        | {
            "decoder_start_token_id": 52,
            "eos_token_id": [0, 7],
            "forced_eos_token_id": 0,
            "pad_token_id": 52,
            "tie_word_embeddings": False,
        },
    },
}


# Those whose class scales embeddings by default.
SCALED = ("bigbird_pegasus", "fsmt", "m2m_100", "plbart")


def vocabularies(config):
    """How many ids the source and the target have."""
    size = config.get("src_vocab_size") or config["vocab_size"]
    target = config.get("decoder_vocab_size") or config.get("tgt_vocab_size")
    return size, target or size


def classes(config):
    """The configuration class and the model class of the oracle."""
    if config["model_type"] == "bart" and config.get("normalize_before"):
        return MBartConfig, MBartForConditionalGeneration
    return {
        "bart": (BartConfig, BartForConditionalGeneration),
        "bigbird_pegasus": (
            BigBirdPegasusConfig,
            BigBirdPegasusForConditionalGeneration,
        ),
        "blenderbot": (BlenderbotConfig, BlenderbotForConditionalGeneration),
        "blenderbot-small": (
            BlenderbotSmallConfig,
            BlenderbotSmallForConditionalGeneration,
        ),
        "fsmt": (FSMTConfig, FSMTForConditionalGeneration),
        "led": (LEDConfig, LEDForConditionalGeneration),
        "m2m_100": (M2M100Config, M2M100ForConditionalGeneration),
        "marian": (MarianConfig, MarianMTModel),
        "mbart": (MBartConfig, MBartForConditionalGeneration),
        "pegasus": (PegasusConfig, PegasusForConditionalGeneration),
        "plbart": (PLBartConfig, PLBartForConditionalGeneration),
    }[config["model_type"]]


def oracle_config(config):
    keys = {k: v for k, v in config.items() if k != "model_type"}
    return classes(config)[0](**keys)


def draw(name, shape, rng, spec):
    """One tensor, as wide as keeps sums over its inputs at order one or two."""
    values = rng.standard_normal(shape)
    if "norm" in name:
        return (1.0 if name.endswith("weight") else 0.2) * values
    if name.endswith("bias"):
        return 0.2 * values
    if "embed_positions" in name:
        return 0.5 * spec.get("embeddings", 1.0) * values
    if "embed_tokens" in name or "shared" in name:
        config = spec["config"]
        by_default = config.get("model_type") in SCALED
        scaled = config.get("scale_embedding", by_default)  # by sqrt(d)
        std = 2.0 / shape[1] ** 0.5 if scaled else 2.0
        return std * spec.get("embeddings", 1.0) * values
    parts = ("q_proj", "k_proj", "query", "key", "fc1", "lm_head")
    sharp = any(part in name for part in parts)
    return (2.0 if sharp else 0.8) * values / shape[1] ** 0.5


def write_weights(folder, spec, seed):
    """Draws the tensors in name order and saves them as transformers does."""
    config, dtype = spec["config"], spec.get("dtype", torch.float32)
    model = classes(config)[1](oracle_config(config))
    rng = np.random.Generator(np.random.PCG64(seed))
    tensors = dict(model.named_parameters()) | dict(model.named_buffers())
    bart = config["model_type"] in ("bart", "m2m_100", "mbart")
    computed = config["model_type"] in ("fsmt", "m2m_100", "marian", "pegasus")
    learned = not computed or spec.get("learned")
    with torch.no_grad():
        for name, tensor in sorted(tensors.items()):
            if learned or "embed_positions" not in name:
                values = draw(name, tuple(tensor.shape), rng, spec)
                tensor.copy_(torch.from_numpy(values))
    model.to(dtype)
    with tempfile.TemporaryDirectory() as scratch:
        model.save_pretrained(scratch)
        saved = load_file(f"{scratch}/model.safetensors")
    if computed and learned:
        # transformers leaves them out.
        positions = (n for n in tensors if n.endswith("embed_positions.weight"))
        saved |= {name: tensors[name].data.clone() for name in positions}
    if config["model_type"] == "fsmt" and not learned:
        # Published files, of transformers 3, lack them.
        saved = {k: v for k, v in saved.items() if "embed_positions" not in k}
    if bart and not config.get("tie_word_embeddings", True):
        # transformers saves one table where it reads two.
        rows = saved.pop("model.shared.weight")
        for side in ("encoder", "decoder"):
            name = f"model.{side}.embed_tokens.weight"
            values = draw(name, tuple(rows.shape), rng, spec)
            saved[name] = torch.from_numpy(values).to(dtype)
    save_file(saved, folder / "model.safetensors", metadata={"format": "pt"})


def softmax(scores, dim, dtype=None):
    """LED's encoder asks for float32 where everything else is float64."""
    return torch.softmax(scores, dim)


def fill_with_lowest(tensor):
    """FSMT puts the lowest number of the type into a tensor of float32."""
    return tensor.fill_(torch.finfo(torch.float32).min)


def whole_target(target, encoder_outputs, attention_mask, **options):
    """What generate() passes to FSMT. By itself 4.57.6 generates nonsense: with
    a cache it passes the last token alone, which then has the first position,
    and without one no ids, and there is no causal mask."""
    return {
        "input_ids": target,  # only asked whether it is there
        "decoder_input_ids": target,
        "encoder_outputs": encoder_outputs,
        "attention_mask": attention_mask,
        "use_cache": False,
    }


def load(folder, spec, config):
    """The oracle in float64; nothing in it may come from an initialisation."""
    model, report = classes(config)[1].from_pretrained(
        folder,
        config=oracle_config(config),
        dtype=torch.float32,
        attn_implementation="eager",
        output_loading_info=True,
    )
    # Files hold no sinusoids, and nothing reads `shared` of an untied Bart.
    expected = ("embed_positions.weight", "model.shared.weight")
    absent = report.pop("missing_keys")
    missing = [k for k in absent if not k.endswith(expected)]
    assert not missing and not any(report.values()), (folder, missing, report)
    if config["model_type"] == "fsmt":
        modeling_fsmt.fill_with_neg_inf = fill_with_lowest
        model.prepare_inputs_for_generation = whole_target
    if config["model_type"] == "led":
        torch.nn.functional.softmax = softmax
        torch.set_default_dtype(torch.float64)  # of its causal mask
        model.global_tokens = spec.get("global", [0])
    return model.double().eval()


def inputs_of(model, source):
    """The arguments of the encoder."""
    inputs = {"input_ids": torch.tensor([source])}
    if model.config.model_type in ("fsmt", "m2m_100"):
        # generate() would mask padding.
        inputs["attention_mask"] = torch.ones(1, len(source)).long()
    if model.config.model_type == "led":
        places = [p for p in model.global_tokens if p < len(source)]
        inputs["global_attention_mask"] = torch.zeros(1, len(source)).long()
        inputs["global_attention_mask"][0, places] = 1
    return inputs


def greedy(model, sources, **options):
    """Ids without the start token, and the smallest top-2 margin."""
    rows, margin = [], np.inf
    for source in sources:
        result = model.generate(
            **inputs_of(model, source),
            num_beams=1,
            do_sample=False,
            output_scores=True,
            return_dict_in_generate=True,
            **options,
        )
        rows.append(result.sequences[0, 1:].tolist())
        for scores in result.scores:
            top = torch.topk(scores[0], 2).values
            margin = min(margin, float(top[0] - top[1]))
    return rows, margin


def four_beams(model, sources, eos, **options):
    """All four hypotheses of each source and their scores; None if two of them
    are too close for float32."""
    lines = []
    for source in sources:
        result = model.generate(
            **inputs_of(model, source),
            num_beams=4,
            num_return_sequences=4,
            do_sample=False,
            output_scores=True,
            return_dict_in_generate=True,
            **options,
        )
        rows = []
        for row in result.sequences[:, 1:].tolist():
            ends = [i for i, token in enumerate(row) if token in eos]
            rows.append(row[: ends[0] + 1] if ends else row)
        scores = result.sequences_scores.tolist()
        if min(a - b for a, b in zip(scores, scores[1:])) < 1e-3:
            return None
        lines.append({"ids": rows, "scores": scores})
    return lines


def teacher_forced(model, sources, targets):
    """logits[r, k] follows the start token and the first k target tokens."""
    start = model.generation_config.decoder_start_token_id
    bias = getattr(model, "final_logits_bias", None)
    vocabulary = vocabularies(model.config.to_dict())[1]
    vocabulary = vocabulary if bias is None else bias.shape[1]
    shape = (len(sources), max(map(len, targets)), vocabulary)
    logits = np.full(shape, np.nan, np.float32)
    with torch.no_grad():
        for row, source, target in zip(logits, sources, targets):
            result = model(
                **inputs_of(model, source),
                decoder_input_ids=torch.tensor([[start] + target[:-1]]),
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
            result = model.get_encoder()(**inputs_of(model, source))
            row[: len(source)] = result.last_hidden_state[0].float().numpy()
    return hidden


def words_to_ban(model, sources, lengths, eos):
    """For each length the most frequent word of greedy output so far."""
    words = []
    for length in lengths:
        count = {}
        for row in greedy(model, sources)[0]:
            for k in range(1, len(row) - length + 1):
                word = tuple(row[k : k + length])
                if not set(word) & set(eos):
                    count[word] = count.get(word, 0) + 1
        if not count:
            return None
        words.append(list(max(sorted(count), key=count.get)))
        model.generation_config.bad_words_ids = words
    return words


def every_word_matters(model, sources, words):
    full = greedy(model, sources)[0]
    rest = ([w for w in words if w is not word] for word in words)
    return all(greedy(model, sources, bad_words_ids=r)[0] != full for r in rest)


def accept(rows, margin, logits, limit, limited=2):
    """Unambiguous, varied, and stopped by eos as well as by the limit."""
    lengths = [len(row) for row in rows]
    return (
        # Logits within the tests' tolerance then give the same tokens.
        margin > 2 * TOLERANCE * np.nanmax(np.abs(logits))
        and len(set(map(tuple, rows))) >= 6
        and len({i for row in rows for i in row}) >= 8
        and min(lengths) < limit
        and lengths.count(limit) >= limited
    )


def write_json(path, value):
    path.write_text(json.dumps(value, indent=2, sort_keys=True) + "\n")


def write_ids(path, rows):
    path.write_text("".join(" ".join(map(str, row)) + "\n" for row in rows))


def make(folder, spec, seed):
    """Writes one model with its goldens; False if the seed does not serve."""
    config, generation = spec["config"], spec.get("generation")
    torch.set_default_dtype(torch.float32)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    write_json(folder / "config.json", config)
    write_weights(folder, spec, seed)
    if generation:
        write_json(folder / "generation_config.json", generation)
    governing = dict(generation or config)
    eos = governing["eos_token_id"]
    eos = eos if isinstance(eos, list) else [eos]

    rng = np.random.Generator(np.random.PCG64(seed + 1_000_000))
    special = {*eos, config["pad_token_id"]}  # generate() masks pad
    inputs, outputs = vocabularies(config)
    ids = [i for i in range(min(inputs, outputs)) if i not in special]
    lengths = spec.get("sources", SOURCE_LENGTHS)
    sources = [[*rng.choice(ids, n - 1), eos[0]] for n in lengths]
    targets = [rng.integers(0, outputs, n).tolist() for n in TARGET_LENGTHS]
    if spec.get("pads"):
        # Of a target the class counts padding otherwise in steps than at once.
        targets = [rng.choice(ids, n).tolist() for n in TARGET_LENGTHS]
        for source in sources:
            for k in range(1, len(source) - 1, 4):
                source[k] = config["pad_token_id"]

    if spec.get("ban"):
        words = words_to_ban(load(folder, spec, config), sources, spec["ban"], eos)
        if not words:
            return False
        governing["bad_words_ids"] = words
        which = "generation_config.json" if generation else "config.json"
        write_json(folder / which, governing)
        config = config if generation else governing

    model = load(folder, spec, config)
    limited = "max_length" in governing
    options = {} if limited else {"max_new_tokens": DEFAULT_MAX_LENGTH}
    rows, margin = greedy(model, sources, **options)
    limit = governing["max_length"] - 1 if limited else DEFAULT_MAX_LENGTH
    logits = teacher_forced(model, sources, targets)
    if not accept(rows, margin, logits, limit):
        return False
    if spec.get("ban") and not every_word_matters(model, sources, words):
        return False

    if not limited:
        (folder / "max-length").write_text(f"{DEFAULT_MAX_LENGTH}\n")
    if "global" in spec:
        tokens = ",".join(map(str, spec["global"])) or "none"
        (folder / "global").write_text(tokens + "\n")
    write_ids(folder / "inputs.ids", sources)
    write_ids(folder / "teacher.ids", targets)
    write_ids(folder / "greedy.ids", rows)
    if "least" in spec:
        least = greedy(model, sources, min_length=spec["least"])[0]
        write_ids(folder / "least.ids", least)
    if spec.get("beams"):
        lines = four_beams(model, sources, eos, **options)
        if lines is None:
            return False
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (folder / "beams.jsonl").write_text(text)
    np.save(folder / "logits.npy", logits)
    np.save(folder / "hidden.npy", encoded(model, sources))
    print(f"{folder.name}: seed {seed}, smallest greedy margin {margin:.4f}")
    return True


def main():
    logging.set_verbosity_error()
    torch.set_num_threads(1)
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--folder", default=pathlib.Path(__file__).parent)
    arguments.add_argument("names", nargs="*", default=list(MODELS))
    options = arguments.parse_args()
    for name in options.names:
        spec, folder = MODELS[name], pathlib.Path(options.folder, name)
        seeds = itertools.count(spec.get("seed", 0))
        next(seed for seed in seeds if make(folder, spec, seed))


if __name__ == "__main__":
    main()
