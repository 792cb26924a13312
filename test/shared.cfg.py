# Of both suites: where tests keep for each other, and for the next run, what takes
# long to compute, under a digest of all that it follows from; and where ptxas is.

import os

for variable, folder in [
    ("HEDDLE_EMULATOR_OBJECTS", "objects"),
    ("HEDDLE_PTX_REPORTS", "ptx"),
]:
    config.environment[variable] = os.path.join(
        config.test_exec_root, "cache", folder
    )
if "HEDDLE_PTXAS" in os.environ:
    config.environment["HEDDLE_PTXAS"] = os.environ["HEDDLE_PTXAS"]
