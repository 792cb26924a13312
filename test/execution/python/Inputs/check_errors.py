"""Wrong calls raise exceptions with the library's sentence, and leave the model as it was.

usage: check_errors.py ARTIFACT GOLDENS
"""

import sys

import heddle

path, goldens = sys.argv[1:]
model = heddle.load(path)
before = model.translate("Good morning.")
closed = heddle.load(path)
closed.close()
closed.close()

CASES = [
    (heddle.MisuseError, "unknown setting 'beem'", lambda: model.translate("a", beem=3)),
    (heddle.MisuseError, "beam has the value 'x', expected a number from 1 to 256",
     lambda: model.translate("a", beam="x")),
    (heddle.MisuseError, "beam has the value '0', expected a number from 1 to 256",
     lambda: model.translate("a", beam=0)),
    (heddle.MisuseError, "'beam' is of the type dict, expected bool, int, float, str or a list of these",
     lambda: model.translate("a", beam={})),
    (heddle.MisuseError, "a text is of the type int, expected str", lambda: model.translate([1])),
    (heddle.MisuseError, "a text is of the type NoneType, expected str", lambda: model.translate(["a", None])),
    (heddle.MisuseError, "a text is of the type bytes, expected str", lambda: model.translate([b"a"])),
    (heddle.MisuseError, "2 texts have 1 targets", lambda: model.score(["a", "b"], ["c"])),
    (heddle.MisuseError, f"the model '{path}' is closed", lambda: closed.translate("a")),
    (heddle.MisuseError, f"the model '{path}' is closed", lambda: closed.tasks),
    (heddle.MisuseError, "the device is 'tpu', expected auto, cpu or cuda",
     lambda: heddle.load(path, device="tpu")),
    (heddle.Error, "has no task 'embed'", lambda: model.embed("a")),
    (heddle.Error, "has no task 'classify'", lambda: model.classify("a")),
    (heddle.Error, "cannot open 'nothing': No such file or directory", lambda: heddle.load("nothing")),
    (heddle.Error, "searches with 4 beams (beam 1 is greedy)", lambda: list(model.stream("a", beam=4))),
    (heddle.CompileError, "there is no model 'nothing'", lambda: heddle.compile("nothing")),
    (heddle.CompileError, "--dtype has the value 'int9', expected",
     lambda: heddle.compile(f"{goldens}/bart-one-layer", dtype="int9")),
    (heddle.CompileError, "unknown", lambda: heddle.compile(f"{goldens}/bart-one-layer", beam=3)),
    (AttributeError, "module 'heddle' has no attribute 'walk'", lambda: heddle.walk),
]

failures = []
for kind, sentence, call in CASES:
    try:
        call()
        failures.append(f"nothing was raised, expected '{sentence}'")
    except Exception as error:
        if type(error) is not kind or sentence not in str(error):
            failures.append(f"{type(error).__name__}: '{error}', expected {kind.__name__}: '{sentence}'")
    if model.translate("Good morning.") != before:
        failures.append(f"another translation behind '{sentence}'")
print(*failures, sep="\n")
sys.exit(len(failures) > 0)
