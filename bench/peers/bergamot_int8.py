"""Native Bergamot (the package bergamot 0.4.5; Marian, intgemm) on lines of text
and a folder of Marian's files. usage: PYTHON THIS FOLDER WORKERS"""

import glob
import importlib.util
import os
import site
import sys

import answer

folder, workers = os.path.abspath(sys.argv[1]), int(sys.argv[2])
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
service = bergamot.Service(
    bergamot.ServiceConfig(numWorkers=workers, logLevel="off")
)
loaded = service.modelFromConfig(config)


def translate(lines):
    texts, options = bergamot.VectorString(lines), bergamot.ResponseOptions()
    responses = service.translate(loaded, texts, options)
    return [response.target.text.replace("\n", " ") for response in responses]


answer.serve(translate)
