"""The SDK enters the user's environment: importing it loads the standard library and nothing else."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import runyard

SOURCE = Path(runyard.__file__).parent.parent
CHECK = """
import json, sys, sysconfig
before = set(sys.modules)
import azureml.core
from azureml.core import Environment, Experiment, Run, ScriptRunConfig, Workspace
Run.get_context()
places = [sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib")]
foreign = []
for name in sorted(set(sys.modules) - before):
    file = getattr(sys.modules[name], "__file__", None)
    if file is None or name.split(".")[0] in ("runyard", "azureml"):
        continue
    if "site-packages" in file or not any(file.startswith(place) for place in places):
        foreign.append(name)
print(json.dumps(foreign))
"""


def python38() -> str | None:
    """A Python 3.8 on this machine: on PATH, or one that pyenv has built."""
    found = shutil.which("python3.8")
    versions = Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser() / "versions"
    built = sorted(versions.glob("3.8.*/bin/python3.8")) if versions.is_dir() else []
    for candidate in [found, *map(str, built)]:
        if candidate and subprocess.run([candidate, "-V"], capture_output=True, check=False).returncode == 0:
            return candidate
    return None


def modules_outside_the_standard_library(python: str) -> list[str]:
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    for name in ("AZUREML_RUN_ID", "AZUREML_RUN_TOKEN"):
        environment.pop(name, None)
    done = subprocess.run([python, "-c", CHECK], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    found: list[str] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_importing_loads_only_the_standard_library() -> None:
    assert modules_outside_the_standard_library(sys.executable) == []


def test_every_module_works_on_python_38() -> None:
    python = python38()
    if python is None:
        pytest.skip("no Python 3.8 on this machine (python3.8 on PATH, or built by pyenv)")
    assert modules_outside_the_standard_library(python) == []
    names = sorted(
        ".".join(path.relative_to(SOURCE).with_suffix("").parts)
        for part in ("system", "contracts", "client", "sdk")
        for path in (SOURCE / "runyard" / part).rglob("*.py")
        if path.stem != "__init__" and not path.stem.startswith("arrow")  # which are loaded where pyarrow is
    )
    script = "import importlib, sys\nfor name in sys.argv[1:]: importlib.import_module(name)"
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    done = subprocess.run([python, "-c", script, *names], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr


def test_the_client_can_be_had_alone() -> None:
    """The node runner takes the client and leaves the rest where it is."""
    script = "import json, sys, runyard.client.http; print(json.dumps([m for m in sys.modules if 'runyard.' in m]))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = set(json.loads(done.stdout))
    assert {name.split(".")[1] for name in loaded} == {"client", "contracts", "system"}
    assert {name for name in loaded if name.startswith("runyard.client.")} == {
        "runyard.client.http",
        "runyard.client.problems",
        "runyard.client.stream",
    }
