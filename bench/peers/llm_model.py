"""Writes to FOLDER what bench/llm measures: `model`, a link to the Hugging Face folder
SOURCE of a Llama, or one of a SHAPE with random weights, and the same weights for
llama.cpp (bf16.gguf, q8_0.gguf) and, in int8, for CTranslate2 (`ctranslate2`). Does what
is not there yet. usage: PYTHON THIS FOLDER SOURCE|SHAPE ENGINE..."""

import pathlib
import shutil
import sys

import numpy as np
import torch
from safetensors import safe_open
from transformers import AutoConfig, LlamaConfig, LlamaForCausalLM

folder, source, engines = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
model = folder / "model"
SHAPES = {
    "smollm2-135m": LlamaConfig(
        vocab_size=49152,
        hidden_size=576,
        intermediate_size=1536,
        num_hidden_layers=30,
        num_attention_heads=9,
        num_key_value_heads=3,
        tie_word_embeddings=True,
        max_position_embeddings=8192,
    ),
    # Without the biases of queries, keys and values.
    "qwen2.5-0.5b": LlamaConfig(
        vocab_size=151936,
        hidden_size=896,
        intermediate_size=4864,
        num_hidden_layers=24,
        num_attention_heads=14,
        num_key_value_heads=2,
        tie_word_embeddings=True,
        max_position_embeddings=32768,
    ),
    "tinyllama-1.1b": LlamaConfig(
        vocab_size=32000,
        hidden_size=2048,
        intermediate_size=5632,
        num_hidden_layers=22,
        num_attention_heads=32,
        num_key_value_heads=4,
        tie_word_embeddings=False,
        max_position_embeddings=8192,
    ),
}


def draw_model():
    """A word for each id stands in for a tokenizer, which CTranslate2 asks for."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    config = SHAPES[source]
    torch.manual_seed(0)
    unfinished = folder / "unfinished"
    LlamaForCausalLM(config).to(torch.bfloat16).save_pretrained(unfinished)
    words = {f"w{i}": i for i in range(config.vocab_size)}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="w0"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, unk_token="w0", bos_token="w1", eos_token="w2"
    ).save_pretrained(unfinished)
    unfinished.rename(model)


def permuted(weight, heads):
    """Rows of queries or keys as llama.cpp rotates them: pairs side by side."""
    rows, columns = weight.shape
    halves = weight.reshape(heads, 2, rows // heads // 2, columns)
    return halves.swapaxes(1, 2).reshape(rows, columns)


# The names of Hugging Face's layers, and llama.cpp's.
LAYER = {
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}
TOP = {
    "model.embed_tokens.weight": "token_embd.weight",
    "model.norm.weight": "output_norm.weight",
    "lm_head.weight": "output.weight",
}


def gguf_name(name):
    if name in TOP:
        return TOP[name]
    number, layer = name.removeprefix("model.layers.").split(".", 1)
    return f"blk.{number}.{LAYER[layer.removesuffix('.weight')]}.weight"


def write_gguf(path, kind):
    import gguf

    config = AutoConfig.from_pretrained(model)
    heads = config.num_attention_heads
    theta = getattr(config, "rope_theta", 10000.0)
    unfinished = path.with_suffix(".unfinished")
    writer = gguf.GGUFWriter(unfinished, "llama")
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_dimension_count(config.hidden_size // heads)
    writer.add_rope_freq_base(theta)
    writer.add_vocab_size(config.vocab_size)
    writer.add_tokenizer_model("none")
    with safe_open(model / "model.safetensors", "pt") as weights:
        for name in weights.keys():
            value = weights.get_tensor(name).float().numpy()
            if "q_proj" in name:
                value = permuted(value, heads)
            if "k_proj" in name:
                value = permuted(value, config.num_key_value_heads)
            of = gguf.GGMLQuantizationType.F32 if value.ndim == 1 else kind
            value = np.ascontiguousarray(value)
            writer.add_tensor(
                gguf_name(name), gguf.quants.quantize(value, of), raw_dtype=of
            )
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    unfinished.rename(path)


folder.mkdir(parents=True, exist_ok=True)
if not model.exists():
    if source in SHAPES:
        draw_model()
    else:
        model.symlink_to(pathlib.Path(source).resolve())
for name in ("bf16", "q8_0"):
    path = folder / f"{name}.gguf"
    if f"llamacpp-{name}" in engines and not path.exists():
        import gguf

        write_gguf(path, gguf.GGMLQuantizationType[name.upper()])
if any(each.startswith("ctranslate2") for each in engines):
    if not (folder / "ctranslate2").exists():
        from ctranslate2.converters import TransformersConverter

        shutil.rmtree(folder / "unfinished", ignore_errors=True)
        TransformersConverter(str(model)).convert(
            str(folder / "unfinished"), quantization="int8"
        )
        (folder / "unfinished").rename(folder / "ctranslate2")
