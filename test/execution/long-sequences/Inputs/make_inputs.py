"""Makes the weights of encoder.mlir, and lines of 40 tokens, again and again.

usage: make_inputs.py FOLDER
"""

import json
import pathlib
import struct
import sys

import numpy as np

VOCABULARY, WIDTH, HIDDEN = 40, 32, 96
folder = pathlib.Path(sys.argv[1])
draw = np.random.default_rng(7)

header, data = {}, b""
for name, shape in {
    "table": (VOCABULARY, WIDTH),
    "query": (WIDTH, WIDTH),
    "key": (WIDTH, WIDTH),
    "value": (WIDTH, WIDTH),
    "out": (WIDTH, WIDTH),
    "up": (WIDTH, HIDDEN),
    "down": (HIDDEN, WIDTH),
    "bias": (WIDTH,),
    "long": (HIDDEN,),
    "scale": (WIDTH,),
}.items():
    values = draw.normal(0, 1 / np.sqrt(shape[0]), shape).astype(np.float32)
    place = [len(data), len(data) + values.nbytes]
    header[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": place}
    data += values.tobytes()
text = json.dumps(header).encode()
(folder / "weights.safetensors").write_bytes(
    struct.pack("<Q", len(text)) + text + data
)

# Off the ends of chunks: of 2,048 rows two to four.
for name, lengths in {
    "short": [40],
    "long": [5003],
    "ragged": [2111, 40, 4096],
}.items():
    (folder / name).write_text(
        "".join(
            " ".join(str(i % VOCABULARY) for i in range(length)) + "\n"
            for length in lengths
        )
    )
