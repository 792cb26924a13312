"""Settings as keyword arguments: `beam=4`, `length_penalty=0.6`, `sample=True`.

They are those of heddle-run's flags, with "_" for "-": `heddle.settings()` lists them."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any, Iterable, Optional

from ._library import byref, lib
from .errors import MisuseError


@dataclass(frozen=True)
class Setting:
    name: str
    #: What its value is called; None for True and False.
    value: Optional[str]
    group: str
    help: str


def settings() -> list[Setting]:
    """All settings, in the order in which people read them."""
    count = ctypes.c_size_t()
    listed = lib.settings_list(byref(count))
    return [
        Setting(
            each.name.decode().replace("-", "_"),
            each.value.decode() if each.value else None,
            each.group.decode(),
            each.help.decode(),
        )
        for each in listed[: count.value]
    ]


def _as_text(name: str, value: Any) -> bytes:
    if isinstance(value, bool):
        return b"true" if value else b"false"
    if isinstance(value, (int, float, str)):
        return str(value).encode()
    if isinstance(value, (list, tuple)):
        return ",".join(map(str, value)).encode()
    raise MisuseError(
        f"'{name}' is of the type {type(value).__name__}, expected bool, int, float, str "
        "or a list of these"
    )


def _as_texts(value: str | Iterable[str]) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


#: What may be given several times.
_LISTS = {
    "stop": "settings_add_stop",
    "bad_words": "settings_add_bad_words",
    "allowed": "settings_add_allowed",
}


class Settings:
    """Owns the library's settings."""

    def __init__(self, values: dict[str, Any]) -> None:
        self.handle = ctypes.c_void_p()
        lib.settings_create(b"", byref(self.handle))
        for name, value in values.items():
            if value is None:
                continue
            if name in _LISTS:
                for text in _as_texts(value):
                    data = text.encode()
                    getattr(lib, _LISTS[name])(self.handle, data, len(data))
            else:
                setting = name.replace("_", "-").encode()
                lib.settings_set(self.handle, setting, _as_text(name, value))

    def __del__(self) -> None:
        if self.handle:
            lib.settings_free(self.handle)
            self.handle = ctypes.c_void_p()
