"""Compares two files of vectors.

usage: compare_vectors.py FOUND EXPECTED --within BOUND [--dimensions N]
                          [--normalize]

Both are float32 [texts, width]. FOUND has the first N numbers of the vectors of
EXPECTED, of length 1 again with --normalize, and no number differs by more than
BOUND; NaN stands at the same places.
"""

import argparse

import numpy as np

parser = argparse.ArgumentParser()
parser.add_argument("found")
parser.add_argument("expected")
parser.add_argument("--within", type=float, required=True)
parser.add_argument("--dimensions", type=int)
parser.add_argument("--normalize", action="store_true")
arguments = parser.parse_args()

found = np.load(arguments.found)
expected = np.load(arguments.expected).astype(np.float64)
expected = expected[:, : arguments.dimensions]
if arguments.normalize:
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
assert found.dtype == np.float32, found.dtype
assert found.shape == expected.shape, (found.shape, expected.shape)
difference = np.abs(found - expected)
assert np.array_equal(np.isnan(found), np.isnan(expected)), found
largest = np.nanmax(difference, initial=0)
print(f"largest difference {largest:.2g}")
assert largest <= arguments.within
