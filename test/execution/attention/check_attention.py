"""Runs the variants of gallery/ and compares them with their oracles.

usage: check_attention.py [--cells sample|all] [--batches NAME,...]
                          [--device cpu|gpu] [--counts FILE] [--work DIR]
                          [VARIANT...]

A cell is a function of a variant (encoder, decoder, cross), with a head of keys
for each head or for several, over a batch of sentences, as a whole, step by step,
as a prompt in pieces (extend) or its first positions as a chunk, in f32, bf16 or
f16, by the code of one ISA level or by plain loops. Beside it stand properties:
sentences alone, on other threads, have the bits that they have in the batch, and
so have steps through other caches and prompts in other pieces; positions that
extend generates have those of steps; `a | b` has those of `b | a`; the order of what has no positions means
nothing. All levels of this machine are tried; in a sample they take turns. With
--device gpu the same runs by kernels of GPUs in the emulator, over short and
late batches. --batches takes some of short, middle, long and late, --counts
writes how many cells of each kind passed. Needs numpy, and heddle-compile and
call-entry in PATH.
"""

import argparse
import itertools
import pathlib
import shutil
import sys
import tempfile
from collections import Counter, defaultdict
from dataclasses import dataclass

import numpy as np

from modules import Batch, Module, read_module
from oracles import VARIANTS

sys.path.append(str(pathlib.Path(__file__).parent.parent / "random"))
from check_seeds import Failure, command, write_safetensors  # noqa: E402

# Each with flags of /proc/cpuinfo that machines of the level have. Levels
# that differ for bytes alone are left out.
LEVELS = {
    "x86-64-v3": {"avx2", "fma"},
    "x86-64-v4": {"avx512vl"},
    "avx512-bf16": {"avx512_bf16", "avx512_vnni"},
    "amx": {"amx_tile", "amx_bf16", "amx_int8"},
}

GPUS = ["sm_80", "sm_90a"]
# An artifact has code of a CPU, too: that which is made soonest.
HOSTS = {"f32": "x86-64-v3", "bf16": "amx", "f16": "x86-64-v3"}

BATCHES = {
    "short": [32, 1, 33, 31],
    "middle": [31, 777, 33],
    "long": [33, 4096, 1, 777, 32, 31],
    # Of an emulator: its steps begin where a chunk ends, and pass the 512 keys
    # that a block of a GPU's step has (AttentionStep.cpp).
    "late": [31, 530, 33],
}
FIRST_CHUNK = {"late": 500}
# Positions of a piece, in turn: parts of blocks of 32 queries, and several of
# them. At most 256, for which rings of windows have room.
PIECES = {"short": [17, 5, 33, 1, 16], "middle": [100, 256], "long": [256, 200]}

# Errors are counted in roundings of everything at once, each in the least
# favourable direction, see sentence.py. In float32 products of 32 to 64 terms
# round as often, but in any direction: four count for all of it. In bf16 and
# f16 the oracle rounds what the type rounds, so that only those numbers differ
# which float32 has moved across a tie, by two units of roundoff each: one in
# hundreds or thousands, so that the root of the mean square over a batch says
# more than the largest.
LARGEST = {"f32": 4, "bf16": 2, "f16": 2}
MEAN_SQUARE = {"f32": 1 / 4, "bf16": 1 / 32, "f16": 1 / 32}

# The turn of each variant in a sample, which picks its types, its level or GPU,
# its function of middle batches and whether its heads are grouped: a variant
# keeps it, whichever others come or go. A new one takes the next number.
TURNS = {
    "full": 0,
    "grouped-heads": 1,
    "window": 2,
    "window-per-head": 3,
    "dilated": 4,
    "prefix": 5,
    "global-count": 6,
    "global-tokens": 7,
    "segments": 8,
    "blocks": 9,
    "random-blocks": 10,
    "random-tokens": 11,
    "pairs": 12,
    "dense": 13,
    "where": 14,
    "where-within": 15,
    "longformer": 16,
    "longformer-own-rows": 17,
    "bigbird": 18,
    "hierarchical": 19,
    "luong-dot": 20,
    "luong-general": 21,
    "luong-concat": 22,
    "bahdanau": 23,
    "parameter-free": 24,
    "general-pooling": 25,
    "alibi": 26,
    "linear-elu": 27,
    "linear-relu": 28,
    "linear-taylor": 29,
    "linear-region": 30,
    "polynomial": 31,
    "linformer": 32,
    "linformer-per-head": 33,
}


@dataclass(frozen=True)
class Code:
    """How a module is compiled."""

    type: str
    target: str
    flags: tuple = ()

    def kind(self, form):
        """What its cells are counted as."""
        words = [self.type, form]
        return " ".join(["gpu", *words] if "sm_" in self.target else words)


def codes_of_machine():
    """Levels, tiles as loops, and plain loops, by type."""
    flags = set(pathlib.Path("/proc/cpuinfo").read_text().split())
    levels = [level for level, needed in LEVELS.items() if needed <= flags]
    if not levels:
        sys.exit(f"this machine has none of {', '.join(LEVELS)}")
    best = [level for level in levels if level != "amx"][-1]
    wide = [level for level in levels if "86" in level]
    targets = {
        "f32": wide,
        "bf16": [*levels, f"{best}+tiles"],
        "f16": wide,
    }
    return {
        type: [
            *(Code(type, target) for target in targets[type]),
            Code(type, levels[0], ("--reference",)),
        ]
        for type in targets
    }


def codes_of_gpus():
    """What an emulator runs, by type."""
    return {
        type: [Code(type, f"{host},{gpu}+emulated") for gpu in GPUS]
        for type, host in HOSTS.items()
    }


class Artifact:
    """A module, compiled."""

    def __init__(self, module, code, folder):
        self.module, self.code, self.folder = module, code, folder
        self.folder.mkdir(parents=True)
        body, whole = self.folder / "body.mlir", self.folder / "whole.mlir"
        body.write_text(module.text)
        whole.write_text(command("call-entry", "model", body))
        weights, given = module.weights(), []
        if weights:
            write_safetensors(self.folder / "weights.safetensors", weights)
            given = ["--weights", self.folder / "weights.safetensors"]
        command(
            *("heddle-compile", whole, "-o", self.folder / "module.heddle"),
            *("--target", code.target, "--dtype", code.type),
            *(*given, *code.flags),
        )

    def run(self, function, form, arrays, threads=1):
        inputs = []
        for name, values in arrays.items():
            np.save(self.folder / f"{name}.npy", values)
            inputs.append(f"{name}={self.folder / name}.npy")
        output = self.folder / "y.npy"
        command(
            *("call-entry", form, self.folder / "module.heddle", function),
            *(threads, output, *inputs),
        )
        return np.load(output)


def counted(form, count):
    """The form, and how many positions a chunk or a piece has."""
    return f"{form}:{count}" if form in ("chunk", "extend") else form


class Tally:
    """Cells by kind: how many passed and failed, and their largest errors."""

    def __init__(self):
        self.passed, self.failed = Counter(), Counter()
        self.largest, self.mean = defaultdict(float), defaultdict(float)

    def check(self, kind, words, check, *arguments):
        try:
            check(*arguments)
            self.passed[kind] += 1
        except Failure as failure:
            self.fail(kind, words, failure)

    def fail(self, kind, words, failure):
        self.failed[kind] += 1
        print(f"{kind}: {words}: {failure}", flush=True)

    def compare(self, type, kind, found, expected):
        """The sentences of a batch with their oracles."""
        squares = []
        for b, (y, unit, empty) in enumerate(expected):
            rows = found[b][: len(y)].astype(np.float64)
            with np.errstate(divide="ignore", invalid="ignore"):
                errors = np.where(rows == y, 0, abs(rows - y) / unit)
            errors[~np.isfinite(rows)] = np.inf
            squares.append((errors**2).ravel())
            at = np.unravel_index(errors.argmax(), errors.shape)
            self.largest[kind] = max(self.largest[kind], errors[at])
            if errors[at] > LARGEST[type]:
                raise Failure(
                    f"found {rows[at]:.9g} in row {at[0]}, column {at[1]} of "
                    f"sentence {b}, expected {y[at]:.9g}: off by "
                    f"{errors[at]:.3g} roundings, of which {LARGEST[type]} are "
                    "allowed"
                )
            heads = rows.reshape(len(rows), empty.shape[1], -1)
            if heads[empty].any():
                raise Failure(f"a query of sentence {b} without keys is not 0")
        mean = np.sqrt(np.concatenate(squares).mean())
        self.mean[kind] = max(self.mean[kind], mean)
        if mean > MEAN_SQUARE[type]:
            raise Failure(
                f"off by {mean:.3g} roundings in the mean, of which "
                f"{MEAN_SQUARE[type]} are allowed"
            )

    def write(self, path):
        lines = [f"{n} passed {kind}\n" for kind, n in self.passed.items()]
        lines += [f"{n} failed {kind}\n" for kind, n in self.failed.items()]
        path.write_text("".join(lines))

    def report(self):
        for kind in sorted(self.passed | self.failed):
            errors = ""
            if kind in self.largest:
                errors = (
                    f"; errors up to {self.largest[kind]:.3g}, in the mean "
                    f"{self.mean[kind]:.3g} roundings"
                )
            counts = f"{self.passed[kind]} passed, {self.failed[kind]} failed"
            print(f"{kind}: {counts}{errors}")


@dataclass
class Plan:
    """Ways to compile a module, and over what to run it."""

    module: Module
    codes: list
    # Names of batches, with the functions that run over them.
    batches: dict

    def name(self, code):
        words = [self.module.name, code.type, code.target, *code.flags]
        return " ".join([*words, f"{self.module.key_heads} heads of keys"])


def plans_of(name, everything, on_gpu):
    """All cells of a variant, or some, by its turn."""
    own = read_module(name)
    codes = codes_of_gpus() if on_gpu else codes_of_machine()
    if on_gpu and name == "polynomial":
        # Products of f16 round its weights there, in whole sentences, and the
        # oracle does not: see WeightRangeTests.cpp.
        codes["f16"] = []
    grouped = own.with_grouped_heads()
    functions = own.functions
    if everything:
        both = [code for type in codes for code in codes[type]]
        names = ["short", "late"] if on_gpu else ["short", "middle", "long"]
        batches = {batch: functions for batch in names}
        modules = [own, grouped] if grouped else [own]
        return [Plan(module, both, batches) for module in modules]
    turn = TURNS[name]
    if on_gpu:
        return [plan_of_gpu(own, codes, turn)]
    some = {"short": functions, "middle": [functions[turn % len(functions)]]}
    # Of short floats mostly bf16, for which levels differ.
    first, second = (
        codes[type][turn % len(codes[type])]
        for type in ("f32", "f16" if turn % 3 == 1 else "bf16")
    )
    if turn % 2 and grouped:
        return [Plan(own, [first], some), Plan(grouped, [second], some)]
    return [Plan(own, [first, second], some)]


def plan_of_gpu(module, codes, turn):
    """One code and one function, of those with the most forms."""
    most = max(len(module.forms(function)) for function in module.functions)
    functions = [f for f in module.functions if len(module.forms(f)) == most]
    of_type = list(codes.values())[turn % len(codes)]
    code = of_type[turn // len(codes) % len(of_type)]
    function = functions[turn // len(codes) % len(functions)]
    return Plan(module.only(function), [code], {"short": [function]})


class Checker:
    def __init__(self, options, tally, work):
        self.options, self.tally, self.work = options, tally, work
        # Turns of what takes turns from cell to cell.
        self.turn = 0

    def check(self, plan):
        artifacts = {}
        for number, code in enumerate(plan.codes):
            folder = self.work / f"{plan.module.key_heads}-{number}"
            try:
                artifacts[code] = Artifact(plan.module, code, folder)
            except Failure as failure:
                self.tally.fail("compile", plan.name(code), failure)
        for name, functions in plan.batches.items():
            if name not in self.options.batches:
                continue
            for function in functions:
                self.check_batch(plan, artifacts, name, function)
        for code, artifact in artifacts.items():
            words, module = plan.name(code), plan.module
            if "mask.or" in module.text:
                self.tally.check("a | b", words, self.check_or, artifact)
            if module.variant.is_a_set and "cross" in module.functions:
                self.tally.check("order", words, self.check_order, artifact)

    def check_batch(self, plan, artifacts, name, function):
        batch = Batch(plan.module, function, BATCHES[name])
        arrays, expected = batch.arrays(), {}
        for type in {code.type for code in plan.codes}:
            expected[type] = batch.expected(type)
        forms = plan.module.forms(function)
        if name in FIRST_CHUNK:
            forms = [form for form in forms if form != "step"]
        pieces, turns = PIECES.get(name, [256, 200]), itertools.count()

        def named(form):
            first = FIRST_CHUNK.get(name, 17)
            if form != "extend":
                return counted(form, first)
            form = counted(form, pieces[next(turns) % len(pieces)])
            return f"{form}:{first}" if name in FIRST_CHUNK else form

        steps = {}
        for (code, artifact), form in itertools.product(artifacts.items(), forms):
            words = f"{plan.name(code)}, {function}, {name} batch"
            kind = code.kind(form)
            self.turn += 1
            together = []

            def check_values():
                threads = 1 + self.turn % 3
                found = artifact.run(function, named(form), arrays, threads)
                together.extend(found)
                self.tally.compare(
                    code.type, kind, together, expected[code.type]
                )

            def check_bits():
                b, threads = self.turn % len(together), 1 + (self.turn + 1) % 3
                inputs = batch.arrays(of=b)
                alone = artifact.run(function, named(form), inputs, threads)[0]
                words = f"sentence {b} alone"
                expect_bits(alone, together[b][: len(alone)], words)

            def check_beam():
                found = artifact.run(function, "beam", arrays)
                for b, length in enumerate(batch.lengths):
                    expected = together[b][:length]
                    words = f"sentence {b} through other caches"
                    expect_bits(found[b][:length], expected, words)

            def check_mixed():
                """Prompts beside positions that are generated."""
                count = pieces[next(turns) % len(pieces)]
                found = artifact.run(function, f"mixed:{count}", arrays)
                for b, length in enumerate(batch.lengths):
                    expected = steps[code] if b % 2 else together
                    expect_bits(
                        found[b][:length],
                        expected[b][:length],
                        f"sentence {b} beside others of another kind",
                    )

            self.tally.check(kind, words, check_values)
            if form == "step":
                steps[code] = together
            if together and form == "extend" and steps.get(code):
                self.tally.check("bits", f"{words}, mixed", check_mixed)
            if together and form == "step" and plan.module.has_caches(function):
                self.tally.check("bits", f"{words}, beam", check_beam)
            if together:
                self.tally.check("bits", f"{words}, {form}", check_bits)

    def check_or(self, artifact):
        """`a | b` and `b | a`."""
        module = artifact.module
        turned = Artifact(
            module.turned(), artifact.code, artifact.folder / "turned"
        )
        for function in module.functions:
            batch = Batch(module, function, BATCHES["short"])
            for form in module.forms(function):
                found, expected = (
                    each.run(function, counted(form, 17), batch.arrays())
                    for each in (turned, artifact)
                )
                for b, length in enumerate(batch.lengths):
                    words = f"sentence {b}, {function}, {form}"
                    expect_bits(found[b, :length], expected[b, :length], words)

    def check_order(self, artifact):
        """Keys in another order within what is allowed anyway, queries in
        another order with the same bits."""
        batch = Batch(artifact.module, "cross", [70, 70], [90, 90])
        arrays = batch.arrays()
        straight = artifact.run("cross", "full", arrays)
        random = np.random.default_rng(1)
        keys, queries = (random.permutation(n) for n in (90, 70))
        moved = arrays | {"memory": arrays["memory"][:, keys]}
        self.tally.compare(
            artifact.code.type,
            "order",
            artifact.run("cross", "full", moved),
            batch.expected(artifact.code.type),
        )
        moved = arrays | {"x": arrays["x"][:, queries]}
        found = artifact.run("cross", "full", moved)
        expect_bits(found, straight[:, queries], "queries in another order")


def expect_bits(found, expected, words):
    if found.tobytes() != expected.tobytes():
        raise Failure(f"the bits of {words} differ")


def check_turns():
    for name in [name for name in VARIANTS if name not in TURNS]:
        sys.exit(
            f"variant '{name}' has no turn in TURNS of {__file__}, which says "
            "what a sample takes"
        )
    for name in [name for name in TURNS if name not in VARIANTS]:
        sys.exit(f"TURNS of {__file__} has '{name}', which is no variant")


def names(text):
    return text.split(",")


def parse_options():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("--cells", choices=["sample", "all"], default="sample")
    parser.add_argument("--batches", type=names, default=list(BATCHES))
    parser.add_argument("--device", choices=["cpu", "gpu"], default="cpu")
    parser.add_argument("--counts", type=pathlib.Path)
    parser.add_argument("--work", type=pathlib.Path)
    parser.add_argument("variants", nargs="*", default=list(VARIANTS))
    return parser.parse_args()


def main():
    options = parse_options()
    check_turns()
    work = options.work or pathlib.Path(tempfile.mkdtemp(prefix="heddle-"))
    tally = Tally()
    for name in options.variants:
        shutil.rmtree(work / name, ignore_errors=True)
        checker = Checker(options, tally, work / name)
        everything, on_gpu = options.cells == "all", options.device == "gpu"
        for plan in plans_of(name, everything, on_gpu):
            checker.check(plan)
        shutil.rmtree(work / name)
    if options.counts:
        tally.write(options.counts)
    tally.report()
    return bool(tally.failed)


if __name__ == "__main__":
    sys.exit(main())
