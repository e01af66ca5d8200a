"""TensorBoard's process: why it did not come up is said, and ports are checked before anything is started."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import pytest

from runyard.sdk.exceptions import UserErrorException
from runyard.sdk.tensorboard import viewer


def test_one_that_does_not_come_up_says_why(tmp_path: Path) -> None:
    with pytest.raises(UserErrorException, match=r"exit code 3.*\nno such thing"):
        viewer.Viewer(["/bin/sh", "-c", "echo no such thing; exit 3"], tmp_path, 0).start()


@pytest.mark.parametrize("port", [-1, 70000, "6006", True])
def test_ports_that_are_none(port: Any) -> None:
    with pytest.raises(UserErrorException, match="whole number"):
        viewer.free_port(port)


def test_a_port_that_is_taken() -> None:
    with socket.socket() as holder:
        holder.bind((viewer.HOST, 0))
        holder.listen()
        taken = holder.getsockname()[1]
        with pytest.raises(UserErrorException, match=f"{taken}: it is taken"):
            viewer.free_port(taken)
    assert viewer.free_port(0) > 0
