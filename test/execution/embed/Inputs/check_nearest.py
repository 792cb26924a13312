"""Checks what heddle-run --nearest finds against NumPy.

usage: check_nearest.py FOUND TOP [--lines FILE]

FOUND has JSON lines, at most TOP for each vector of queries.npy, of the rows of
lines.npy, whose lines are those of FILE. Equal rows are in their order.
"""

import argparse
import json

import numpy as np

parser = argparse.ArgumentParser()
parser.add_argument("found")
parser.add_argument("top", type=int)
parser.add_argument("--lines")
arguments = parser.parse_args()

queries = np.load("queries.npy").astype(np.float64)
rows = np.load("lines.npy")
width = queries.shape[1]
if rows.dtype == np.uint8:
    bits = np.unpackbits(rows, axis=1, count=width)
    scores = (bits[None] == (queries > 0)[:, None]).mean(axis=2)
else:
    rows = rows.astype(np.float64)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    queries /= np.linalg.norm(queries, axis=1, keepdims=True)
    scores = queries @ rows.T
with open(arguments.found, encoding="utf-8") as file:
    found = [json.loads(line) for line in file]
texts = None
if arguments.lines:
    with open(arguments.lines, encoding="utf-8") as file:
        texts = file.read().splitlines()

most = min(arguments.top, len(rows))
assert [each["query"] for each in found] == list(
    np.repeat(np.arange(len(queries)) + 1, most)
)
ties = 0
for query, expected in enumerate(scores):
    results = found[query * most : (query + 1) * most]
    lines = np.array([each["line"] for each in results]) - 1
    values = np.array([each["score"] for each in results])
    assert len(set(lines)) == most
    assert np.abs(values - expected[lines]).max() < 1e-7
    assert np.abs(values - np.sort(expected)[::-1][:most]).max() < 1e-7
    assert (np.diff(values) <= 0).all()
    equal = np.diff(values) == 0
    assert (np.diff(lines)[equal] > 0).all()
    ties += equal.sum()
    # Of lines that are equal to the last one, the first are there.
    last = np.flatnonzero(np.abs(expected - values[-1]) < 1e-9)
    if rows.dtype == np.uint8:
        there = np.isin(last, lines)
        assert (there[:-1] >= there[1:]).all()
    if texts:
        assert [each["text"] for each in results] == [texts[i] for i in lines]
assert ties > 0 or most == 1
