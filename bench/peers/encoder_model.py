"""Writes to FOLDER a model with seeded random weights, as a Hugging Face folder, and
for each of SHAPES, as 8x512, a batch of ids and what torch makes of it in float32.
MODEL is bart, whose encoder has the shape of BART's (width 768, 12 heads, 3072 hidden
values, gelu) in 12 layers and is written as ONNX, too, in float32 and with dynamically
quantised int8 weights; or longformer, two such layers with windows of 512 and a small
vocabulary. Does what is not there yet. usage: PYTHON THIS FOLDER MODEL SHAPE..."""

import pathlib
import sys

import numpy as np
import torch
from transformers import AutoModel, BartConfig, BartForConditionalGeneration
from transformers import LongformerConfig, LongformerModel

folder, name, shapes = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3:]


def new_bart():
    # The decoder is as small as it may be: only the encoder runs.
    config = BartConfig(
        d_model=768,
        encoder_layers=12,
        encoder_attention_heads=12,
        encoder_ffn_dim=3072,
        decoder_layers=1,
        decoder_attention_heads=12,
        decoder_ffn_dim=768,
        activation_function="gelu",
    )
    return BartForConditionalGeneration(config)


def new_longformer():
    config = LongformerConfig(
        vocab_size=1000,
        hidden_size=768,
        num_hidden_layers=2,
        num_attention_heads=12,
        intermediate_size=3072,
        attention_window=512,
        max_position_embeddings=16384 + 2,
        type_vocab_size=1,
        bos_token_id=0,
        pad_token_id=1,
        eos_token_id=2,
    )
    model = LongformerModel(config, add_pooling_layer=False)
    # There is one type of token: bench/longformer.mlir leaves it out.
    torch.nn.init.zeros_(model.embeddings.token_type_embeddings.weight)
    return model


if not (folder / "model").exists():
    torch.manual_seed(0)
    model = new_bart() if name == "bart" else new_longformer()
    model.save_pretrained(folder / "unfinished")
    (folder / "unfinished").rename(folder / "model")
model = AutoModel.from_pretrained(folder / "model").eval()


class Encoder(torch.nn.Module):
    """Named outputs are more than ONNX needs."""

    def __init__(self):
        super().__init__()
        self.encoder = model.get_encoder() if name == "bart" else model

    def forward(self, ids, mask):
        return self.encoder(input_ids=ids, attention_mask=mask).last_hidden_state


encoder = Encoder().eval()
if name == "bart" and not (folder / "int8.onnx").exists():
    from onnxruntime.quantization import QuantType, quantize_dynamic

    example = torch.full((2, 16), 7, dtype=torch.long)
    axes = {0: "batch", 1: "source"}
    torch.onnx.export(
        encoder,
        (example, torch.ones_like(example)),
        folder / "float32.onnx",
        input_names=["ids", "mask"],
        output_names=["hidden"],
        dynamic_axes={"ids": axes, "mask": axes, "hidden": axes},
        opset_version=17,
        dynamo=False,
    )
    quantize_dynamic(
        folder / "float32.onnx", folder / "int8.onnx", weight_type=QuantType.QInt8
    )

for shape in shapes:
    batch, length = map(int, shape.split("x"))
    if (folder / f"{shape}.npy").exists():
        continue
    # Past the special tokens, the first of which is padding.
    draws = torch.Generator().manual_seed(length)
    ids = torch.randint(
        4, model.config.vocab_size, (batch, length), generator=draws
    )
    lines = (" ".join(map(str, row)) + "\n" for row in ids.tolist())
    (folder / f"{shape}.ids").write_text("".join(lines))
    with torch.inference_mode():
        hidden = encoder(ids, torch.ones_like(ids))
    np.save(folder / f"{shape}.npy", hidden.numpy())
