"""The folder that is put first on a run's PYTHONPATH: `runyard` and `azureml`, and nothing else.

It is a copy, so that upgrading Runyard does not pull the code away under a run, and it is compiled, so that a run
starts quickly even where Python may not write bytecode. Its name is the hash of its content.
"""

from __future__ import annotations

import hashlib
import importlib.util
import marshal
import os
import shutil
import struct
import sys
import tempfile
import threading
from pathlib import Path
from types import CodeType

import runyard

PARTS = (
    "runyard/__init__.py",
    *(
        f"runyard/{name}"
        for name in ("system", "contracts", "client", "sdk", "environments", "node", "serving", "compat")
    ),
    "azureml",
)

_making = threading.Lock()

# The flags of a file of bytecode (PEP 552): what it was made from is told by time and size, or is not looked at.
_CHECKED_BY_TIME, _UNCHECKED = struct.pack("<L", 0), struct.pack("<L", 1)


def sdk_folder(home: Path) -> Path:
    """The folder for the code of this process, made when it is not there yet."""
    with _making:  # two threads that ask at once would both compile it
        return _folder(home)


def _folder(home: Path) -> Path:
    source = Path(runyard.__file__).parent.parent
    files = sorted(path for part in PARTS for path in _modules(source / part))
    seen = hashlib.sha256(sys.implementation.cache_tag.encode() if sys.implementation.cache_tag else b"")
    for path in files:
        content = path.read_bytes()
        seen.update(f"{path.relative_to(source)} {len(content)}\n".encode())
        seen.update(content)
    folder = home / "sdk" / seen.hexdigest()[:16]
    if not folder.is_dir():
        _make(folder, source, files)
    return folder


def _modules(path: Path) -> list[Path]:
    return [path] if path.is_file() else sorted(path.rglob("*.py"))


def _make(folder: Path, source: Path, files: list[Path]) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    aside = Path(tempfile.mkdtemp(prefix=".making-", dir=folder.parent))
    try:
        for path in files:
            _lay(aside / path.relative_to(source), path)
        aside.chmod(0o755)
        os.rename(aside, folder)
    except OSError:
        shutil.rmtree(aside, ignore_errors=True)
        if not folder.is_dir():  # otherwise another process was quicker, with the same content
            raise


def _lay(target: Path, source: Path) -> None:
    """A module and its bytecode, marked as unchecked: the copy never changes, so Python need not look at it again."""
    target.parent.mkdir(parents=True, exist_ok=True)
    content = source.read_bytes()
    target.write_bytes(content)
    if sys.implementation.cache_tag is None:
        return
    code = _cached_code(source) or marshal.dumps(compile(content, target.name, "exec", dont_inherit=True))
    bytecode = Path(importlib.util.cache_from_source(str(target)))
    bytecode.parent.mkdir(exist_ok=True)
    bytecode.write_bytes(importlib.util.MAGIC_NUMBER + _UNCHECKED + importlib.util.source_hash(content) + code)


def _cached_code(source: Path) -> bytes | None:
    """The code of a module as Python has cached it, if that is of the module as it is: compiling takes ten times as
    long. (The names of files in it do not matter: an import corrects them.)"""
    try:
        cached = Path(importlib.util.cache_from_source(str(source))).read_bytes()
        status = source.stat()
    except OSError:
        return None
    seen = struct.pack("<LL", int(status.st_mtime) & 0xFFFFFFFF, status.st_size & 0xFFFFFFFF)
    current = importlib.util.MAGIC_NUMBER + _CHECKED_BY_TIME + seen
    code = cached[len(current) :]
    try:
        return code if cached.startswith(current) and isinstance(marshal.loads(code), CodeType) else None
    except (EOFError, ValueError, TypeError):  # it is torn
        return None
