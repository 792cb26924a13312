"""Writes to FOLDER what bench/embed measures: `model`, a link to the sentence-transformers
folder MODEL, or with a SHAPE (bert-base, deberta-v3-small, longformer-base) its tokenizer
and random weights of that shape; a BERT also as ONNX in float32 and with dynamically
quantised int8 weights, and for CTranslate2; and texts of words of LINES, which have about as many tokens as a
distribution says: uniform.txt (4 to 400), lognormal.txt (around 60) and short.txt (16).
Does what is not there yet. usage: PYTHON THIS FOLDER MODEL LINES [SHAPE]"""

import json
import pathlib
import shutil
import sys

import numpy as np
import torch
from transformers import (
    AutoModel,
    AutoTokenizer,
    BertConfig,
    DebertaV2Config,
    LongformerConfig,
)

folder, source, lines = map(pathlib.Path, sys.argv[1:4])
shape = sys.argv[4] if len(sys.argv) > 4 else None
model_folder = folder / "model"
TEXTS = {"uniform": 256, "lognormal": 256, "short": 64}
# With as many words as a BERT's tokenizer has, of which 0 is the padding.
SHAPES = {
    "bert-base": BertConfig(),
    "deberta-v3-small": DebertaV2Config(
        vocab_size=30522,
        hidden_size=768,
        intermediate_size=3072,
        num_attention_heads=12,
        num_hidden_layers=6,
        relative_attention=True,
        position_buckets=256,
        norm_rel_ebd="layer_norm",
        share_att_key=True,
        pos_att_type="p2c|c2p",
        position_biased_input=False,
    ),
    "longformer-base": LongformerConfig(
        attention_window=512, max_position_embeddings=4098, pad_token_id=0
    ),
}


def copy_tokenizer(into, width):
    """All of the folder but its network, for vectors of that width."""
    names = {"model.safetensors", "pytorch_model.bin", "config.json"}
    shutil.copytree(
        source, into, ignore=lambda at, _: names if pathlib.Path(at) == source else []
    )
    pooling = into / "1_Pooling" / "config.json"
    fields = json.loads(pooling.read_text()) | {"word_embedding_dimension": width}
    pooling.write_text(json.dumps(fields))


def draw_model():
    """A shape, seeded."""
    if shape not in SHAPES:
        sys.exit(f"embed_model.py: the shape '{shape}' is not {', '.join(SHAPES)}")
    unfinished = folder / "unfinished"
    copy_tokenizer(unfinished, SHAPES[shape].hidden_size)
    torch.manual_seed(0)
    AutoModel.from_config(SHAPES[shape]).save_pretrained(unfinished)
    unfinished.rename(model_folder)


class Embedder(torch.nn.Module):
    """The mean of hidden states, of length 1."""

    def __init__(self):
        super().__init__()
        self.encoder = AutoModel.from_pretrained(
            model_folder, attn_implementation="eager", add_pooling_layer=False
        )

    def forward(self, ids, mask):
        hidden = self.encoder(input_ids=ids, attention_mask=mask).last_hidden_state
        weights = mask.unsqueeze(-1).to(hidden.dtype)
        mean = (hidden * weights).sum(1) / weights.sum(1)
        return torch.nn.functional.normalize(mean, dim=1)


def write_onnx():
    from onnxruntime.quantization import QuantType, quantize_dynamic

    example = torch.full((2, 16), 7, dtype=torch.long)
    axes = {0: "batch", 1: "source"}
    torch.onnx.export(
        Embedder().eval(),
        (example, torch.ones_like(example)),
        folder / "float32.onnx",
        input_names=["ids", "mask"],
        output_names=["vectors"],
        dynamic_axes={"ids": axes, "mask": axes, "vectors": {0: "batch"}},
        opset_version=17,
        dynamo=False,
    )
    quantize_dynamic(
        folder / "float32.onnx", folder / "int8.onnx", weight_type=QuantType.QInt8
    )


def write_ctranslate2():
    import ctranslate2

    converter = ctranslate2.converters.TransformersConverter(str(model_folder))
    converter.convert(str(folder / "ctranslate2"))


def draw_texts():
    """Words of the lines, in their order, as many as give the tokens."""
    tokenizer = AutoTokenizer.from_pretrained(model_folder)
    words = lines.read_text(encoding="utf-8").split()
    sizes = [len(ids) for ids in tokenizer(words, add_special_tokens=False).input_ids]
    draw = np.random.default_rng(0)
    counts = {
        "uniform": draw.integers(4, 401, TEXTS["uniform"]),
        "lognormal": np.clip(draw.lognormal(np.log(60), 0.7, TEXTS["lognormal"]), 4, 400),
        "short": np.full(TEXTS["short"], 16),
    }
    at = 0
    for name, wanted in counts.items():
        texts = []
        for count in wanted:
            text, tokens = [], 2
            while tokens < count:
                text.append(words[at % len(words)])
                tokens += sizes[at % len(words)]
                at += 1
            texts.append(" ".join(text))
        (folder / f"{name}.txt").write_text("\n".join(texts) + "\n", encoding="utf-8")


folder.mkdir(parents=True, exist_ok=True)
if not model_folder.exists():
    if shape:
        draw_model()
    else:
        model_folder.symlink_to(source.resolve())
if shape in (None, "bert-base"):
    if not (folder / "int8.onnx").exists():
        write_onnx()
    if not (folder / "ctranslate2").exists():
        write_ctranslate2()
draw_texts()
