#!/usr/bin/env python3
"""Runs a command of the shell on a terminal of its own, presses Ctrl-C after some
lines of it and prints what the terminal shows at the end: writing over what stands
there, as a terminal does.

usage: terminal.py WRITTEN COMMAND
       (WRITTEN, how many bytes are waited for before Ctrl-C; 0 for no Ctrl-C)
"""

import os
import pty
import re
import signal
import sys
import time


def shown(text):
    """Lines of text once a terminal has obeyed it."""
    lines, column = [""], 0
    for part in re.findall(r"\x1b\[K|[\r\n]|[^\x1b\r\n]+", text):
        if part == "\r":
            column = 0
        elif part == "\n":
            lines.append("")
        elif part == "\x1b[K":
            lines[-1] = lines[-1][:column]
        else:
            lines[-1] = lines[-1][:column] + part + lines[-1][column + len(part) :]
            column += len(part)
    return lines


wanted, command = int(sys.argv[1]), sys.argv[2]
process, terminal = pty.fork()
if process == 0:
    # Who runs tests in the background may ignore it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.execvp("bash", ["bash", "-c", command])
text, pressed = b"", None
while True:
    try:
        read = os.read(terminal, 4096)
    except OSError:  # Nobody has the terminal any more.
        break
    if not read:
        break
    text += read
    if wanted and pressed is None and len(text) >= wanted:
        pressed = time.monotonic()
        os.write(terminal, b"\x03")
_, status = os.waitpid(process, 0)
if pressed is not None:
    assert time.monotonic() - pressed < 10, "did not end at once"
print("progress" if re.search(r"\d+ (lines|of \d+)", text.decode()) else "no progress")
print("\n".join(shown(text.decode())).rstrip("\n"))
print("signal" if os.WIFSIGNALED(status) else "exit", os.WTERMSIG(status) or status >> 8)
