"""Heddle compiles transformers ahead of time; this package compiles and runs them.

    import heddle

    model = heddle.compile("opus-mt-en-pt", dtype="int8")
    print(model.translate("Good morning."))

Inputs of a call are a text, or a list of them, and its results a value or a list.
Keyword arguments are settings (`heddle.settings()`), the flags of heddle-run with "_" for
"-". The same input has the same answer, bit for bit, whatever runs beside it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._library import lib as _lib
from .errors import CancelledError, CompileError, Error, MisuseError
from .model import Model
from .results import Label, Text
from .settings import Setting, settings

__version__ = _lib.version().decode()

if TYPE_CHECKING:
    from .aio import AsyncModel
    from .compiler import compile

#: What is imported once somebody asks for it.
_LATER = {"AsyncModel": "aio", "compile": "compiler"}


def __getattr__(name: str) -> Any:
    """Who only loads models need not wait for what compiles them."""
    if name not in _LATER:
        raise AttributeError(f"module 'heddle' has no attribute '{name}'")
    value = getattr(import_module(f".{_LATER[name]}", __name__), name)
    globals()[name] = value
    return value


#: A file of heddle-compile, an artifact or an executable.
load = Model

__all__ = [
    "AsyncModel",
    "CancelledError",
    "CompileError",
    "Error",
    "Label",
    "MisuseError",
    "Model",
    "Setting",
    "Text",
    "compile",
    "load",
    "settings",
]
