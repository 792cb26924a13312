"""Changes of a model's folder, as functions of it, and what a reader says of a field."""

import json
import struct

WEIGHTS = "model.safetensors"

# What readers expect.
SIZE = "1 to 1048576"
NO_WEIGHTS = (
    "has no weights: neither model.safetensors nor pytorch_model.bin, whole or in parts"
    " with an index"
)


def edit(file, change):
    """Changes what a file of JSON has; a file that is missing has nothing."""

    def apply(folder):
        path = folder / file
        value = json.loads(path.read_text()) if path.exists() else {}
        changed = change(value)
        path.write_text(json.dumps(value if changed is None else changed))

    return apply


def fields(file, **values):
    return edit(file, lambda value: value.update(values))


def without(file, field):
    return edit(file, lambda value: value.pop(field) and None)


def text(file, content):
    return lambda folder: (folder / file).write_text(content)


def remove(file):
    return lambda folder: (folder / file).unlink()


def tensor(old, file=WEIGHTS, *, name=None, **values):
    """Changes what the file says of a tensor: its name, its shape."""

    def apply(folder):
        data = (folder / file).read_bytes()
        (length,) = struct.unpack_from("<Q", data)
        header = json.loads(data[8 : 8 + length])
        header[name or old] = header.pop(old) | values
        changed = json.dumps(header).encode()
        changed += b" " * (-len(changed) % 8)
        rest = data[8 + length :]
        (folder / file).write_bytes(struct.pack("<Q", len(changed)) + changed + rest)

    return apply


def config(**values):
    return fields("config.json", **values)


def has(file, field, value, supported):
    return (
        f"'model/{file}' has '{field}' with the value {value} (supported: {supported})"
    )
