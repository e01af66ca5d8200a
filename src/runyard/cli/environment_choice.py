"""The options for an environment: one that the workspace knows by name, or one made of a file or an image."""

from __future__ import annotations

import re
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from runyard.cli import errors
from runyard.cli.parameters import Option, bad_parameter
from runyard.system.records import fields, record

if TYPE_CHECKING:
    from runyard.sdk.environment.environment import Environment
    from runyard.sdk.workspace.workspace import Workspace

USUAL = ("requirements", "environment", "env", "conda", "conda_dependencies")
"""Names of files that tell the kind of file and nothing else."""

EnvironmentOption = Annotated[
    str | None,
    Option(
        "--environment",
        metavar="NAME[:VERSION]",
        help="An environment of the workspace, or a curated one.",
        show_default=False,
    ),
]
CondaOption = Annotated[
    Path | None,
    Option("--conda", metavar="FILE", help="A conda specification (YAML).", show_default=False),
]
PipOption = Annotated[
    Path | None,
    Option("--pip", metavar="FILE", help="A requirements file of pip.", show_default=False),
]
ImageOption = Annotated[
    str | None, Option("--image", metavar="IMAGE", help="An image of Docker or Podman.", show_default=False)
]


@record(frozen=True)
class Choice:
    """The options of the command line, of which at most one is given."""

    environment: str | None = None
    conda: Path | None = None
    pip: Path | None = None
    image: str | None = None

    @property
    def made(self) -> bool:
        """Whether anything was chosen."""
        return any(getattr(self, each.name) is not None for each in fields(self))

    def check(self, **others: object) -> None:
        """Refuse two answers to one question, and files that are not there, before anything is started for them."""
        chosen = {each.name: getattr(self, each.name) for each in fields(self)}
        given = [f"--{name}" for name, value in {**others, **chosen}.items() if value is not None]
        if len(given) > 1:
            raise bad_parameter("they exclude one another: give one of them.", param_hint=" and ".join(given))
        for option, path in (("--conda", self.conda), ("--pip", self.pip)):
            if path is not None and not path.is_file():
                raise errors.CommandError(
                    f"There is no file {str(path)!r} ({option}).",
                    f"Looked for at {path.absolute()}.",
                    errors.USAGE,
                    "file_not_found",
                )

    def get(self, workspace: Workspace, name: str | None = None) -> Environment:
        """The environment. One that is made here is called `name`, or by the name in its file, or after the file."""
        from runyard.sdk.environment.environment import Environment

        if self.environment is not None:
            known, version = name_and_version(self.environment)
            return Environment.get(workspace, known, version)
        if self.image is not None:
            return Environment.from_docker_image(name or _plain(self.image.rpartition("/")[2]), self.image)
        file = self.conda or self.pip
        assert file is not None
        name = name or (self.conda is not None and _own_name(file)) or _named_after(file)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            if self.conda is not None:
                made = Environment.from_conda_specification(name, self.conda)
            else:
                made = Environment.from_pip_requirements(name, file)
        for each in caught:
            print(f"Note: {each.message}", file=sys.stderr)
        return made


def _own_name(file: Path) -> str:
    """What a conda specification calls itself; empty where it has only the name that SDK v1 writes into every one."""
    from runyard.sdk import yaml_files
    from runyard.sdk.environment.conda_dependencies import DEFAULT_NAME

    name = yaml_files.read(file).get("name")
    return _plain(name) if isinstance(name, str) and name.strip() and name != DEFAULT_NAME else ""


def _named_after(file: Path) -> str:
    """A name made of those of a file and its folder; the file's is left out where it is a usual one.

    >>> _named_after(Path("/home/me/cats/requirements.txt")), _named_after(Path("/home/me/cats/gpu.txt"))
    ('cats', 'cats-gpu')
    """
    folder = file.absolute().parent.name
    return _plain(folder if file.stem.lower() in USUAL else f"{folder}-{file.stem}")


def name_and_version(text: str) -> tuple[str, str | None]:
    """
    >>> name_and_version("mine:2"), name_and_version("mine")
    (('mine', '2'), ('mine', None))
    """
    name, colon, version = text.rpartition(":")
    return (name, version) if colon and name and version else (text, None)


def _plain(text: str) -> str:
    """A name for an environment; Azure's own prefixes are not for those that users make."""
    from runyard.contracts.curated import is_reserved

    plain = re.sub(r"[^\w.-]+", "-", text, flags=re.ASCII).strip("-.") or "environment"
    return f"my-{plain}" if is_reserved(plain) else plain
