"""Heads of encoders in float64, over tensors of a safetensors file."""

import json
import math
import struct

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


def linear(tensor, x, name):
    return x @ tensor(f"{name}.weight").T + tensor(f"{name}.bias")


def gelu(x):
    return x / 2 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


def norm(tensor, x, name, epsilon):
    deviation = np.sqrt(x.var(-1, keepdims=True) + epsilon)
    x = (x - x.mean(-1, keepdims=True)) / deviation
    return x * tensor(f"{name}.weight") + tensor(f"{name}.bias")
