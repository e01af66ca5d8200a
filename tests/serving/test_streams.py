"""If these fail, a `print` in a scoring script fails requests when the disk is full."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from runyard.serving.streams import forgiving


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
def test_a_full_disk_is_no_error() -> None:
    descriptor = os.open("/dev/full", os.O_WRONLY)
    with pytest.raises(OSError, match="No space"):
        os.write(descriptor, b"x")
    stream = forgiving(descriptor)
    for _ in range(3):
        assert stream.write("a line\n") == 7
    stream.write("x" * 100_000)
    stream.close()
    os.close(descriptor)  # it is left open by the stream


def test_lines_come_at_once_and_any_text_can_be_written(tmp_path: Path) -> None:
    script = (
        "import os, subprocess, sys; from runyard.serving import streams; streams.install();"
        "print('first'); print('\\udc80 \\u20ac', file=sys.stderr); os.write(1, b'second\\n');"
        "subprocess.run([sys.executable, '-c', 'print(3)']); print('last', end='')"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert done.stdout == b"first\nsecond\n3\nlast"
    assert done.stderr.decode() == "\\udc80 €\n"
