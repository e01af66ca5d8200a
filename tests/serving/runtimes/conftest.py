"""Models of each framework, made once by the framework itself."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support import served_models
from tests.support.frameworks import environment

Made = Callable[[str], tuple[Path, Path]]


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """The folder of a kind of model, and the interpreter that has its framework."""
    root = tmp_path_factory.mktemp("models")

    def make(kind: str) -> tuple[Path, Path]:
        python = environment("tensorflow" if kind in ("saved-model", "keras") else "serving")
        folder = root / kind
        if not folder.exists():
            subprocess.run([python, served_models.__file__, root, kind], check=True, capture_output=True)
        return folder, python

    return make
