"""Installs the packages of a specification on top of an image, as a layer of their own.

They go into the Python that the image has, beside what is installed there already, so that an image with a framework
in it can be used for that framework; or, where that Python has no pip, into a virtual environment on top of it. conda's
packages are installed by the conda of the image; without one they are taken from PyPI, as on a machine without conda.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runyard.contracts.environment import STOCK_PYTHONS, conda_name
from runyard.contracts.secrets import reveal
from runyard.environments.builder import Order
from runyard.environments.conda import names
from runyard.environments.containers import failures, steps
from runyard.environments.containers.handover import Handover, pip_variables
from runyard.environments.containers.inside import Inside
from runyard.environments.problem import EnvironmentProblem
from runyard.environments.python import pin as python_pin
from runyard.environments.uv import pip_config

if TYPE_CHECKING:
    from docker import DockerClient

VENV = "/opt/runyard/environment"
"""Where packages go when the Python of the image has no pip."""

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""Of images without one of their own."""

ALWAYS = {
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "PIP_NO_INPUT": "1",
    "PIP_NO_CACHE_DIR": "1",
    "PIP_ROOT_USER_ACTION": "ignore",
    "PIP_BREAK_SYSTEM_PACKAGES": "1",  # the image is ours: nothing else manages its Python
    "PIP_PROGRESS_BAR": "off",
    "PYTHONDONTWRITEBYTECODE": "",
}

_SERVED = re.compile(r"runyard://\S+")
_VALUE = re.compile(
    r"(?P<option>-f|-i|--find-links|--index-url|--extra-index-url)(?P<between>\s*=\s*|\s*)(?P<value>\S+)"
)


@dataclass
class Work:
    """One image that becomes another: the order, the image below, and what was found and changed."""

    order: Order
    base: str
    inside: Inside
    handover: Handover
    changes: list[str] = field(default_factory=list)

    @property
    def shown(self) -> str:
        return self.order.specification.image or "the image of the Dockerfile"


def install(
    client: DockerClient, order: Order, base: str, inside: Inside, folder: Path, target: tuple[str, str]
) -> list[str]:
    """Install the packages of the specification, and tag the result with its name: repository and tag. Returns what
    was relaxed, a line each."""
    with tempfile.TemporaryDirectory(prefix=".handover-", dir=folder) as private:  # it holds credentials
        work = Work(order, base, inside, Handover(Path(private)))
        _check_python(work)
        script = _script(work)
        if not script:
            client.api.tag(base, *target, force=True)
        else:
            _run(client, work, script, target)
    return work.changes


def _run(client: DockerClient, work: Work, script: str, target: tuple[str, str]) -> None:
    from docker.types import Mount

    before = client.images.get(work.base).attrs.get("Config") or {}
    command = [work.handover.write("install", script)]
    with steps.container(
        client,
        work.base,
        command,
        mounts=[Mount(place, path, type="bind", read_only=True) for path, place in work.handover.mounts.items()],
        network_mode="host",
        user="" if before.get("User") in (None, "", "0", "root") else "0:0",
        working_dir="/",
    ) as made:
        step = steps.finish(client, made, work.order.report, work.order.check)
        if step.code != 0:
            raise failures.of_installing(work.shown, step.output)
        work.order.check()
        made.commit(*target, changes=_as_before(before, VENV in script))


def _check_python(work: Work) -> None:
    pin, inside = work.order.specification.python, work.inside
    if inside.conda:
        return  # it can install the requested Python
    if not inside.python:
        raise EnvironmentProblem(
            "PythonMissingInImage",
            f"There is no Python in {work.shown}, so no packages can be installed into it.",
            "Use an image with Python, such as python:3.11-slim, or install python3 and pip in its Dockerfile.",
        )
    major, minor, patch = (int(part) for part in inside.version.split("."))
    if not pin or pin in STOCK_PYTHONS or python_pin.parse(pin).allows((major, minor, patch)):
        return
    if not work.order.relax:
        raise EnvironmentProblem(
            "PythonNotInImage",
            f"The specification asks for python={pin}, and {work.shown} has Python {inside.version}.",
            f"Change the pin; use an image with that Python (python:{python_pin.parse(pin).request}-slim), or one with "
            "conda, which can install it; or let this workspace relax it: runyard config set environments.relax true",
        )
    work.changes.append(f"python={pin}: Python {inside.version}, which the image has")


def _script(work: Work) -> str:
    """The script for the shell of the image; empty when there is nothing to install."""
    specification = work.order.specification
    by_conda = _conda(work) if work.inside.conda else ""
    pip = [*specification.pip, *([] if work.inside.conda else _from_pypi(work))]
    by_pip = _pip(work, pip) if pip else ""
    if not by_conda and not by_pip:
        return ""
    configured = pip_variables(work.handover, pip_config.read(os.environ), os.environ)
    variables = work.handover.variables({**configured, **ALWAYS})
    return f"set -e\n. {variables}\n{by_conda}{by_pip}"


def _from_pypi(work: Work) -> list[str]:
    """conda's packages as PyPI has them."""
    specification, relax = work.order.specification, work.order.relax
    needing = set(names.needs_conda(specification))
    taken: list[str] = []
    for line, requirement in names.requirements(specification).items():
        name = conda_name(line)
        if line not in needing:
            taken.append(requirement)
        elif relax and name in names.RENAMED:
            taken.append(requirement.replace(name, names.RENAMED[name], 1))
            work.changes.append(f"{line}: {taken[-1]} from PyPI")
        elif relax and name in names.BROUGHT_BY_WHEELS:
            work.changes.append(f"{line}: left out, PyPI's wheels carry it")
        else:
            raise EnvironmentProblem(
                "CondaNotInImage",
                f"{line} is a package of conda's, and {work.shown} has no conda, mamba or micromamba.",
                "Use an image with conda (condaforge/miniforge3), or install the package in the Dockerfile.",
            )
    if taken:
        work.order.report(f"{work.shown} has no conda: taken from PyPI: {', '.join(taken)}")
    return taken


def _conda(work: Work) -> str:
    specification, inside = work.order.specification, work.inside
    wanted = [each for each in specification.conda if not re.match(r"pip\b", each)]
    if specification.python and specification.python not in STOCK_PYTHONS:
        version = specification.python
        wanted.append(f"python{version if version[0] in '<>=!~' else f'={version}'}")
    if not wanted:
        return ""
    tool = os.path.basename(inside.conda)
    channels = specification.channels or (("conda-forge",) if tool == "micromamba" else ())
    arguments = [inside.conda, "install", "--yes", "--name", "base"]
    arguments += [each for channel in channels for each in ("--channel", channel)]
    command = shlex.join([reveal(each, work.order.secrets) for each in (*arguments, *wanted)])
    return f"{command}\n{shlex.quote(inside.conda)} clean --all --yes >/dev/null 2>&1 || true\n"


def _pip(work: Work, pip: list[str]) -> str:
    order, inside, handover = work.order, work.inside, work.handover

    def local(match: re.Match[str]) -> str:
        return f"{match['option']}{match['between']}{handover.address(match['value'])}"

    lines = [_VALUE.sub(local, reveal(line, order.secrets)) for line in order.specification.options]
    for line in pip:
        local_line = _SERVED.sub(lambda match: handover.file(order.fetch(match[0])), line)
        lines.append(reveal(local_line, order.secrets))
    requirements = handover.write("requirements.txt", "\n".join([*lines, ""]))
    python = shlex.quote(inside.python or "python")
    if inside.pip or inside.conda:
        return f"{python} -m pip install -r {requirements}\n"
    order.report(f"The Python of the image has no pip: the packages go into a virtual environment on top of it, {VENV}")
    return f"{python} -m venv --system-site-packages {VENV}\n{VENV}/bin/python -m pip install -r {requirements}\n"


def _as_before(config: dict[str, Any], venv: bool) -> list[str]:
    """Instructions that give the image back what the step had set for itself."""
    changes = [f"CMD {json.dumps(config.get('Cmd') or ['/bin/sh'])}"]
    if config.get("Entrypoint"):
        changes.append(f"ENTRYPOINT {json.dumps(config['Entrypoint'])}")
    if config.get("User"):
        changes.append(f"USER {config['User']}")
    changes.append(f"WORKDIR {config.get('WorkingDir') or '/'}")
    if venv:
        known = dict(each.partition("=")[::2] for each in config.get("Env") or ())
        changes.append(f"ENV PATH={VENV}/bin:{known.get('PATH') or PATH}")
    return changes
