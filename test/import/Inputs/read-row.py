"""Prints a row of an f32 tensor: read-row.py FILE TENSOR ROW."""

import json
import struct
import sys

path, name, row = sys.argv[1:]
with open(path, "rb") as file:
    content = file.read()
(size,) = struct.unpack_from("<Q", content)
tensor = json.loads(content[8 : 8 + size])[name]
width = tensor["shape"][-1]
begin = 8 + size + tensor["data_offsets"][0] + 4 * width * int(row)
print(*struct.unpack_from(f"<{width}f", content, begin))
