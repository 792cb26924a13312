"""Moves each row of a table of positions to the next one, and the last row to the
first.

usage: roll_positions.py FILE
"""

import json
import struct
import sys

NAME = "embeddings.position_embeddings.weight"

with open(sys.argv[1], "r+b") as file:
    (length,) = struct.unpack("<Q", file.read(8))
    tensor = json.loads(file.read(length))[NAME]
    begin, end = (8 + length + offset for offset in tensor["data_offsets"])
    file.seek(begin)
    data = file.read(end - begin)
    row = len(data) // tensor["shape"][0]
    file.seek(begin)
    file.write(data[-row:] + data[:-row])
