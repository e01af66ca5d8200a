"""Nothing about users is sent anywhere, and the switch of SDK v1 for it says so once."""

from __future__ import annotations

import os
import subprocess
import sys


def test_diagnostics_are_not_collected_and_that_is_said_once() -> None:
    code = (
        "import logging\nfrom azureml.telemetry import set_diagnostics_collection\n"
        "set_diagnostics_collection(send_diagnostics=False)\nprint('-')\n"
        "set_diagnostics_collection(send_diagnostics=True)\nset_diagnostics_collection(True, logging.INFO, 'x', 'y')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**os.environ, "NO_COLOR": "1"}
    )
    assert done.stderr.count("collects no diagnostics") == 1
