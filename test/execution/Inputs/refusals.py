"""Wrong inputs of heddle-compile: what it says of each, and that it leaves no artifact."""

import subprocess
import sys


class Refusals:
    """Counts inputs, whose artifacts would go to the folder `work`."""

    def __init__(self, work):
        self.artifact = work / "artifact"
        self.cases = 0
        self.failures = []

    def expect(self, path, sentence, *flags):
        """One line on standard error, with the sentence in it, and the status 1."""
        self.cases += 1
        done = subprocess.run(
            ["heddle-compile", path, "-o", self.artifact, "--target", "x86-64-v3", *flags],
            capture_output=True, text=True)
        lines = done.stderr.splitlines()
        is_refused = done.returncode == 1 and len(lines) == 1 and sentence in lines[0]
        if not is_refused or self.artifact.exists():
            self.failures.append(f"status {done.returncode}, {lines}, expected {sentence!r}")
            self.artifact.unlink(missing_ok=True)

    def finish(self):
        print(f"{self.cases} cases", *self.failures, sep="\n")
        sys.exit(len(self.failures) > 0)
