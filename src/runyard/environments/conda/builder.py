"""Environments with packages or channels of conda, made by micromamba, mamba or conda; their pip part comes from uv."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Iterable

from runyard.contracts.environment import Specification, conda_name
from runyard.contracts.secrets import mask, reveal
from runyard.environments import command, tools
from runyard.environments.builder import Builder, Built, Order
from runyard.environments.command import Finished
from runyard.environments.conda import names
from runyard.environments.problem import EnvironmentProblem
from runyard.environments.python import interpreters
from runyard.environments.uv import failures
from runyard.environments.uv.builder import Installed, install_packages

DEFAULT_CHANNEL = "conda-forge"
LAST_LINES = 20

_SIGNS = (
    ("DiskFull", ("No space left on device", "Disk quota exceeded")),
    (
        "IndexUnreachable",
        ("Could not resolve host", "CONNECTION FAILED", "CondaHTTPError", "Download error", "timed out"),
    ),
    ("PackageNotFound", ("PackagesNotFoundError", "nothing provides requested", "does not exist")),
    (
        "DependencyConflict",
        ("UnsatisfiableError", "incompatible", "conflicts with", "Could not solve", "LibMambaUnsat"),
    ),
)

_HELP = {
    "DiskFull": "Remove environments that are no longer used (runyard env gc), or conda's own (conda clean --all).",
    "IndexUnreachable": "Check the network and the channels of the specification.",
    "PackageNotFound": "Check the spelling and the version, or add the channel that has the package.",
    "DependencyConflict": "Loosen one of the packages that are named above.",
    "CondaFailed": "The log of the build holds all that it said.",
}


@dataclass
class CondaBuilder(Builder):
    """`otherwise`: who builds it from PyPI where no conda is and the order allows to relax."""

    otherwise: Builder | None = None
    name: str = field(default="conda", init=False)

    def build(self, order: Order, folder: Path) -> Built:
        specification = order.specification
        if specification.base_conda_environment:
            raise EnvironmentProblem(
                "BaseCondaEnvironment",
                f"The specification builds on the conda environment '{specification.base_conda_environment}', which is "
                "not supported: it may differ from machine to machine.",
                "List its packages (conda env export), or take its Python: user_managed_dependencies = True and "
                "interpreter_path = its bin/python.",
            )
        tool = tools.find_conda()
        if tool is None:
            return self._without_conda(order, folder)
        _create(tool, order, folder)
        python = interpreters.ask(str(folder / "bin" / "python"))
        if python is None:
            raise EnvironmentProblem(
                "CondaFailed", f"{tool.name} has made an environment without a Python that runs.", _HELP["CondaFailed"]
            )
        rest = replace(order, specification=replace(specification, conda=(), channels=()))
        installed = install_packages(rest, python, folder) if specification.pip else Installed([], [])
        return Built(
            interpreter=str(folder / "bin" / "python"),
            folder=str(folder),
            python=python.text,
            changes=installed.changes,
            layers=installed.layers,
            variables={"CONDA_PREFIX": str(folder), "CONDA_DEFAULT_ENV": str(folder)},
        )

    def _without_conda(self, order: Order, folder: Path) -> Built:
        needing = names.needs_conda(order.specification) or list(order.specification.conda)
        if not order.relax or self.otherwise is None:
            raise failures.needs_conda(needing, "not on PyPI")
        order.report(f"No conda was found for {', '.join(needing)}: looking for them on PyPI.")
        return self.otherwise.build(order, folder)


def _create(tool: Path, order: Order, folder: Path) -> None:
    specification = order.specification
    channels = [
        argument
        for each in specification.channels or (DEFAULT_CHANNEL,)
        for argument in ("--channel", reveal(each, order.secrets))
    ]
    if folder.exists():
        folder.rmdir()  # micromamba takes no folder that is there
    with tempfile.TemporaryDirectory(prefix=".conda-", dir=folder.parent) as private:
        file = Path(private) / "packages.txt"
        file.write_text("".join(f"{reveal(line, order.secrets)}\n" for line in _packages(specification)), "utf-8")
        argv: list[str | Path] = [
            tool,
            "create",
            "--yes",
            "--prefix",
            folder,
            "--override-channels",
            *channels,
            "--file",
            file,
        ]
        finished = command.run(argv, order.report, order.check, _variables())
    if not finished.ok:
        folder.mkdir(exist_ok=True)
        raise _explain(tool.name, finished, specification)
    if order.secrets:
        _hide_in_history(folder / "conda-meta" / "history", order.secrets.values())


def _hide_in_history(file: Path, secrets: Iterable[str]) -> None:
    """conda writes the command that made an environment into it, channels with their credentials included."""
    if file.exists():
        file.write_text(mask(file.read_text("utf-8", "replace"), secrets), "utf-8")


def _packages(specification: Specification) -> list[str]:
    """conda's own lines, one form for all three tools; `python` first."""
    python = specification.python
    versioned = "python" + (python if not python or python[0] in "<>=!~" else f"={python}")
    return [versioned, *(line.replace(" ", "=") if _spaced(line) else line for line in specification.conda)]


def _spaced(line: str) -> bool:
    """`numpy 1.18` instead of `numpy=1.18`."""
    return line.count(" ") == 1 and not any(sign in line for sign in "<>=!~|")


def _variables() -> dict[str, str]:
    plain = {"NO_COLOR": "1", "CI": "1", "CONDA_ALWAYS_YES": "1", "MAMBA_NO_BANNER": "1", "CONDA_QUIET": "1"}
    return {**{name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}, **plain}


def _explain(tool: str, finished: Finished, specification: Specification) -> EnvironmentProblem:
    code = next((code for code, signs in _SIGNS if any(sign in finished.output for sign in signs)), "CondaFailed")
    last = "\n".join([line for line in finished.output.splitlines() if line.strip()][-LAST_LINES:])
    named = [line for line in specification.conda if conda_name(line) in last.lower()]
    about = f" ({', '.join(named)})" if named else ""
    return EnvironmentProblem(
        code, f"{tool} could not make the environment{about}; it ended with {finished.code}:\n{last}", _HELP[code]
    )
