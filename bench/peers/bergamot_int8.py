"""Seconds of native Bergamot (the package bergamot 0.4.5; Marian, intgemm) on
a folder of Marian's files: all lines of a file together, or each of the first
sixty alone. usage: PYTHON THIS FOLDER all|alone LINES"""

import glob
import importlib.util
import os
import site
import sys
import time

folder, mode, path = sys.argv[1:]
folder = os.path.abspath(folder)
lines = open(path, encoding="utf-8").read().splitlines()
# The package's own start wants the network; its extension does not.
extension = next(
    file
    for packages in site.getsitepackages()
    for file in glob.glob(packages + "/**/_bergamot*.so", recursive=True)
)
specification = importlib.util.spec_from_file_location("_bergamot", extension)
bergamot = importlib.util.module_from_spec(specification)
specification.loader.exec_module(bergamot)
model, vocabulary, shortlist = (
    glob.glob(f"{folder}/{pattern}")[0]
    for pattern in ("model*.bin", "vocab*.spm", "lex*.bin")
)
# Batches as its own command makes them, greedy.
config = f"""models: [{model}]
vocabs: [{vocabulary}, {vocabulary}]
shortlist: [{shortlist}, false]
beam-size: 1
normalize: 1.0
word-penalty: 0
mini-batch: 64
maxi-batch: 1000
maxi-batch-sort: src
workspace: 128
max-length-factor: 2.5
max-length-break: 128
mini-batch-words: 1024
ssplit-mode: sentence
gemm-precision: int8shiftAlphaAll
skip-cost: true
quiet: true
"""
service = bergamot.Service(bergamot.ServiceConfig(numWorkers=1, logLevel="off"))
loaded = service.modelFromConfig(config)


def seconds(texts):
    start = time.perf_counter()
    service.translate(
        loaded, bergamot.VectorString(texts), bergamot.ResponseOptions()
    )
    return time.perf_counter() - start


seconds(lines[:1])  # Warm-up.
for texts in [lines] if mode == "all" else [[line] for line in lines[:60]]:
    print(seconds(texts))
