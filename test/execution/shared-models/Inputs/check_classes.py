"""Classifies the texts of rxn-bert-class from the hidden states of its encoder.

usage: check_classes.py KNOWN ARTIFACT

Pooler and classifier compute in float64. Logits of up to 20 are within 1e-4 of those
of transformers in float64, since twelve layers in float32 are: transformers itself
differs by 3.5e-5. The best logits are 0.26 apart at least, so classes are the same.
"""

import json
import pathlib
import struct
import subprocess
import sys

import numpy as np

TYPES = {"F16": np.float16, "F32": np.float32}


def read(path):
    """A function that gives a tensor of a file by its name, in float64."""
    data = path.read_bytes()
    (length,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8 : 8 + length])

    def tensor(name):
        begin, end = (8 + length + offset for offset in header[name]["data_offsets"])
        values = np.frombuffer(data[begin:end], TYPES[header[name]["dtype"]])
        return values.reshape(header[name]["shape"]).astype(np.float64)

    return tensor


known, artifact = pathlib.Path(sys.argv[1]), sys.argv[2]
with open(known / "expected.jsonl", encoding="utf-8") as file:
    lines = [json.loads(line) for line in file]
ids = "".join(" ".join(map(str, line["ids"])) + "\n" for line in lines)
command = ["heddle-run", artifact, "--ids", "--hidden", "hidden.npy"]
subprocess.run(command, input=ids, text=True, check=True)
first = np.load("hidden.npy")[:, 0].astype(np.float64)

tensor = read(known / "model.safetensors")


def linear(x, name):
    return x @ tensor(f"{name}.weight").T + tensor(f"{name}.bias")


logits = linear(np.tanh(linear(first, "bert.pooler.dense")), "classifier")
expected = np.load(known / "expected-logits.npy")
assert logits.shape == expected.shape, (logits.shape, expected.shape)
difference = np.abs(logits - expected).max()
print(f"logits of up to {np.abs(expected).max():.3g}: {difference:.1e}")
assert difference <= 1e-4
assert logits.argmax(axis=1).tolist() == [line["label"] for line in lines]
