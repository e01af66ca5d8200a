"""What `make demo` does, with a home of its own, must work on a machine that has never seen Runyard."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from runyard.sdk.server_process import stop_server

ROOT = Path(__file__).resolve().parent.parent.parent


def test_the_demo_trains_a_model_and_tells_where_to_look_next(tmp_path: Path) -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("RUNYARD_", "AZUREML_"))}
    environment = {**kept, "HOME": str(tmp_path), "RUNYARD_PORT": "0"}
    try:
        done = subprocess.run(
            [sys.executable, "examples/quickstart/submit.py"],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert "epoch 30  loss" in done.stdout
        assert "loss: 30 values" in done.stdout
        assert "outputs/model.json" in done.stdout
        advice = done.stdout[done.stdout.index("Where to look next") :].splitlines()[1:]
        for line in advice[:-1]:
            command = line.split()
            program = ROOT / command[0] if "/" in command[0] else command[0]
            subprocess.run([program, *command[1:]], cwd=tmp_path, env=environment, check=True, capture_output=True)
        assert advice[-1].strip().startswith("http://")
        assert list(tmp_path.glob("my_experiment_*/outputs/model.json"))
    finally:
        stop_server(tmp_path / ".runyard")
