"""Replaces the beginning of names in a file of safetensors.

usage: rename-tensors.py FILE FROM TO
"""

import json
import struct
import sys


def is_renamed(name, old):
    return name.startswith(old) and name != "__metadata__"


def main():
    path, old, new = sys.argv[1:]
    with open(path, "rb") as file:
        data = file.read()
    (length,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8 : 8 + length])
    renamed = {
        new + name[len(old) :] if is_renamed(name, old) else name: tensor
        for name, tensor in header.items()
    }
    text = json.dumps(renamed).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data[8 + length :])


if __name__ == "__main__":
    main()
