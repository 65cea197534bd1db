"""The native module whose commands are called: flitlab's own, or one with components more."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from . import _flitlab

module: Any = _flitlab


def use(native: ModuleType) -> None:
    """Calls the commands of another native module from now on.

    It is one that a crate of your own builds on `flitlab-python`, and its commands know the
    components of that crate: docs/python.md, "Components of your own".
    """
    global module
    for name in ("call", "main"):
        if not hasattr(native, name):
            raise TypeError(
                f"{native!r} has no `{name}`: give the native module of a crate that is built on flitlab-python"
            )
    module = native
