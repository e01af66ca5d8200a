"""What a nursery does by itself; how it is used is tested with the engines (`tests/engines/test_nursery.py`)."""

from __future__ import annotations

import json
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


def start(unused: float, stderr: int | None = None) -> subprocess.Popen[bytes]:
    code = NURSERY.format(source=str(Path(runyard.__file__).parent.parent), unused=unused)
    command = [sys.executable, "-I", "-S", "-c", code]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr)


def test_one_that_nobody_needs_ends() -> None:
    with start(unused=0.1) as nursery:
        assert nursery.wait(DEADLINE) == 0


def test_one_whose_server_is_gone_ends() -> None:
    with start(unused=600) as nursery:
        assert nursery.stdin is not None
        nursery.stdin.close()
        assert nursery.wait(DEADLINE) == 0


def test_one_whose_server_was_killed_before_it_could_answer_ends_quietly(tmp_path: Path) -> None:
    with start(unused=600, stderr=subprocess.PIPE) as nursery:
        assert nursery.stdin is not None
        assert nursery.stdout is not None
        assert nursery.stderr is not None
        nursery.stdout.close()
        nursery.stdin.write(json.dumps([str(tmp_path / "nowhere")]).encode() + b"\n")
        nursery.stdin.close()
        assert nursery.wait(DEADLINE) == 0
        assert b"BrokenPipeError" not in nursery.stderr.read()


def test_what_runs_with_data_load_makes_no_fork_dearer() -> None:
    """`random` draws new numbers in every process that is forked, and HTTP for any web server brings it along."""
    names = ("random", "ssl", "http.client")
    code = f"import sys, runyard.node.prepare.data; print([name for name in {names} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
