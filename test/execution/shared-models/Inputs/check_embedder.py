"""Compares an embedder with what transformers computes of its model in float64, which
stands in the folder of the model (README.md of the folder above it).

usage: check_embedder.py KNOWN ARTIFACT [--by-ids] [--but NUMBER] [--wrong BOUND]
                         [--cosine BOUND]

Texts are arguments of heddle-run, or their ids its lines with --by-ids; --but leaves
one out. Vectors of length 1 are within 2e-6, hidden states within 5e-6 of the largest
number: float32 of transformers comes within 2e-7 of vectors. With --wrong, the model
is a wrong one: a number of the first 20 vectors is BOUND away at least. With --cosine
its products have fewer bits: each vector has at least that cosine with the one of its
text, which is the nearest of all.
"""

import argparse
import json
import pathlib
import subprocess

import numpy as np

VECTORS, HIDDEN = 2e-6, 5e-6


def run(artifact, flag, *words, lines=None):
    command = ["heddle-run", artifact, flag, "found.npy", *words]
    text = None if lines is None else "".join(line + "\n" for line in lines)
    subprocess.run(command, input=text, text=True, check=True)
    return np.load("found.npy").astype(np.float64)


def ids_of(lines):
    return [" ".join(map(str, line["ids"])) for line in lines]


def check_vectors(arguments, lines):
    expected = np.load(arguments.known / "expected-vectors.npy")
    chosen = [number for number in range(len(lines)) if number != arguments.but]
    if arguments.wrong:
        chosen = chosen[:20]
    expected, lines = expected[chosen], [lines[number] for number in chosen]
    if arguments.by_ids:
        found = run(arguments.artifact, "--output", "--ids", lines=ids_of(lines))
    else:
        texts = [line["text"] for line in lines]
        found = run(arguments.artifact, "--output", "--", *texts)
    assert found.shape == expected.shape, (found.shape, expected.shape)
    if arguments.cosine:
        cosines = found @ expected.T / np.linalg.norm(found, axis=1, keepdims=True)
        own = np.diag(cosines)
        print(f"cosines: {own.min():.6f}, of text {chosen[own.argmin()]}")
        assert own.min() >= arguments.cosine
        assert np.array_equal(cosines.argmax(axis=1), np.arange(len(chosen)))
        return
    rows = np.abs(found - expected).max(axis=1)
    print(f"vectors: {rows.max():.1e}, of text {chosen[rows.argmax()]}")
    if arguments.wrong:
        assert rows.max() >= arguments.wrong, "a wrong model passes"
    else:
        assert rows.max() <= VECTORS, f"expected at most {VECTORS:.0e}"


def check_hidden(arguments, lines):
    known = {
        int(path.stem.rsplit("-", 1)[1]): np.load(path)
        for path in arguments.known.glob("expected-hidden-*.npy")
    }
    assert known
    sources = ids_of(lines[number] for number in known)
    found = run(arguments.artifact, "--hidden", "--ids", lines=sources)
    for states, (number, expected) in zip(found, known.items(), strict=True):
        expected = expected.reshape(-1, expected.shape[-1])
        difference = np.abs(states[: len(expected)] - expected).max()
        difference /= np.abs(expected).max()
        print(f"hidden states of text {number}: {difference:.1e}")
        assert difference <= HIDDEN, f"expected at most {HIDDEN:.0e}"


parser = argparse.ArgumentParser()
parser.add_argument("known", type=pathlib.Path)
parser.add_argument("artifact")
parser.add_argument("--by-ids", action="store_true")
parser.add_argument("--but", type=int)
parser.add_argument("--wrong", type=float)
parser.add_argument("--cosine", type=float)
arguments = parser.parse_args()
with open(arguments.known / "expected.jsonl", encoding="utf-8") as file:
    lines = [json.loads(line) for line in file]
check_vectors(arguments, lines)
if not (arguments.wrong or arguments.cosine) and arguments.but is None:
    check_hidden(arguments, lines)
