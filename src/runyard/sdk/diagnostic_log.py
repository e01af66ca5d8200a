"""SDK v1's `diagnostic_log`: a file in which one reads afterwards what the SDK did, request by request.

It is for reports of errors. The file has no token and no body of a request, and nothing is sent anywhere.
"""

from __future__ import annotations

import logging
import os
import platform
import re
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Sequence, TextIO

from runyard import __version__
from runyard.client import http
from runyard.sdk.notices import notice
from runyard.sdk.sdk_v1 import VERSION

NAMESPACES = ("azureml", "runyard")
"""The loggers of SDK v1's names and of what stands behind them."""

_requests = logging.getLogger("runyard.client")
_lock = threading.Lock()
_levels: dict[str, int] = {}
"""What loggers had before the first of them."""
_open: list[diagnostic_log] = []
"""Those that capture now."""


class diagnostic_log:
    """Writes what the SDK does into a file while it is entered, or from `start_capture` to `stop_capture`.

    `log_path` is a file, which is appended to, or a folder, in which a file is made; without it, that is a folder
    for temporary files. `namespaces` are the names of loggers; what `azureml` does is always among them.

        with diagnostic_log("what-happened.log"):
            experiment.submit(config)
    """

    def __init__(
        self,
        log_path: str | os.PathLike[str] | None = None,
        namespaces: Sequence[str] | None = None,
        context_name: str | None = None,
    ) -> None:
        self._context = context_name or "azureml"
        self._path = Path(log_path) if log_path is not None else Path(tempfile.gettempdir())
        more = [namespaces] if isinstance(namespaces, str) else namespaces or ()
        self._names = tuple(dict.fromkeys((*NAMESPACES, *more)))
        self._handler: logging.StreamHandler[TextIO] | None = None

    def start_capture(self) -> None:
        """Begin to write, where that has not begun."""
        with _lock:
            if self._handler is not None:
                return
            path = _file(self._path, self._context)
            self._handler = logging.StreamHandler(_opened(path))
            self._handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
            for name in self._names:
                logger = logging.getLogger(name)
                logger.addHandler(self._handler)
                _levels.setdefault(name, logger.level)
                logger.setLevel(logging.DEBUG)
            _open.append(self)
            if len(_open) == 1:
                http.exchanges.append(_told)
        _requests.debug(
            "%s: Runyard %s, SDK %s, Python %s, %s; %s",
            *(self._context, __version__, VERSION, platform.python_version(), platform.platform(), sys.executable),
        )
        notice(f"What the SDK does is written to {path}")

    def stop_capture(self) -> None:
        """End the writing; loggers have their former levels again once nothing else is captured from them."""
        with _lock:
            if self._handler is None:
                return
            handler, self._handler = self._handler, None
            _open.remove(self)
            if not _open:
                http.exchanges.remove(_told)
            wanted = {name for other in _open for name in other._names}
            for name in self._names:
                logger = logging.getLogger(name)
                logger.removeHandler(handler)
                if name not in wanted:
                    logger.setLevel(_levels.pop(name))
        handler.stream.close()

    def __enter__(self) -> diagnostic_log:
        self.start_capture()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if error is not None:
            logging.getLogger("runyard").debug("%s", error, exc_info=error)
        self.stop_capture()


def _file(path: Path, context: str) -> Path:
    """
    >>> str(_file(Path("here.log"), "azureml"))
    'here.log'
    """
    if path.suffix and not path.is_dir():
        return path
    name = re.sub(r"[^\w.-]+", "_", context)[:64]
    return path / f"{name}-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.log"


def _opened(path: Path) -> TextIO:
    """For its owner alone: names and paths of the user's are in it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "a", encoding="utf-8", errors="replace")


def _told(method: str, target: str, status: int | None, seconds: float) -> None:
    # Without what follows the path: searches hold what users typed.
    path = target.partition("?")[0]
    _requests.debug("%s %s: %s, %.1f ms", method, path, status or "no answer", 1000 * seconds)
