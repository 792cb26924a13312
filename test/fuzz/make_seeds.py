"""Writes what fuzzers begin with: files of the repository, and parts of artifacts.

usage: make_seeds.py SOURCE HEDDLE-COMPILE FOLDER

Each fuzzer has a folder of FOLDER; nothing is larger than MOST bytes.
"""

import glob
import os
import struct
import subprocess
import sys

MOST = 64 * 1024

FILES = {
    "api": ["test/fuzz/corpus/api/*"],
    "config": ["test/goldens/*/config.json"],
    "marian": ["models/*/model*.bin"],
    "module": ["test/execution/*/*.mlir", "test/dialect/*.mlir"],
    "npz": ["test/goldens/*/model.npz"],
    "safetensors": ["test/goldens/*/model.safetensors"],
    "sentencepiece": ["test/goldens/*/*.spm"],
    "torch": ["test/goldens/torch/**/*.bin", "test/goldens/torch/**/*.pt"],
    "yaml": ["models/*/config.yml", "test/goldens/*/decoder.yml"],
}

# Sections of the artifacts of these models.
MODELS = ["models/bergamot-en-pt", "test/goldens/byte-level",
          "test/goldens/marian-opus"]
SECTIONS = {"manifest": "manifest", "tokenizer.source": "pieces",
            "tokenizer.pairs": "pairs"}


def write(root, fuzzer, name, data):
    folder = os.path.join(root, fuzzer)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), "wb") as file:
        file.write(data[:MOST])


def sections(data):
    count = struct.unpack_from("<8sII", data)[2]
    for i in range(count):
        name, offset, size = struct.unpack_from("<32sQQ", data, 64 * (i + 1))
        yield name.rstrip(b"\0").decode(), data[offset:offset + size]


def main(source, compiler, root):
    for fuzzer, patterns in FILES.items():
        found = [path for pattern in patterns for path in
                 glob.glob(os.path.join(source, pattern), recursive=True)]
        for path in found:
            with open(path, "rb") as file:
                name = os.path.relpath(path, source).replace("/", "-")
                write(root, fuzzer, name, file.read())
    for model in MODELS:
        name = model.replace("/", "-")
        artifact = os.path.join(root, "artifact.heddle")
        if subprocess.run([compiler, os.path.join(source, model), "-o", artifact,
                           "--target", "x86-64-v3"]).returncode != 0:
            continue
        with open(artifact, "rb") as file:
            data = file.read()
        os.remove(artifact)
        write(root, "artifact", name, data)
        for section, content in sections(data):
            if section in SECTIONS:
                write(root, SECTIONS[section], name, content)


main(*sys.argv[1:])
