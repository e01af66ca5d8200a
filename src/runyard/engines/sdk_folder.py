"""The folder that is put first on a run's PYTHONPATH: `runyard` and `azureml`, and nothing else.

It is a copy, so that upgrading Runyard does not pull the code away under a run, and it is compiled, so that a run
starts quickly even where Python may not write bytecode. Its name is the hash of its content.
"""

from __future__ import annotations

import compileall
import hashlib
import os
import py_compile
import shutil
import sys
import tempfile
import threading
from pathlib import Path

import runyard

PARTS = (
    "runyard/__init__.py",
    *(f"runyard/{name}" for name in ("system", "contracts", "client", "sdk", "environments", "node")),
    "azureml",
)

_making = threading.Lock()


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
            target = aside / path.relative_to(source)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
        # Unchecked: the copy never changes, so Python need not look at the sources again.
        compileall.compile_dir(
            aside, quiet=2, stripdir=str(aside), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH
        )
        aside.chmod(0o755)
        os.rename(aside, folder)
    except OSError:
        shutil.rmtree(aside, ignore_errors=True)
        if not folder.is_dir():  # otherwise another process was quicker, with the same content
            raise
