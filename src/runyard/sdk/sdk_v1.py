"""The version of SDK v1, and its names that are loaded late or do not exist yet.

`azureml` holds no code of its own: its packages take their `__getattr__` from here. Missing modules are the subject
of `runyard.sdk.absent_modules`.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Callable, Collection, Mapping

VERSION = "1.62.0"
"""The release of SDK v1 whose API this follows. Scripts print it, compare it and pin packages to it, so it is a plain
version number of that line and not Runyard's own."""


def missing(what: str) -> str:
    """The message for a module or a name of SDK v1 that Runyard lacks."""
    return f"{what} is part of SDK v1, not of Runyard: this version does not have it yet."


def late_names(module: str, found_in: Mapping[str, str], not_yet: Collection[str] = ()) -> Callable[[str], object]:
    """A `__getattr__` for a module: each name is imported from its own module when it is first used.

    This makes `import azureml.core` quick for a script that only logs. Names in `not_yet` are refused with a message.
    """

    def __getattr__(name: str) -> object:
        if name in found_in:
            value: object = getattr(import_module(found_in[name]), name)
            setattr(sys.modules[module], name, value)
            return value
        if name not in not_yet:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        message = missing(f"{module}.{name}")
        # `from module import name` swallows an AttributeError and its message; hasattr() takes nothing else.
        if sys._getframe(1).f_code.co_name == "_handle_fromlist":
            raise ImportError(message, name=module)
        raise AttributeError(message)

    return __getattr__
