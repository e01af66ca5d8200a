"""Why an environment is not available, as its user will read it."""

from __future__ import annotations


class EnvironmentProblem(Exception):
    """`code` is for programs, the message is what is wrong and where, `help` what to do about it."""

    def __init__(self, code: str, message: str, help: str = "") -> None:
        super().__init__(message)
        self.code, self.message, self.help = code, message, help
