"""What `make demo` does must work on a machine that has never seen Runyard."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.examples.conftest import Reader

ROOT = Path(__file__).resolve().parents[2]


def test_the_demo_trains_a_model_serves_it_and_tells_where_to_look_next(reader: Reader) -> None:
    said = reader.starts("examples/quickstart/submit.py")
    assert "epoch 30  loss" in said
    assert "loss: 30 values" in said
    assert "outputs/model.json" in said
    assert 'operation "Succeeded"' in said
    assert "\n[0.793, 0.205]" in said, "the answer of the service"
    advice = said[said.index("Where to look next") :].splitlines()[1:]
    for line in advice[:-1]:
        command = line.split()
        program = ROOT / command[0] if "/" in command[0] else command[0]
        subprocess.run([program, *command[1:]], cwd=reader.home, env=reader.variables, check=True, capture_output=True)
    assert advice[-1].strip().startswith("http://")
    assert list(reader.home.glob("my_experiment_*/outputs/model.json"))
