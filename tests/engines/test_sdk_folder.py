"""If these fail, a run could see the server's packages, or lose its own code when Runyard is upgraded."""

from __future__ import annotations

import importlib.util
import marshal
import os
import py_compile
import subprocess
import sys
from pathlib import Path

import pytest

from runyard.engines import sdk_folder as module
from runyard.engines.sdk_folder import sdk_folder


def test_it_holds_the_sdk_and_nothing_of_the_server(home: Path) -> None:
    folder = sdk_folder(home)
    assert sorted(path.name for path in folder.iterdir()) == ["azureml", "runyard"]
    parts = sorted(path.name for path in (folder / "runyard").iterdir() if path.name != "__pycache__")
    names = ["client", "compat", "contracts", "environments", "node", "sdk", "serving", "system"]
    assert parts == ["__init__.py", *names]


def test_it_works_without_any_installed_package(home: Path) -> None:
    code = "import sys; sys.path.insert(0, sys.argv[1]); from azureml.core import Run; print(Run.__module__)"
    said = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, str(sdk_folder(home))], capture_output=True, text=True, check=True
    )
    assert said.stdout.startswith("runyard.sdk")


def test_it_is_made_once_and_compiled(home: Path) -> None:
    folder = sdk_folder(home)
    compiled = list(folder.rglob("*.pyc"))
    assert compiled
    assert sdk_folder(home) == folder
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]


def test_its_bytecode_is_of_its_sources_and_is_never_checked_again(home: Path) -> None:
    for source in sdk_folder(home).rglob("*.py"):
        bytecode = Path(importlib.util.cache_from_source(str(source))).read_bytes()
        unchecked = importlib.util.MAGIC_NUMBER + (1).to_bytes(4, "little")
        assert bytecode[:16] == unchecked + importlib.util.source_hash(source.read_bytes())


@pytest.mark.parametrize("damage", ["none", "stale", "torn", "empty", "absent"])
def test_what_python_has_cached_is_used_only_while_it_is_of_that_source(tmp_path: Path, damage: str) -> None:
    source, target = tmp_path / "part.py", tmp_path / "copy" / "part.py"
    source.write_text("ANSWER = 41")
    cached = Path(py_compile.compile(str(source), doraise=True) or "")
    if damage == "stale":
        source.write_text("ANSWER = 42")
        os.utime(source, (1, 1))
    elif damage == "absent":
        cached.unlink()
    elif damage != "none":
        cached.write_bytes(cached.read_bytes()[: {"torn": -5, "empty": 16}[damage]])
    module._lay(target, source)
    seen: dict[str, int] = {}
    exec(marshal.loads(Path(importlib.util.cache_from_source(str(target))).read_bytes()[16:]), seen)
    assert seen["ANSWER"] == (42 if damage == "stale" else 41)
    if damage == "none":
        assert Path(importlib.util.cache_from_source(str(target))).read_bytes()[16:] == cached.read_bytes()[16:]
