"""The options of `docker run` that SDK v1's DockerConfiguration.arguments may hold, as fields of a container."""

from __future__ import annotations

import argparse
import shlex
from typing import Any, Iterable, NoReturn

from runyard.environments.problem import EnvironmentProblem

_CODE = "ContainerArgumentInvalid"


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise EnvironmentProblem(
            _CODE, f"The container's arguments cannot be read: {message}.", "They are those of `docker run`."
        )


def parse(arguments: Iterable[str]) -> dict[str, Any]:
    """What the arguments ask for, in JSON's types. An option that is not known is refused by its name.

    >>> parse(["--memory=2g", "-e", "A=1"]) == {"memory": "2g", "env": ["A=1"]}
    True
    """
    split: list[str] = []
    for argument in arguments:
        split += shlex.split(argument) if argument.startswith("-") else [argument]
    known, unknown = _parser().parse_known_args(split)
    if unknown:
        name = next((each for each in unknown if each.startswith("-")), unknown[0])
        raise EnvironmentProblem(
            _CODE,
            f"The container's argument {name!r} is not supported.",
            f"Supported are: {', '.join(_options())}. Leave it out, or put what it does into the image.",
        )
    return {name: value for name, value in vars(known).items() if value is not None}


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="docker run", add_help=False, allow_abbrev=False)
    for flags in (("--env", "-e"), ("--volume", "-v"), ("--publish", "-p"), ("--ulimit",)):
        parser.add_argument(*flags, action="append")
    for flags in (("--memory", "-m"), ("--user", "-u"), ("--workdir", "-w"), ("--memory-swap",), ("--shm-size",)):
        parser.add_argument(*flags)
    for flag in ("--gpus", "--runtime", "--ipc"):
        parser.add_argument(flag)
    parser.add_argument("--network", "--net")
    parser.add_argument("--cpus", type=float)
    return parser


def _options() -> list[str]:
    return sorted(flag for action in _parser()._actions for flag in action.option_strings)
