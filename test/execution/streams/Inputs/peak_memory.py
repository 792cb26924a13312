#!/usr/bin/env python3
"""Runs a command and says on the last line of standard error how many bytes it had
at most that are no file's, or a file's of memory, in MiB: looked up some hundred
times a second.

usage: peak_memory.py COMMAND...
"""

import pathlib
import subprocess
import sys
import time


def anonymous_kib(process):
    """What the system says, or nothing where the process has ended."""

    def numbers(name, *keys):
        try:
            text = pathlib.Path(f"/proc/{process.pid}/{name}").read_text()
        except OSError:
            return [0]
        lines = [line for line in text.splitlines() if line.startswith(keys)]
        return [int(line.split()[1]) for line in lines] or [0]

    # RSS counts a page of a file with each mapping.
    if numbers("status", "RssShmem:") == [0]:
        return numbers("status", "RssAnon:")[0]
    return sum(numbers("smaps_rollup", "Pss_Anon:", "Pss_Shmem:"))


process = subprocess.Popen(sys.argv[1:])
peak = 0
while process.poll() is None:
    peak = max(peak, anonymous_kib(process))
    time.sleep(0.002)
print(f"peak {peak / 1024:.2f}", file=sys.stderr)
sys.exit(process.returncode)
