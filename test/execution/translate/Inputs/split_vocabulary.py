"""Writes a Marian model of one vocabulary as one of two, which are alike.

usage: split_vocabulary.py MODEL.bin OUTPUT.bin

The table of embeddings becomes one for each side, and that of the target is the
output's. The layout is stated in lib/Weights/MarianFile.cpp.
"""

import struct
import sys

HEAD = struct.Struct("<4Q")


def read(path):
    """Tensors as name, element type, shape and bytes, in their order."""
    data = open(path, "rb").read()
    version, count = struct.unpack_from("<2Q", data)
    assert version == 1
    at, heads, names, shapes = 16, [], [], []
    for _ in range(count):
        heads.append(HEAD.unpack_from(data, at))
        at += HEAD.size
    for length, *_ in heads:
        names.append(data[at : at + length - 1].decode())
        at += length
    for _, _, rank, _ in heads:
        shapes.append(struct.unpack_from(f"<{rank}i", data, at))
        at += 4 * rank
    at += 8 + struct.unpack_from("<Q", data, at)[0]
    for (_, kind, _, size), name, shape in zip(heads, names, shapes):
        yield name, kind, shape, data[at : at + size]
        at += size


def split(tensors):
    for name, kind, shape, data in tensors:
        if name == "special:model.yml":
            data = data.replace(b"tied-embeddings: false", b"tied-embeddings: true ")
            data = data.replace(b"embeddings-all: true", b"embeddings-all: false")
        if name == "Wemb":
            yield "encoder_Wemb", kind, shape, data
        name = name.replace("Wemb", "decoder_Wemb")
        yield name, kind, shape, data


def write(path, tensors):
    with open(path, "wb") as file:
        file.write(struct.pack("<2Q", 1, len(tensors)))
        for name, kind, shape, data in tensors:
            file.write(HEAD.pack(len(name) + 1, kind, len(shape), len(data)))
        for name, *_ in tensors:
            file.write(name.encode() + b"\0")
        for _, _, shape, _ in tensors:
            file.write(struct.pack(f"<{len(shape)}i", *shape))
        file.write(struct.pack("<Q", 0))
        for *_, data in tensors:
            file.write(data)


write(sys.argv[2], list(split(read(sys.argv[1]))))
