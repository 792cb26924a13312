"""What the benchmarks share: engines as processes that answer requests, rounds
that go through all of them, medians, and results as text and JSON.

Machines are shared and noisy, so every figure is the median of rounds in which
each engine has its turn, and a ratio is the median of the rounds' ratios. An
engine is stopped while others have theirs: threads that spin for more work
would take it from them.
"""

import atexit
import contextlib
import json
import os
import pathlib
import platform
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PEERS = ROOT / "bench" / "peers"


def fail(message):
    sys.exit(f"{pathlib.Path(sys.argv[0]).name}: {message}")


def processor():
    """The name of this machine's CPU and what of it makes int8 and bf16 fast."""
    try:
        text = pathlib.Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.machine()
    fields = dict(
        (part.strip() for part in line.split(":", 1))
        for line in text.split("\n\n")[0].splitlines()
        if ":" in line
    )
    flags = fields.get("flags", "").split()
    fast = [
        name
        for flag, name in (
            ("amx_tile", "AMX"),
            ("avx512_bf16", "AVX-512 BF16"),
            ("avx512_vnni", "AVX-512 VNNI"),
            ("avx_vnni", "AVX-VNNI"),
        )
        if flag in flags
    ]
    return f"{fields.get('model name', platform.machine())} ({', '.join(fast)})"


def draw_model(config, folder, build):
    """Makes `folder`: the one of a configuration, with its vocabulary and random
    weights."""
    unfinished = folder.with_name("unfinished")
    shutil.copytree(config, unfinished, dirs_exist_ok=True)
    command = [build / "bin" / "heddle-compile", config]
    command += ["--random-weights", "0", "--emit", "mlir", "-o", "-"]
    command += ["--write-weights", unfinished / "model.safetensors"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    unfinished.rename(folder)


class Engine:
    """A process that reads the lines of a request and writes an answer for each,
    in order: heddle-run does, and so do the programs of bench/peers, which are
    told before how many there are."""

    def __init__(self, name, command, cores, counted):
        self.name = name
        self.counted = counted
        self.log = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            ["taskset", "-c", cores, *map(str, command)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            # A request is written as a whole before its answers are read.
            pipesize=1 << 20,
        )
        # Nobody else would end a process that is stopped.
        atexit.register(self.kill)

    def ask(self, lines):
        """The seconds that a request took, and the answers."""
        head = f"{len(lines)}\n" if self.counted else ""
        request = (head + "".join(line + "\n" for line in lines)).encode()
        self.process.send_signal(signal.SIGCONT)
        start = time.perf_counter()
        # One write: heddle-run runs together what it finds.
        with contextlib.suppress(BrokenPipeError):  # Ended: no answer comes.
            os.write(self.process.stdin.fileno(), request)
        answers = [self.process.stdout.readline() for _ in lines]
        seconds = time.perf_counter() - start
        self.process.send_signal(signal.SIGSTOP)
        if not all(answers):
            self.log.seek(0)
            sys.stderr.write(self.log.read().decode(errors="replace"))
            fail(f"{self.name} gave no answer")
        return seconds, [answer.decode().rstrip("\n") for answer in answers]

    def peak_bytes(self):
        """The most memory that it had resident so far."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        line = next(l for l in status.splitlines() if l.startswith("VmHWM"))
        return int(line.split()[1]) * 1024

    def kill(self):
        self.process.kill()
        self.process.wait()

    def close(self):
        self.process.send_signal(signal.SIGCONT)
        self.process.stdin.close()
        self.process.wait()


def rounds(count, turns):
    """The values of each turn, by name: turns are functions, called in order,
    round after round."""
    values = {name: [] for name in turns}
    for _ in range(count):
        for name, turn in turns.items():
            values[name].append(turn())
    return values


def median_ratio(values, base):
    """How many times as large as those of the base, round by round."""
    return statistics.median(value / b for value, b in zip(values, base))


def print_table(titles, rows, names=1):
    """Columns as wide as they need; behind the names stand numbers."""
    texts = [titles] + [[str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*texts)]
    for text in texts:
        cells = [
            cell.ljust(width) if i < names else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(text, widths))
        ]
        print("  ".join(cells), flush=True)


def write_json(path, benchmark, rows, **more):
    """One object: what was measured where, and a row for each figure."""
    report = {"benchmark": benchmark, "processor": processor(), **more, "rows": rows}
    pathlib.Path(path).write_text(json.dumps(report, indent=2) + "\n")
