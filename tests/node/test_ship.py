"""A process that loaded an older Runyard starts the delivery of its interactive runs by the former name."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_the_former_name_starts_the_delivery(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "runyard.node.ship"]
    missing = subprocess.run([*command, str(tmp_path)], capture_output=True, text=True, timeout=60)
    assert missing.returncode == 2
    assert "is not a telemetry folder" in missing.stderr
    done = subprocess.run([*command, str(tmp_path / "none")], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, "a folder that is gone was delivered"
