"""Which SDK v1 this is, and the names of it that are loaded late or are not there yet.

`azureml` holds no code of its own: its packages take their `__getattr__` from here. Modules that are not there are told
of in `runyard.sdk.absent_modules`.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Callable, Collection, Mapping

VERSION = "1.62.0"
"""The release of SDK v1 whose API this follows. Scripts print it, compare it and pin packages to it, so it is a plain
version number of that line and not Runyard's own."""


def missing(what: str) -> str:
    """What is said of a module or a name that a script of SDK v1 imports in vain."""
    return f"{what} is part of SDK v1, not of Runyard: this version does not have it yet."


def late_names(module: str, found_in: Mapping[str, str], not_yet: Collection[str] = ()) -> Callable[[str], object]:
    """A `__getattr__` for a module: each name is imported from its own module when it is first asked for.

    This keeps `import azureml.core` quick for a script that only logs. Names in `not_yet` are refused with words.
    """

    def __getattr__(name: str) -> object:
        if name in found_in:
            value: object = getattr(import_module(found_in[name]), name)
            setattr(sys.modules[module], name, value)
            return value
        if name not in not_yet:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        message = missing(f"{module}.{name}")
        # `from module import name` swallows an AttributeError and its words; hasattr() takes nothing else.
        if sys._getframe(1).f_code.co_name == "_handle_fromlist":
            raise ImportError(message, name=module)
        raise AttributeError(message)

    return __getattr__
