#!/usr/bin/env python3
"""Runs the commands of a README and compares what they print.

Those of its blocks of ```console: a command stands behind `$ `, and goes on as
long as lines end with a backslash; below it stands what it prints, where `...` is
any number of lines. Blocks run in order, in one folder, in which names that stand
for something of the reader's own have been made before.

usage: run_commands.py README
"""

import re
import subprocess
import sys


def read_commands(readme):
    """Yields line, command and expected lines."""
    command, line, expected, inside = None, 0, [], False
    for number, text in enumerate(readme.read().split("\n"), 1):
        if text.startswith("```"):
            if command:
                yield line, command, expected
            command, inside = None, text == "```console"
        elif not inside:
            continue
        elif text.startswith("$ "):
            if command:
                yield line, command, expected
            command, line, expected = text[2:], number, []
        elif command.endswith("\\"):
            command += "\n" + text
        else:
            expected.append(text)


def matches(expected, printed):
    pattern = "".join(
        r"(?:.*\n)*" if line.strip() == "..." else re.escape(line + "\n")
        for line in expected
    )
    return re.fullmatch(pattern, printed) is not None


with open(sys.argv[1], encoding="utf-8") as readme:
    commands = list(read_commands(readme))
assert commands, "no command"
failed = 0
for line, command, expected in commands:
    result = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if result.returncode != 0 or not matches(expected, result.stdout):
        failed += 1
        print(
            f"{sys.argv[1]}:{line}: {command}\nexit code {result.returncode}, "
            f"printed:\n{result.stdout}expected:\n" + "\n".join(expected)
        )
print(len(commands), "commands,", failed, "failed")
sys.exit(failed != 0)
