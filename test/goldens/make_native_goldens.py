"""Makes the goldens of marian-search/: lines by the native engine of browsers.

usage: python3.10 make_native_goldens.py EXTENSION

EXTENSION is the module _bergamot*.so of the package bergamot 0.4.5, whose own
start wants the network. The model is marian-npz-recurrent in float32, so that
what is compared is the search and not how matrices are rounded. Each case is a
`decoder.yml`; a line runs alone, since the native limit of length is that of
the longest line of a batch. Every option that is left out is Marian's default.
"""

import importlib.util
import pathlib
import random
import sys

HERE = pathlib.Path(__file__).parent
MODEL = HERE / "marian-npz-recurrent"
FOLDER = HERE / "marian-search"
WORDS = "the little model reads a line and the line is short".split()
LINES = 60

CASES = {
    "penalties": {
        "beam-size": 6,
        "normalize": 0.6,
        "word-penalty": 0.3,
        "max-length-factor": 1.5,
    },
    # 12 beams, and no division by lengths: without a reward all lines are empty.
    "defaults": {"word-penalty": -1.2, "max-length-factor": 1.5},
    "beams": {"beam-size": 4, "normalize": 1, "max-length-factor": 1.5},
    "greedy": {"beam-size": 1, "max-length-factor": 1.5},
    "short": {
        "beam-size": 5,
        "max-length-factor": 0.5,
        "allow-unk": "true",
        "word-penalty": -0.2,
    },
}
# Of the engine, not of a search.
ENGINE = {
    "models": f"[{MODEL}/model.npz]",
    "vocabs": f"[{MODEL}/srcvocab.x.spm, {MODEL}/trgvocab.x.spm]",
    "mini-batch-words": 1024,
    "workspace": 128,
    "ssplit-mode": "sentence",
    "quiet": "true",
}


def as_yaml(options):
    return "".join(f"{name}: {value}\n" for name, value in options.items())


def main():
    spec = importlib.util.spec_from_file_location("_bergamot", sys.argv[1])
    native = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(native)
    service = native.Service(native.ServiceConfig(numWorkers=1, logLevel="off"))

    FOLDER.mkdir(exist_ok=True)
    draw = random.Random(5)
    lines = [
        " ".join(draw.choice(WORDS) for _ in range(draw.randint(1, 14)))
        for _ in range(LINES)
    ]
    (FOLDER / "input.txt").write_text("".join(f"{line}\n" for line in lines))
    for name, options in CASES.items():
        model = service.modelFromConfig(as_yaml(ENGINE | options))
        texts = []
        for line in lines:
            (response,) = service.translate(
                model, native.VectorString([line]), native.ResponseOptions()
            )
            texts.append(response.target.text.strip("\n") + "\n")
        (FOLDER / f"{name}.yml").write_text(as_yaml(options))
        (FOLDER / f"{name}.txt").write_text("".join(texts), encoding="utf-8")


main()
