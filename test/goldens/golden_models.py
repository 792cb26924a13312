"""The configurations of make_goldens.py: each model has a shape of its own, so that
nothing but a faithful reading of its config.json gives its logits.
"""

import torch

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
# `pads` (sources have padding inside), `learned` (the file has positions where
# the class would compute them), `least` (a min_length above max_length, for
# least.ids), `beams` (four beams, too).
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
