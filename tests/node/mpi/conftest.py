"""What stands for a command on another node: a process on this one."""

from __future__ import annotations

import subprocess


class Process:
    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process

    def wait(self, timeout: float) -> int | None:
        try:
            return self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            return None

    def stop(self) -> None:
        self.process.kill()
