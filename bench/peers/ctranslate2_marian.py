"""CTranslate2 on lines of ids, as many tokens and beams as are asked for.
usage: PYTHON THIS MODEL-FOLDER VOCABULARY TYPE THREADS WORKERS BATCH LENGTH BEAMS
[DEVICE]"""

import json
import pathlib
import sys

import answer
import ctranslate2

folder, vocabulary, kind = sys.argv[1:4]
threads, workers, batch, length, beams = map(int, sys.argv[4:9])
ids = json.loads(pathlib.Path(vocabulary).read_text())
pieces = sorted(ids, key=ids.get)
translator = ctranslate2.Translator(
    folder,
    device=sys.argv[9] if len(sys.argv) > 9 else "cpu",
    compute_type=kind,
    inter_threads=workers,
    intra_threads=threads,
)


def translate(lines):
    results = translator.translate_batch(
        [[pieces[int(i)] for i in line.split()] for line in lines],
        beam_size=beams,
        min_decoding_length=length,
        max_decoding_length=length,
        max_batch_size=batch,
    )
    return [
        " ".join(str(ids[piece]) for piece in result.hypotheses[0])
        for result in results
    ]


answer.serve(translate)
