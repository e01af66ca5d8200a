"""What a nursery does by itself; how it is used is tested with the engines (`tests/engines/test_nursery.py`)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import runyard

DEADLINE = 60.0

NURSERY = """
import sys
sys.path.insert(0, {source!r})
from runyard.node import nursery
nursery.UNUSED = {unused}
sys.exit(nursery.main())
"""


def start(unused: float) -> subprocess.Popen[bytes]:
    code = NURSERY.format(source=str(Path(runyard.__file__).parent.parent), unused=unused)
    return subprocess.Popen([sys.executable, "-I", "-S", "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def test_one_that_nobody_needs_ends() -> None:
    with start(unused=0.1) as nursery:
        assert nursery.wait(DEADLINE) == 0


def test_one_whose_server_is_gone_ends() -> None:
    with start(unused=600) as nursery:
        assert nursery.stdin is not None
        nursery.stdin.close()
        assert nursery.wait(DEADLINE) == 0
