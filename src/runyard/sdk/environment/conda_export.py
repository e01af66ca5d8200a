"""Taking over a conda environment that is installed on this machine, as `conda env export` describes it."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import Iterator

from runyard.sdk import yaml_files
from runyard.sdk.environment.conda_dependencies import CondaDependencies
from runyard.sdk.exceptions import UserErrorException

TOOLS = ("conda", "mamba", "micromamba")
VARIABLES = ("CONDA_EXE", "MAMBA_EXE")  # a shell function hides the program, and these hold its path
SECONDS = 120


class NoExport(Exception):
    """The environment could not be read; the message has the reason."""


def exported(conda_environment_name: str) -> CondaDependencies:
    """The packages of a conda environment, without builds: those are of this machine. Raises NoExport."""
    tools = list(dict.fromkeys(_tools()))
    if not tools:
        raise NoExport(f"none of {', '.join(TOOLS)} is on the PATH, and neither {' nor '.join(VARIABLES)} is set")
    specification = yaml_files.load(_export(tools[0], conda_environment_name), f"what {tools[0]} exported")
    for of_this_machine in ("prefix", "name"):
        specification.pop(of_this_machine, None)
    try:
        packages = CondaDependencies.from_dict(specification)
    except UserErrorException as error:
        raise NoExport(error.message) from None
    if not packages.conda_packages and not packages.pip_packages:
        raise NoExport(f"{tools[0]} found no packages in it")
    return packages


def _tools() -> Iterator[str]:
    for variable in VARIABLES:
        named = os.environ.get(variable)
        if named and os.access(named, os.X_OK):
            yield named
    for tool in TOOLS:
        found = shutil.which(tool)
        if found:
            yield found


def _export(tool: str, name: str) -> str:
    # micromamba, and mamba since its version 2, know the option in the singular only; mamba 1 takes it as a short form.
    builds = "--no-builds" if os.path.basename(tool) == "conda" else "--no-build"
    command = [tool, "env", "export", "--name", name, builds]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise NoExport(f"`{' '.join(command)}` did not end within {SECONDS} s") from None
    except OSError as error:
        raise NoExport(f"`{tool}` cannot be run ({error.strerror})") from None
    if done.returncode != 0:
        lines = [line.strip() for line in (done.stderr or done.stdout).splitlines() if line.strip()]
        raise NoExport(f"`{' '.join(command)}` failed: {lines[-1] if lines else f'exit code {done.returncode}'}")
    return done.stdout
