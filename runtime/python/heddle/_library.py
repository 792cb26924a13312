"""The functions of libheddle.so (runtime/heddle.h), by ctypes.

The library is the one of the wheel, or of the build whose folder the environment
variable HEDDLE_BUILD names."""

from __future__ import annotations

import ctypes
import os
import sys
from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    byref,
    c_char_p,
    c_float,
    c_int,
    c_int32,
    c_int64,
    c_size_t,
    c_uint,
    c_void_p,
)
from typing import Any

from .errors import CancelledError, Error, MisuseError

if sys.platform != "linux" or os.uname().machine != "x86_64":
    raise ImportError(
        "heddle runs on Linux on x86-64, found "
        f"{sys.platform} on {os.uname().machine if hasattr(os, 'uname') else 'another'}"
    )

_NATIVE = os.path.join(os.path.dirname(os.path.realpath(__file__)), "native")


def find(name: str) -> str:
    """A file of the wheel, or of the build: "lib/libheddle.so", "bin/heddle-run"."""
    return os.path.join(os.environ.get("HEDDLE_BUILD") or _NATIVE, name)


def _load() -> ctypes.CDLL:
    path = find("lib/libheddle.so")
    try:
        return ctypes.CDLL(path)
    except OSError as error:
        # Of musl, or of a glibc that is too old.
        raise ImportError(f"{error}, expected glibc 2.34 or later") from None


class Input(Structure):
    _fields_ = [
        ("text", c_char_p),
        ("text_size", c_size_t),
        ("ids", POINTER(c_int32)),
        ("id_count", c_size_t),
        ("target", c_char_p),
        ("target_size", c_size_t),
        ("target_ids", POINTER(c_int32)),
        ("target_id_count", c_size_t),
        ("pair", c_char_p),
        ("pair_size", c_size_t),
    ]


class AnswerText(Structure):
    _fields_ = [
        # Texts have a size and may hold NULs.
        ("text", c_void_p),
        ("text_size", c_size_t),
        ("ids", POINTER(c_int32)),
        ("id_count", c_size_t),
        ("sum", c_float),
        ("score", c_float),
        ("log_probabilities", POINTER(c_float)),
        ("pairs", POINTER(c_int32)),
        ("pair_count", c_size_t),
        ("attention", POINTER(c_float)),
        ("source_count", c_size_t),
    ]


class LabelText(Structure):
    _fields_ = [
        ("text", c_void_p),
        ("text_size", c_size_t),
        ("id", c_int32),
        ("score", c_float),
        ("token", c_size_t),
        ("token_name", c_char_p),
        ("first_byte", c_size_t),
        ("last_byte", c_size_t),
        ("first_character", c_size_t),
        ("last_character", c_size_t),
    ]


class Setting(Structure):
    _fields_ = [(name, c_char_p) for name in ("name", "value", "group", "help")]


TokenCallback = CFUNCTYPE(c_int, c_void_p, c_size_t, c_int32, c_void_p, c_size_t, c_int)

_INPUTS = [c_void_p, POINTER(Input), c_size_t]
# Name: what it returns, and its arguments; those that return a status are checked.
_STATUS = "status"
_FUNCTIONS = {
    "version": (c_char_p, []),
    "error": (c_char_p, []),
    "free": (None, [c_void_p]),
    "model_load": (_STATUS, [c_char_p, c_uint, POINTER(c_void_p)]),
    "model_free": (None, [c_void_p]),
    "model_has_tokenizer": (c_int, [c_void_p]),
    "model_has_task": (c_int, [c_void_p, c_char_p]),
    "model_continues_texts": (c_int, [c_void_p]),
    "describe": (_STATUS, [c_char_p, c_uint, c_int64, POINTER(c_void_p)]),
    "settings_list": (POINTER(Setting), [POINTER(c_size_t)]),
    "settings_create": (_STATUS, [c_char_p, POINTER(c_void_p)]),
    "settings_free": (None, [c_void_p]),
    "settings_set": (_STATUS, [c_void_p, c_char_p, c_char_p]),
    "settings_add_bad_words": (_STATUS, [c_void_p, c_char_p, c_size_t]),
    "settings_add_stop": (_STATUS, [c_void_p, c_char_p, c_size_t]),
    "settings_add_allowed": (_STATUS, [c_void_p, c_char_p, c_size_t]),
    "session_create": (_STATUS, [c_void_p, c_void_p, POINTER(c_void_p)]),
    "session_free": (None, [c_void_p]),
    "session_configure": (_STATUS, [c_void_p, c_void_p]),
    "session_on_token": (_STATUS, [c_void_p, TokenCallback, c_void_p]),
    "cancel": (None, [c_void_p]),
    "guard_interrupts": (_STATUS, [c_void_p]),
    "release_interrupts": (c_int, []),
    "encode": (
        _STATUS,
        [c_void_p, c_uint, c_char_p, c_size_t, c_char_p]
        + [POINTER(c_void_p), POINTER(c_size_t)],
    ),
    "decode": (
        _STATUS,
        [c_void_p, POINTER(c_int32), c_size_t, POINTER(c_void_p), POINTER(c_size_t)],
    ),
    "translate": (_STATUS, [*_INPUTS, POINTER(c_void_p)]),
    "score": (_STATUS, [*_INPUTS, POINTER(c_void_p)]),
    "answer_count": (c_size_t, [c_void_p, c_size_t]),
    "answer": (POINTER(AnswerText), [c_void_p, c_size_t, c_size_t]),
    "answers_free": (None, [c_void_p]),
    "embed": (_STATUS, [*_INPUTS, POINTER(c_void_p), POINTER(c_size_t)]),
    "classify": (_STATUS, [*_INPUTS, POINTER(c_void_p)]),
    "tag": (_STATUS, [*_INPUTS, POINTER(c_void_p)]),
    "fill": (_STATUS, [*_INPUTS, POINTER(c_void_p)]),
    "find_answers": (_STATUS, [*_INPUTS, POINTER(c_void_p)]),
    "labels_of": (POINTER(LabelText), [c_void_p, c_size_t, POINTER(c_size_t)]),
    "labels_free": (None, [c_void_p]),
}

_ERRORS = {1: Error, 2: MisuseError, 3: CancelledError}


class _Library:
    """Each function of heddle.h under its name without "heddle_". A failure is raised
    with the library's sentence."""

    def __getattr__(self, name: str) -> Any:
        # For type checkers: what is there is an attribute.
        raise AttributeError(f"libheddle.so has no function 'heddle_{name}'")

    def __init__(self) -> None:
        library = _load()
        for name, (returned, arguments) in _FUNCTIONS.items():
            function = getattr(library, f"heddle_{name}")
            function.argtypes = arguments
            if returned is _STATUS:
                function.restype = c_int
                function.errcheck = self._check
            else:
                function.restype = returned
            setattr(self, name, function)

    def _check(self, status: int, function: object, arguments: object) -> int:
        if status != 0:
            raise _ERRORS.get(status, Error)(self.error().decode())
        return status


lib = _Library()


def text_of(address: int, size: int) -> str:
    """Bytes that a model generates need not be whole characters."""
    return ctypes.string_at(address, size).decode("utf-8", "replace")


def take_text(address: c_void_p, size: int | None = None) -> str:
    """The text that a function gave out, which is freed."""
    try:
        data = ctypes.string_at(address, -1 if size is None else size)
        return data.decode("utf-8", "replace")
    finally:
        lib.free(address)


__all__ = ["Input", "TokenCallback", "byref", "find", "lib", "take_text", "text_of"]
