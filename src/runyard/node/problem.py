"""What keeps a run from being started, in the words that its user will read."""

from __future__ import annotations

from typing import Any


class RunProblem(Exception):
    """The run cannot go on: `code` is for programs, the message says what is wrong, `help` what to do."""

    def __init__(self, code: str, message: str, help: str = "") -> None:
        super().__init__(message)
        self.code, self.message, self.help = code, message, help

    def as_error(self) -> dict[str, Any]:
        """The `error` of the run, as the protocol has it."""
        error: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.help:
            error["help"] = self.help
        return error


class Stopped(Exception):
    """A stop was asked for before the script was started."""
