"""Runs the cases of cases.py and says what is not as they have it.

usage: run_cases.py SOURCE ARTIFACT FOLDER [PATTERN]
"""

import fnmatch
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from cases import CASES

SETUP = r"""
set -e
for model in bart:test/goldens/bart-one-layer marian:models/bergamot-en-pt; do
  mkdir ${model%%:*}
  ln -s "$SOURCE/${model#*:}"/* ${model%%:*}
done
ln -s "$ARTIFACT" model.heddle
edit() {
  for file; do cp --remove-destination "$(readlink -f "$file")" "$file"; done
}
"""


def files_of(folder):
    return {
        os.path.relpath(os.path.join(path, name), folder)
        for path, folders, files in os.walk(folder)
        for name in folders + files
    }


def run(number, case, environment, root):
    """Returns what is wrong with a case, or nothing."""
    folder = os.path.join(root, str(number))
    os.mkdir(folder)
    options = dict(cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                   capture_output=True)
    made = subprocess.run(["bash", "-c", SETUP + case.prepare], **options)
    if made.returncode != 0:
        return f"cannot be prepared: {made.stderr.decode()}"
    before = files_of(folder)
    found = subprocess.run(["bash", "-c", case.command], timeout=300, **options)
    errors = found.stderr.decode(errors="replace")
    left = files_of(folder) - before
    shutil.rmtree(folder)
    wrong = []
    if found.returncode != case.code:
        wrong.append(f"exit code {found.returncode}, expected {case.code}")
    if left:
        wrong.append(f"left behind: {', '.join(sorted(left))}")
    sentence = re.fullmatch(r"heddle-(?:run|compile): error: (.*[^.\n])\n(?:  .*\n  .*\n)?", errors)
    # Brackets mean nothing but themselves.
    pattern = re.sub(r"\[", "[[]", case.sentence)
    if not sentence or not fnmatch.fnmatchcase(sentence[1], pattern):
        wrong.append(f"expected: {case.sentence}\n  found:    {errors.rstrip()}")
    return "\n  ".join(wrong)


def main(source, artifact, root, pattern="*"):
    environment = dict(os.environ, SOURCE=source, ARTIFACT=artifact, LC_ALL="C")
    cases = [each for each in CASES if fnmatch.fnmatch(each.what, pattern)]
    if os.environ.get("HEDDLE_SANITIZED"):
        cases = [each for each in cases if "ulimit -v" not in each.command]
    with ThreadPoolExecutor(2) as pool:
        failures = list(pool.map(
            lambda each: run(*each, environment, root), enumerate(cases)))
    for case, wrong in zip(cases, failures):
        if wrong:
            print(f"{case.what}: {case.command}\n  {wrong}")
    print(f"{len(cases)} wrong inputs, {sum(map(bool, failures))} not as expected")
    return any(failures)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
