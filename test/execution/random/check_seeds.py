"""Compiles random modules, runs them and compares their logits with the oracle.

usage: check_seeds.py [--seeds FIRST[..END],...] [--type TYPE] [--level LEVEL]
                      [--work DIR] [--print] [--verbose]

Takes seeds from FIRST to below END; the levels that this machine has take turns
unless one is named: gpu are kernels of a GPU, by the driver that HEDDLE_LIBCUDA
names, the emulator's. Needs numpy, and heddle-compile and heddle-run in PATH.
What a seed that fails was made of stays in DIR/SEED; --print prints modules in
place of checking them, --verbose the errors of all seeds.
"""

import argparse
import json
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

import numpy as np

from module_text import write_module
from oracle import expected_logits
from random_modules import ELEMENT_TYPES, draw_module

# Each with a flag of /proc/cpuinfo that machines of the level have.
LEVELS = {"x86-64-v3": "avx2", "x86-64-v4": "avx512vl"}
GPU, TARGET_OF_GPU = "gpu", "x86-64-v3,sm_80+emulated"

# Errors are counted in roundings, see oracle.py, and the largest of a seed
# counts. That of plain loops, in the same type, is around 1 in seeds of many
# keys and can be 0 in others; kernels may have four times as much.
TIMES_REFERENCE, AT_LEAST = 4, 1


class Failure(Exception):
    pass


def command(*words, stdin=None):
    """Runs it and returns what it printed."""
    words = [str(word) for word in words]
    result = subprocess.run(words, stdin=stdin, capture_output=True, text=True)
    if result.returncode != 0:
        raise Failure(
            f"{' '.join(words)}\n  ended with {result.returncode}: "
            f"{result.stderr.strip()}"
        )
    return result.stdout


def write_safetensors(path, tensors):
    header, data = {}, b""
    for name, values in tensors.items():
        end = len(data) + values.nbytes
        header[name] = {
            "dtype": "F32",
            "shape": values.shape,
            "data_offsets": [len(data), end],
        }
        data += values.tobytes()
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


class Seed:
    """A module in a folder of its own."""

    def __init__(self, module, level, folder):
        self.module, self.level, self.folder = module, level, folder
        # The largest error of each way to compute the logits.
        self.errors = {}

    def write(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        text, weights = write_module(self.module)
        (self.folder / "module.mlir").write_text(text)
        write_safetensors(
            self.folder / "weights.safetensors",
            {name: np.float32(values) for name, values in weights.items()},
        )
        for name in ["sources", "targets"]:
            lines = getattr(self.module, name)
            text = "".join(" ".join(map(str, line)) + "\n" for line in lines)
            (self.folder / f"{name}.txt").write_text(text)

    def compile(self, name, *flags):
        target = self.level
        if target == GPU:
            # Plain loops are the CPU's.
            target = TARGET_OF_GPU if name == "kernels" else "x86-64-v3"
        command(
            "heddle-compile",
            self.folder / "module.mlir",
            *("--weights", self.folder / "weights.safetensors"),
            *("--target", target),
            *("-o", self.folder / f"{name}.heddle"),
            *flags,
        )

    def logits(self, name, form, batch):
        # Where there is no GPU, auto would be the CPU.
        is_on_gpu = self.level == GPU and name != "reference"
        device = "cuda" if is_on_gpu else "cpu"
        path = self.folder / f"{name}.{form}.{batch}.npy"
        with open(self.folder / "sources.txt") as sources:
            command(
                "heddle-run",
                self.folder / f"{name}.heddle",
                *("--ids", "--form", form, "--batch", batch),
                *("--device", device),
                *("--teacher", self.folder / "targets.txt"),
                *("--logits", path),
                stdin=sources,
            )
        return np.load(path)

    def compare(self, name, logits, limit):
        """Sets the error of `name`, of which `limit` is allowed."""
        self.errors[name] = 0.0
        for b, (rows, units) in enumerate(self.expected):
            padding = [(0, 0), (0, logits.shape[2] - rows.shape[1])]
            rows, units = (np.pad(each, padding) for each in (rows, units))
            found = logits[b, : len(rows)].astype(np.float64)
            with np.errstate(divide="ignore", invalid="ignore"):
                errors = np.where(found == rows, 0, abs(found - rows) / units)
            errors[~np.isfinite(found)] = np.inf
            at = np.unravel_index(errors.argmax(), errors.shape)
            self.errors[name] = max(self.errors[name], float(errors[at]))
            if errors[at] > limit:
                place = ", ".join(map(str, (b, *at)))
                raise Failure(
                    f"{name}: found {found[at]:.9g} at [{place}], expected "
                    f"{rows[at]:.9g}: off by {errors[at]:.3g} roundings, of "
                    f"which {limit:.3g} are allowed"
                )

    def check(self):
        self.write()
        self.expected = expected_logits(self.module)
        self.compile("reference", "--reference")
        # A sum of n terms rounds n times.
        longest = max(map(len, self.module.sources + self.module.targets))
        terms = self.module.attention.key_width + longest
        logits = self.logits("reference", "full", 16)
        self.compare("reference", logits, terms + 16)
        limit = TIMES_REFERENCE * max(self.errors["reference"], AT_LEAST)
        self.compile("kernels")
        for form in ["full", "step"]:
            alone, together = (
                self.logits("kernels", form, batch) for batch in (1, 16)
            )
            self.compare(form, together, limit)
            if alone.tobytes() != together.tobytes():
                raise Failure(f"{form}: bits depend on the batch")


def levels_of_machine():
    flags = pathlib.Path("/proc/cpuinfo").read_text().split()
    return [level for level, flag in LEVELS.items() if flag in flags]


def seeds(text):
    result = []
    for part in text.split(","):
        first, _, end = part.partition("..")
        result += range(int(first), int(end or int(first) + 1))
    return result


def parse_options():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("--seeds", type=seeds, default="0..40")
    parser.add_argument("--type", default="f32", choices=ELEMENT_TYPES)
    parser.add_argument("--level", choices=[*LEVELS, GPU])
    parser.add_argument("--work", type=pathlib.Path)
    parser.add_argument("--print", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    return parser.parse_args()


def main():
    options = parse_options()
    levels = [options.level] if options.level else levels_of_machine()
    if not levels:
        sys.exit(f"this machine has none of {', '.join(LEVELS)}")
    work = options.work or pathlib.Path(tempfile.mkdtemp(prefix="heddle-"))
    failed = []
    for seed in options.seeds:
        module = draw_module(seed, options.type)
        if options.print:
            print(write_module(module)[0], end="")
            continue
        show_progress(f"seed {seed}, {len(failed)} failed")
        checked = Seed(module, levels[seed % len(levels)], work / str(seed))
        try:
            checked.check()
            shutil.rmtree(checked.folder)
        except Failure as failure:
            failed.append(seed)
            show_progress("")
            print(f"seed {seed} on {checked.level} ({module.words}): {failure}")
            print(f"  its files are in {checked.folder}", flush=True)
        if options.verbose:
            errors = [f"{n} {error:.2g}" for n, error in checked.errors.items()]
            show_progress("")
            print(f"seed {seed}: {', '.join(errors)}; {module.words}")
    show_progress("")
    if not options.print:
        print(f"{len(options.seeds)} seeds, {len(failed)} failed: {failed}")
    return bool(failed)


def show_progress(text):
    """Replaces the progress line, on a terminal."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
