"""CTranslate2's model.bin, as variables and aliases and back.

A variable is (shape, type, bytes) by its name; types are 0 float32, 1 int8, 2 int16,
3 int32, 4 float16, 5 bfloat16.
"""

import struct

SIZES = [4, 1, 2, 4, 2, 2]


def take_string(data, at):
    (length,) = struct.unpack_from("<H", data, at)
    return data[at + 2 : at + 1 + length].decode(), at + 2 + length


def put_string(text):
    return struct.pack("<H", len(text.encode()) + 1) + text.encode() + b"\0"


def parse(data):
    """Variables {name: (shape, type, bytes)} and aliases of a file of version 6."""
    at = 4
    _, at = take_string(data, at)
    at += 4
    variables, aliases = {}, {}
    (count,) = struct.unpack_from("<I", data, at)
    at += 4
    for _ in range(count):
        name, at = take_string(data, at)
        rank = data[at]
        shape = struct.unpack_from(f"<{rank}I", data, at + 1)
        at += 1 + 4 * rank
        kind, size = struct.unpack_from("<BI", data, at)
        variables[name] = (shape, kind, data[at + 5 : at + 5 + size])
        at += 5 + size
    (count,) = struct.unpack_from("<I", data, at)
    at += 4
    for _ in range(count):
        alias, at = take_string(data, at)
        aliases[alias], at = take_string(data, at)
    assert at == len(data)
    return variables, aliases


def serialise(version, specification, revision, variables, aliases):
    data = struct.pack("<I", version)
    if version >= 2:
        data += put_string(specification) + struct.pack("<I", revision)
    if version < 3:
        variables = dict(variables)
        for alias, name in aliases.items():
            variables[alias] = variables[name]
            if name + "_scale" in variables:
                variables[alias + "_scale"] = variables[name + "_scale"]
    data += struct.pack("<I", len(variables))
    for name, (shape, kind, content) in sorted(variables.items()):
        data += put_string(name) + struct.pack(f"<B{len(shape)}I", len(shape), *shape)
        size = SIZES[kind]
        data += (struct.pack("<BI", kind, len(content)) if version >= 4
                 else struct.pack("<BI", size, len(content) // size))
        data += content
    if version >= 3:
        data += struct.pack("<I", len(aliases))
        for alias, name in sorted(aliases.items()):
            data += put_string(alias) + put_string(name)
    return data
