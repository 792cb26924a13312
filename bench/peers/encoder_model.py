"""Writes to FOLDER a model whose encoder has the shape of BART's (width 768, 12
heads, 3072 hidden values, gelu) in 12 layers, with seeded random weights, as a
Hugging Face folder; its encoder as ONNX, in float32 and with dynamically
quantised int8 weights; and for each of SHAPES, as 8x512, a batch of ids and what
torch makes of it in float32. Does what is not there yet.
usage: PYTHON THIS FOLDER SHAPE..."""

import pathlib
import sys

import numpy as np
import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from transformers import BartConfig, BartForConditionalGeneration

folder, shapes = pathlib.Path(sys.argv[1]), sys.argv[2:]
if not (folder / "model").exists():
    torch.manual_seed(0)
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
    BartForConditionalGeneration(config).save_pretrained(folder / "unfinished")
    (folder / "unfinished").rename(folder / "model")
model = BartForConditionalGeneration.from_pretrained(folder / "model").eval()


class Encoder(torch.nn.Module):
    """Named outputs are more than ONNX needs."""

    def __init__(self):
        super().__init__()
        self.encoder = model.get_encoder()

    def forward(self, ids, mask):
        return self.encoder(input_ids=ids, attention_mask=mask).last_hidden_state


encoder = Encoder().eval()
if not (folder / "int8.onnx").exists():
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
    ids = torch.randint(4, 50000, (batch, length), generator=draws)
    lines = (" ".join(map(str, row)) + "\n" for row in ids.tolist())
    (folder / f"{shape}.ids").write_text("".join(lines))
    with torch.inference_mode():
        hidden = encoder(ids, torch.ones_like(ids))
    np.save(folder / f"{shape}.npy", hidden.numpy())
