"""Compiles models: heddle-compile, and a cache of what it has made.

A model that was compiled with the same flags, from the same files and by the same
version is not compiled again. Files stand in $XDG_CACHE_HOME/heddle, or ~/.cache/heddle:
who wants room deletes them."""

from __future__ import annotations

import fcntl
import hashlib
import os
import pathlib
import subprocess
import sys
from contextlib import contextmanager
from typing import Any, Iterator, Optional

from ._library import find, lib
from .errors import CompileError
from .model import Model

_PIECE = 1 << 20


def _cache_folder() -> pathlib.Path:
    root = os.environ.get("XDG_CACHE_HOME")
    # The specification has no use for relative paths.
    base = (
        pathlib.Path(root)
        if root and os.path.isabs(root)
        else pathlib.Path.home() / ".cache"
    )
    return base / "heddle"


def _files_of(source: pathlib.Path) -> list[pathlib.Path]:
    if not source.is_dir():
        return [source]
    return sorted(path for path in source.rglob("*") if path.is_file())


def _key(source: pathlib.Path, flags: list[str]) -> str:
    """A checksum of the version, the flags and all files. This machine's processor
    counts where the code is for it."""
    digest = hashlib.sha256()

    def add(data: bytes) -> None:
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)

    add(lib.version())
    for flag in flags:
        add(flag.encode())
    if any("native" in flag for flag in flags):
        add(_processor())
    for path in _files_of(source):
        add(str(path.relative_to(source)).encode("utf-8", "surrogateescape"))
        with open(path, "rb") as file:
            digest.update(os.fstat(file.fileno()).st_size.to_bytes(8, "little"))
            while piece := file.read(_PIECE):
                digest.update(piece)
    return digest.hexdigest()


def _processor() -> bytes:
    with open("/proc/cpuinfo", "rb") as file:
        return next((line for line in file if line.startswith(b"flags")), b"")


@contextmanager
def _locked(path: pathlib.Path) -> Iterator[None]:
    """One process compiles a model, others wait for it."""
    with open(path, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _flags_of(settings: dict[str, Any]) -> list[str]:
    """`dtype="int8"` is --dtype int8, `reference=True` --reference; a list repeats."""
    flags = []
    for name, value in settings.items():
        flag = "--" + name.replace("_", "-")
        for each in value if isinstance(value, (list, tuple)) else [value]:
            if each is True:
                flags.append(flag)
            elif each is not None and each is not False:
                flags += [
                    flag,
                    os.fspath(each) if hasattr(each, "__fspath__") else str(each),
                ]
    return flags


def _run(command: list[str], progress: bool) -> None:
    """heddle-compile shows progress on a terminal, and its warnings anywhere."""
    shown = progress and sys.stderr.isatty()
    done = subprocess.run(
        command, stderr=None if shown else subprocess.PIPE, stdout=subprocess.DEVNULL
    )
    text = "" if shown else done.stderr.decode("utf-8", "replace")
    if done.returncode != 0:
        failed = text.strip().splitlines()[-1:] or [
            f"heddle-compile ended with {done.returncode}"
        ]
        raise CompileError(failed[0].replace("heddle-compile: error: ", ""))
    sys.stderr.write(text)


def compile(
    source: str | os.PathLike[str],
    output: Optional[str | os.PathLike[str]] = None,
    *,
    progress: bool = False,
    device: str = "auto",
    **flags: Any,
) -> Model:
    """Compiles a folder, a checkpoint or a module, and loads the result.

    `output` is where the file stands; without it, it is kept in the cache. `flags` are
    those of heddle-compile: `dtype="int8"`, `target="native"`, `attention="..."`."""
    folder = pathlib.Path(source)
    if not folder.exists():
        raise CompileError(f"there is no model '{folder}'")
    command = [find("bin/heddle-compile"), str(folder), *_flags_of(flags)]
    if output is not None:
        _run([*command, "-o", os.fspath(output)], progress)
        return Model(output, device=device)
    cache = _cache_folder()
    cache.mkdir(parents=True, exist_ok=True)
    path = cache / f"{_key(folder, command[2:])}.heddle"
    if not path.exists():
        with _locked(path.with_suffix(".lock")):
            # heddle-compile renames a whole file into place.
            if not path.exists():
                _run([*command, "-o", str(path)], progress)
    return Model(path, device=device)
