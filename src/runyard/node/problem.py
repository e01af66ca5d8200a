"""Why a run is not started, or not carried on."""

from __future__ import annotations

from typing import Any


class RunProblem(Exception):
    """The run cannot go on: `code` is for programs, the message is for its user, `help` is what to do."""

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
    """A stop was requested before the script was started."""


class Unwanted(Exception):
    """Nobody waits for this run any more: it was deleted, or its folder is gone."""
