"""If these fail, a run could see the server's packages, or lose its own code when Runyard is upgraded."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from runyard.engines.sdk_folder import sdk_folder


def test_it_holds_the_sdk_and_nothing_of_the_server(home: Path) -> None:
    folder = sdk_folder(home)
    assert sorted(path.name for path in folder.iterdir()) == ["azureml", "runyard"]
    parts = sorted(path.name for path in (folder / "runyard").iterdir() if path.name != "__pycache__")
    assert parts == ["__init__.py", "client", "contracts", "environments", "node", "sdk", "system"]


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
