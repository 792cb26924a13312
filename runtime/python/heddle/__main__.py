"""heddle compile MODEL -o FILE ..., heddle run FILE [TEXT...], heddle info FILE: the
tools of the command line, which take the place of this process."""

from __future__ import annotations

import os
import sys

from ._library import find, lib

_USAGE = """usage: heddle compile MODEL -o FILE [options]
       heddle run FILE [TEXT...] [options]
       heddle info FILE
       heddle --version

heddle compile --help and heddle run --help say more."""


def main() -> None:
    words = sys.argv[1:]
    name = words[0] if words else ""
    if name in ("--version", "-V"):
        print("heddle", lib.version().decode())
    elif name in ("--help", "-h"):
        print(_USAGE)
    elif name in ("compile", "run"):
        tool = find(f"bin/heddle-{name}")
        os.execv(tool, [tool, *words[1:]])
    elif name == "info" and len(words) >= 2:
        tool = find("bin/heddle-run")
        os.execv(tool, [tool, *words[1:], "--info"])
    else:
        found = f"'{name}'" if name else "nothing"
        sys.exit(f"heddle: error: found {found}, expected compile, run or info\n{_USAGE}")


if __name__ == "__main__":
    main()
