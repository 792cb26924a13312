"""Makes the weights, the sentences and the table of a chunked mask.

usage: make_inputs.py FOLDER

The table marks each pair of one chunk of 8 positions, written from that
sentence alone.
"""

import json
import pathlib
import random
import struct
import sys

import numpy as np

LONGEST, CHUNK, VOCABULARY, WIDTH = 150, 8, 29, 64
folder = pathlib.Path(sys.argv[1])
draw = np.random.default_rng(7)

header, data = {}, b""
for name, shape in {
    "table": (VOCABULARY, WIDTH),
    "query": (WIDTH, WIDTH),
    "key": (WIDTH, WIDTH),
    "value": (WIDTH, WIDTH),
    "head": (WIDTH, VOCABULARY),
}.items():
    values = draw.normal(0, 1 / np.sqrt(shape[0]), shape).astype(np.float32)
    place = [len(data), len(data) + values.nbytes]
    header[name] = {
        "dtype": "F32",
        "shape": list(shape),
        "data_offsets": place,
    }
    data += values.tobytes()
text = json.dumps(header).encode()
(folder / "weights.safetensors").write_bytes(
    struct.pack("<Q", len(text)) + text + data
)

ids = random.Random(7)
for name, lengths in {
    "sources": [LONGEST, 1, 33, 64],
    "targets": [70, 9, 33, 1],
}.items():
    (folder / name).write_text(
        "".join(
            " ".join(str(ids.randrange(3, VOCABULARY)) for _ in range(length))
            + "\n"
            for length in lengths
        )
    )

marks = "".join(
    "01" if i // CHUNK == j // CHUNK else "00"
    for i in range(LONGEST)
    for j in range(LONGEST)
)
table = f"tensor<{LONGEST}x{LONGEST}xi8>"
(folder / "marks.mlir").write_text(
    f'    %marks = arith.constant dense<"0x{marks}"> : {table}\n'
    f"    %chunks = transformer.mask.dense %marks : {table}\n"
)
