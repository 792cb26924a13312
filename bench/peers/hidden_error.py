"""The largest and the mean absolute difference of two arrays.
usage: PYTHON THIS EXPECTED.npy FOUND.npy"""

import sys

import numpy as np

expected, found = map(np.load, sys.argv[1:])
difference = np.abs(found - expected)
print(difference.max(), difference.mean())
