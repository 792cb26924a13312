"""Compares two .npy files of floats: equal where NaN, close elsewhere.

usage: compare_logits.py FOUND EXPECTED TOLERANCE

TOLERANCE is relative to the largest magnitude in EXPECTED. Needs no package.
"""

import ast
import math
import struct
import sys


def read(path):
    """Returns the shape and the values of a little-endian array in C order."""
    with open(path, "rb") as file:
        data = file.read()
    if data[:6] != b"\x93NUMPY" or data[6] != 1:
        sys.exit(f"'{path}' is no .npy file of version 1")
    length = struct.unpack_from("<H", data, 8)[0]
    header = ast.literal_eval(data[10 : 10 + length].decode())
    if header["fortran_order"] or header["descr"] != "<f4":
        sys.exit(f"'{path}' holds {header}, expected '<f4' in C order")
    count = math.prod(header["shape"])
    return header["shape"], struct.unpack_from(f"<{count}f", data, 10 + length)


def main():
    found_path, expected_path, tolerance = sys.argv[1:]
    found_shape, found = read(found_path)
    shape, expected = read(expected_path)
    if found_shape != shape:
        sys.exit(f"'{found_path}' has shape {found_shape}, expected {shape}")
    largest = max(abs(value) for value in expected if not math.isnan(value))
    bound = float(tolerance) * largest
    for index, pair in enumerate(zip(found, expected)):
        missing = [math.isnan(value) for value in pair]
        if missing[0] != missing[1] or not (
            missing[0] or abs(pair[0] - pair[1]) <= bound
        ):
            row, rest = divmod(index, math.prod(shape[1:]))
            sys.exit(
                f"'{found_path}' has {pair[0]} at [{row}, {rest // shape[2]}, "
                f"{rest % shape[2]}], expected {pair[1]} within {bound}"
            )


if __name__ == "__main__":
    main()
