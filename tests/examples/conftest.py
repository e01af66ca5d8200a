"""An example as its reader starts it: with a home of its own, on a machine that has never seen Runyard."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from runyard.client.server_process import stop_server

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Reader:
    home: Path

    @property
    def variables(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("RUNYARD_", "AZUREML_"))}
        return {**kept, "HOME": str(self.home), "RUNYARD_PORT": "0"}

    def starts(self, *words: str) -> str:
        """Start an example, which must end well; returns what it has printed."""
        done = subprocess.run(
            [sys.executable, *words],
            cwd=ROOT,
            env=self.variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Reader]:
    yield Reader(tmp_path)
    stop_server(tmp_path / ".runyard")
