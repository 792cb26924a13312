"""Compiles folders with something wrong in them, and compares what the compiler says.

A case is a folder of GOLDENS, changes of its files and the sentence, in which * stands
for anything; the folder is `model` then. Each command prints one line, exits with 1 and
leaves no file behind.
"""

import fnmatch
import os
import pathlib
import re
import shutil
import subprocess


def check(golden, change, sentence):
    """What is wrong with a case, or nothing. The folder is `model`, in this one."""
    shutil.copytree(golden, "model")
    change(pathlib.Path("model"))
    command = ["heddle-compile", "model", "--emit=mlir", "-o", "out"]
    done = subprocess.run(command, capture_output=True, text=True)
    shutil.rmtree("model")
    left = os.listdir()
    for name in left:
        os.unlink(name)
    wrong = []
    if done.returncode != 1:
        wrong.append(f"exit code {done.returncode}, expected 1")
    if left:
        wrong.append(f"left behind: {', '.join(left)}")
    # Brackets mean nothing but themselves.
    pattern = re.sub(r"\[", "[[]", f"heddle-compile: error: {sentence}\n")
    if done.stderr.count("\n") != 1 or not fnmatch.fnmatchcase(done.stderr, pattern):
        wrong.append(f"expected: {sentence}\n  found:    {done.stderr.rstrip()}")
    return "\n  ".join(wrong)


def main(cases, goldens, tools, work):
    """Returns whether a case is not as expected."""
    os.environ["PATH"] = f"{tools}:{os.environ['PATH']}"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    os.chdir(work)
    failures = 0
    for number, (folder, change, sentence) in enumerate(cases):
        if wrong := check(goldens / folder, change, sentence):
            print(f"case {number}, of {folder}:\n  {wrong}")
            failures += 1
    print(f"{len(cases)} wrong folders, {failures} not as expected")
    return failures > 0
