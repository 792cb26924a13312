"""Compares ensembles with the mean of their members' logits in numpy.

usage: check_ensembles.py GOLDENS FOLDER FOLDER...

Members are tiny models of several families, with the same target vocabulary, in
FOLDERs of GOLDENS. Settings of the search are the first one's, which has no token
that is forced or suppressed; the second one is compiled in bf16 and in int8, too. Logits of
each member alone come from --teacher --logits; those of an ensemble are its
log-probabilities. A search writes what it scores: its sums are compared with the
formula along the same tokens, and each greedy token with the largest mean. The
tolerance 2e-4 is that of sums of some ten log-probabilities in f32; members are
compared with themselves, so their own precision does not count.
"""

import pathlib
import subprocess
import sys

import numpy as np

goldens, folders = pathlib.Path(sys.argv[1]), sys.argv[2:]
sources = (goldens / folders[0] / "inputs.ids").read_text()


def run(arguments, text=sources, fails=False):
    done = subprocess.run(["heddle-run", *map(str, arguments)], input=text,
                          capture_output=True, text=True)
    if (done.returncode != 0) != fails:
        sys.exit(f"{arguments}: {done.returncode} {done.stderr}")
    return done.stderr if fails else done.stdout


def ensemble(members):
    return [members[0], *(word for each in members[1:] for word in ("--ensemble", each))]


def targets_file(targets, name="targets.ids"):
    pathlib.Path(name).write_text("".join(" ".join(map(str, t)) + "\n" for t in targets))
    return name


def logits(members, targets, text, *more):
    run([*ensemble(members), "--ids", "--teacher", targets_file(targets), "--logits",
         "logits.npy", *more], text)
    return np.load("logits.npy").astype(np.float64)


def mix(all_logits, mean, weights):
    """The formula: the weighted mean of log-probabilities, or the logarithm of that
    of probabilities."""
    weights = np.array(weights, np.float64) / np.sum(weights)
    total = 0
    for weight, rows in zip(weights, all_logits):
        shifted = rows - rows.max(-1, keepdims=True)
        own = shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))
        total = total + weight * (own if mean == "log" else np.exp(own))
    return total if mean == "log" else np.log(total)


def ids(line):
    return [int(word) for word in line.split()]


def check(name, found, expected, tolerance=2e-4):
    if not np.allclose(found, expected, rtol=0, atol=tolerance, equal_nan=True):
        sys.exit(f"{name}: {np.nanmax(np.abs(np.array(found) - expected))} off")


for folder in folders:
    subprocess.run(["heddle-compile", goldens / folder, "-o",
                    f"{pathlib.Path(folder).name}.heddle",
                    "--target", "x86-64-v3"], check=True)
for dtype in ("bf16", "int8"):
    subprocess.run(["heddle-compile", goldens / folders[1], "-o", f"{dtype}.heddle",
                    "--dtype", dtype, "--target", "x86-64-v3"], check=True)

everyone = [f"{pathlib.Path(folder).name}.heddle" for folder in folders]
cases = [
    (everyone, "log", [1] * len(everyone)),
    (everyone, "linear", [1] * len(everyone)),
    (everyone, "log", [1, 2, 0.5]),
    (everyone, "linear", [3, 0, 1]),
    ([everyone[0], "bf16.heddle", "int8.heddle"], "linear", [1, 1, 2]),
    ([everyone[i] for i in (0, 2, 1)], "log", [2, 1, 1]),
]
taught = [ids(line) for line in (goldens / folders[0] / "teacher.ids").read_text().splitlines()]
for members, mean, weights in cases:
    case = f"{members} {mean} {weights}"
    flags = ["--ids", "--ensemble-mean", mean, "--ensemble-weights",
             ",".join(map(str, weights))]
    command = [*ensemble(members), *flags]

    # Given targets, in both forms, and their scores.
    expected = mix([logits([each], taught, sources) for each in members], mean, weights)
    for form in ("full", "step"):
        check(f"{case} {form}", logits(members, taught, sources, "--form", form,
                                       *flags[1:]), expected, 2e-5)
    scored = run([*command, "--score", targets_file(taught)]).splitlines()
    for line, target, row in zip(scored, taught, expected):
        check(f"{case} --score", [float(x) for x in line.split("\t")[1].split()],
              [row[i][token] for i, token in enumerate(target)], 2e-5)

    # Greedy search: each token has the largest mean.
    lines = run([*command, "--beam", 1, "--scores"]).splitlines()
    greedy = [ids(line.split("\t")[1]) for line in lines]
    expected = mix([logits([each], greedy, sources) for each in members], mean, weights)
    for line, target, row in zip(lines, greedy, expected):
        rows = row[range(len(target)), target]
        if not (rows >= row[:len(target)].max(-1) - 2e-5).all():
            sys.exit(f"{case}: {target} is not greedy")
        check(f"{case} greedy", float(line.split("\t")[0]), rows.sum())

    # Beams: sums are the formula's, scores are divided by the length, and go down.
    listed = run([*command, "--beam", 4, "--n-best", 4, "--length-penalty", 1]).splitlines()
    entries = [line.split(" ||| ") for line in listed]
    targets = [ids(entry[1]) for entry in entries]
    behind = [sources.splitlines()[int(entry[0])] for entry in entries]
    expected = mix([logits([each], targets, "\n".join(behind) + "\n") for each in members],
                   mean, weights)
    before = {}
    for entry, target, row in zip(entries, targets, expected):
        total, score = float(entry[2].split()[1]), float(entry[3])
        check(f"{case} beams", total, row[range(len(target)), target].sum())
        check(f"{case} scores", score, total / len(target), 1e-5)
        if before.get(entry[0], 0) < score:
            sys.exit(f"{case}: hypotheses of line {entry[0]} are out of order")
        before[entry[0]] = score

    # The same bits in any batch and on any number of threads.
    for more in (["--batch", 1, "--workers", 1], ["--batch", 3, "--workers", 2],
                 ["--batch", 16, "--threads", 2], ["--max-memory", 64]):
        again = run([*command, "--beam", 4, "--n-best", 4, "--length-penalty", 1, *more])
        if again.splitlines() != listed:
            sys.exit(f"{case}: {more} changes the answers")

# A model with itself is the model, and one with all of the weight decides alone.
first, other = everyone[1], everyone[0]
for beams in (1, 4):
    flags = ["--ids", "--beam", beams]
    alone = run([first, *flags])
    for mean in ("log", "linear"):
        if run([*ensemble([first, first]), *flags, "--ensemble-mean", mean]) != alone:
            sys.exit(f"a model and itself, {beams} beams, {mean}: another answer")
        if run([*ensemble([other, first]), *flags, "--ensemble-weights", "0,1",
                "--ensemble-mean", mean, "--length-penalty", 1, "--early-stopping",
                "false"]) != run([*ensemble([other, first]), *flags, "--length-penalty", 1,
                                  "--early-stopping", "false", "--ensemble-mean", mean,
                                  "--ensemble-weights", "0,7"]):
            sys.exit("weights are not divided by their sum")

# Prefixes, samples, alternatives and constraints of the search.
prefixes = targets_file([target[:2] for target in greedy], "prefixes.ids")
for more in (["--prefix", prefixes, "--beam", 2], ["--sample", "--n-best", 3],
             ["--alternatives", 2], ["--beam", 3, "--no-repeat-ngram", 2, "--renormalize"]):
    command = [*ensemble(everyone), "--ids", *more]
    if run([*command, "--batch", 1]) != run([*command, "--batch", 16]):
        sys.exit(f"{more}: batches change the answers")
begun = run([*ensemble(everyone), "--ids", "--prefix", prefixes]).splitlines()
for line, target in zip(begun, greedy):
    if ids(line)[:2] != target[:2]:
        sys.exit(f"{line} does not begin with {target[:2]}")
