from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from runyard.cli.output.following import Prefixed

if TYPE_CHECKING:
    import pytest


def test_lines_of_several_ranks_stay_whole(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    first, second = Prefixed(0, 2), Prefixed(10, 2)
    first(b"one\ntw", 0)
    second(b"\xff\n", 0)
    first(b"o\n\nlast", 6)
    first.end()
    first.end()
    second.end()
    assert capfdbinary.readouterr().out == b"[ 0] one\n[10] \xff\n[ 0] two\n[ 0] \n[ 0] last\n"


BAR = """
from runyard.cli.output import following
following.write(b"first\\n50%|#####", 0)
following.show_state({"status": "Finalizing", "at": "", "reason": None}, as_json=False)
following.write(b"\\r100%|##########", 0)
following.end_line()
print("done")
"""


def test_a_state_does_not_break_into_a_progress_bar() -> None:
    """Where both go to one place, the bar's line is ended first; a log that goes elsewhere stays as it is."""
    together = subprocess.run([sys.executable, "-c", BAR], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=True)
    assert together.stdout == b"first\n50%|#####\nFinalizing\n\r100%|##########\ndone\n"
    apart = subprocess.run([sys.executable, "-c", BAR], capture_output=True, check=True)
    assert apart.stdout == b"first\n50%|#####\r100%|##########\ndone\n"
    assert apart.stderr == b"Finalizing\n"
