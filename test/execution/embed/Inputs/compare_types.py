"""Compares vectors of a type with what NumPy makes of float32 ones.

usage: compare_types.py float32|float16|int8|bits

typed.npy, and the lines of json and plain, are to be float32.npy in that type;
unit.npy are the same vectors of length 1.
"""

import json
import sys

import numpy as np

vectors = np.load("float32.npy")
expected = {
    "float32": lambda: vectors,
    "float16": lambda: vectors.astype(np.float16),
    "int8": lambda: np.rint(np.float32(127) * np.load("unit.npy")).astype(np.int8),
    "bits": lambda: np.packbits(vectors > 0, axis=1),
}[sys.argv[1]]()
found = np.load("typed.npy")
assert found.dtype == expected.dtype, found.dtype
assert found.shape == expected.shape, found.shape
assert found.tobytes() == expected.tobytes()

with open("json", encoding="utf-8") as file:
    lines = file.read().splitlines()
assert all(line.startswith('{"vector": [') for line in lines)
rows = [json.loads(line)["vector"] for line in lines]
assert np.array_equal(np.array(rows).astype(found.dtype), found)
if found.dtype.itemsize == 1:
    assert all(isinstance(number, int) for row in rows for number in row)
with open("plain", encoding="utf-8") as file:
    plain = file.read().splitlines()
assert [line.split(" ") for line in plain] == [
    line[len('{"vector": [') : -len("]}")].split(", ") for line in lines
]
