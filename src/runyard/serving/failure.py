"""An exception of the user's code as a record: its type, its message, the user's own line, and what to do about it."""

from __future__ import annotations

import os
import traceback
from types import TracebackType

from runyard.contracts.services.worker import WorkerError

_HELP = {
    "SyntaxError": "Python cannot read the script: correct the line.",
    "IndentationError": "Python cannot read the script: correct the indentation of the line.",
    "FileNotFoundError": (
        "A model lies below the folder in AZUREML_MODEL_DIR; Model.get_model_path('<name>') gives its path."
    ),
    "MemoryError": "The model needs more memory than there is: give the service more, or fewer workers.",
}


class CannotServe(Exception):
    """The service cannot come up. `help` says what to do; `cause` is the user's exception, if it was one."""

    def __init__(self, message: str, help: str = "") -> None:
        super().__init__(message)
        self.help = help


def failure(error: BaseException, folder: str = "") -> WorkerError:
    """`folder`: where the user's code is, to tell its line from those of packages."""
    cause = error.__cause__ if isinstance(error, CannotServe) and error.__cause__ is not None else error
    file, line = users_line(cause, folder)
    if isinstance(error, CannotServe):
        kind, said = type(cause).__name__ if cause is not error else "CannotServe", str(error)
    else:
        kind, said = type(error).__name__, str(error)
    shown = "" if cause is error and isinstance(error, CannotServe) else formatted(cause)
    return WorkerError(kind, said, file, line, shown, getattr(error, "help", "") or help_for(cause))


def help_for(error: BaseException) -> str:
    if isinstance(error, ModuleNotFoundError) and error.name:
        package = error.name.partition(".")[0]
        return (
            f"The package of {error.name!r} is not in the service's environment: add it, for example with "
            f"env.python.conda_dependencies.add_pip_package({_PACKAGES.get(package, package)!r})."
        )
    return next((_HELP[each.__name__] for each in type(error).__mro__ if each.__name__ in _HELP), "")


_PACKAGES = {"sklearn": "scikit-learn", "PIL": "pillow", "cv2": "opencv-python-headless", "yaml": "pyyaml"}
"""Packages with another name than what is imported."""


def users_line(error: BaseException, folder: str) -> tuple[str, int]:
    """The last line of the user's own code on the way to the error."""
    if isinstance(error, SyntaxError) and error.filename:
        return error.filename, error.lineno or 0
    found = ("", 0)
    inside = os.path.join(os.path.realpath(folder), "") if folder else ""
    step: TracebackType | None = error.__traceback__
    while step is not None:
        name = step.tb_frame.f_code.co_filename
        if inside and os.path.realpath(name).startswith(inside) and "site-packages" not in name:
            found = name, step.tb_lineno
        step = step.tb_next
    return found


def formatted(error: BaseException) -> str:
    """The traceback, without the frames of the server itself."""
    step = error.__traceback__
    here = os.path.dirname(os.path.abspath(__file__))
    while step is not None and step.tb_next is not None:
        name = step.tb_frame.f_code.co_filename
        if not name.startswith((here, "<frozen importlib")):
            break
        step = step.tb_next
    return "".join(traceback.format_exception(type(error), error, step))
