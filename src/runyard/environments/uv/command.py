"""Calling uv: with the user's pip configuration, no colours, and nothing of the shell that would lead it elsewhere."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Callable

from runyard.environments import command, tools
from runyard.environments.builder import Order
from runyard.environments.command import Finished
from runyard.environments.problem import EnvironmentProblem
from runyard.environments.uv import pip_config
from runyard.environments.uv.requirements import Options, with_variables

_NOT_FOR_US = [
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "PYTHONHOME",
    "PYTHONPATH",
    "UV_PYTHON",
    "UV_SYSTEM_PYTHON",
    "UV_BREAK_SYSTEM_PACKAGES",
    "UV_PROJECT",
    "UV_WORKING_DIR",
    "UV_TARGET",
    "UV_PREFIX",
    "UV_VENV_SEED",
    "UV_VENV_CLEAR",
    "UV_NO_COMPILE_BYTECODE",
    "PYTHONDONTWRITEBYTECODE",
]
"""Variables that point uv at another environment than ours, or change what is made."""


PATIENCE = 90.0


class OutOfPatience(Exception):
    """A question to uv that took longer than its answer is worth."""


@dataclass(frozen=True)
class Uv:
    """uv with the options and variables of one build."""

    program: Path
    variables: dict[str, str]
    arguments: list[str]  # for each installation and resolution
    options: Options
    order: Order

    @staticmethod
    def for_order(order: Order, options: Options) -> Uv:
        program = tools.find("uv")
        if program is None:
            raise EnvironmentProblem(
                "UvNotFound",
                "uv, which builds environments, is not on this machine.",
                "Install it beside Runyard: pip install uv",
            )
        configured = pip_config.for_uv(os.environ, options.own_index)
        inherited = {name: value for name, value in os.environ.items() if name not in _NOT_FOR_US}
        plain = {"NO_COLOR": "1", "UV_NO_PROGRESS": "1"}
        variables = {**inherited, **configured.variables, **plain}
        return Uv(program, variables, [*configured.arguments, *options.arguments], options, order)

    def run(self, *arguments: str | Path, report: Callable[[str], None] | None = None, secrets: str = "") -> Finished:
        """Run uv. `secrets`: the names in the text are in its variables."""
        variables = {**self.variables, **with_variables(secrets, self.order.secrets)[1]}
        return command.run([self.program, *arguments], report or self.order.report, self.order.check, variables)

    def install(self, python: Path, packages: list[str], folder: Path, *arguments: str) -> Finished:
        """Install packages, with the options of the specification, through a file in `folder`."""
        file, text = self._file(packages, folder)
        where: list[str | Path] = ["--python", python, "--compile-bytecode", "-r", file]
        return self.run("pip", "install", *where, *self.arguments, *arguments, secrets=text)

    def resolve(self, python: Path, packages: list[str], folder: Path, *arguments: str) -> Finished:
        """Only find out which versions would be installed: a line each in the output. Nothing goes to the log.

        uv may build old sources to learn what they need: OutOfPatience ends that.
        """
        file, text = self._file(packages, folder)
        where: list[str | Path] = ["--python", python, "--no-header", "--no-annotate", file]
        asking = replace(self, order=replace(self.order, check=_patient(self.order.check)))
        return asking.run(
            "pip", "compile", "--quiet", *where, *self.arguments, *arguments, report=_nowhere, secrets=text
        )

    def _file(self, packages: list[str], folder: Path) -> tuple[Path, str]:
        text = "".join(f"{line}\n" for line in (*self.options.lines, *packages))
        file = folder / "requirements.txt"
        file.write_text(with_variables(text, self.order.secrets)[0], "utf-8")
        return file, text


def _patient(check: Callable[[], None]) -> Callable[[], None]:
    deadline = time.monotonic() + PATIENCE

    def step() -> None:
        check()
        if time.monotonic() > deadline:
            raise OutOfPatience

    return step


def _nowhere(line: str) -> None:
    """Discards a line."""
