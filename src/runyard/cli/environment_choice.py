"""Which environment a command means: one that the workspace knows by name, or one made of a file or an image."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from runyard.cli import errors
from runyard.contracts.curated import is_reserved

if TYPE_CHECKING:
    from runyard.sdk.environment import Environment
    from runyard.sdk.workspace import Workspace

EnvironmentOption = Annotated[
    str | None,
    typer.Option(
        "--environment",
        metavar="NAME[:VERSION]",
        help="An environment of the workspace, or a curated one.",
        show_default=False,
    ),
]
CondaOption = Annotated[
    Path | None,
    typer.Option("--conda", metavar="FILE", help="A conda specification (YAML).", show_default=False),
]
PipOption = Annotated[
    Path | None,
    typer.Option("--pip", metavar="FILE", help="A requirements file of pip.", show_default=False),
]
ImageOption = Annotated[
    str | None, typer.Option("--image", metavar="IMAGE", help="An image of Docker or Podman.", show_default=False)
]


@dataclass(frozen=True)
class Choice:
    """What was said on the command line; at most one of them."""

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
        said = {each.name: getattr(self, each.name) for each in fields(self)}
        given = [f"--{name}" for name, value in {**others, **said}.items() if value is not None]
        if len(given) > 1:
            raise typer.BadParameter("they exclude one another: give one of them.", param_hint=" and ".join(given))
        for option, path in (("--conda", self.conda), ("--pip", self.pip)):
            if path is not None and not path.is_file():
                raise errors.CommandError(
                    f"There is no file {str(path)!r} ({option}).",
                    f"Looked for at {path.absolute()}.",
                    errors.USAGE,
                    "file_not_found",
                )

    def get(self, workspace: Workspace, name: str | None = None) -> Environment:
        """The environment. One that is made here is called `name`, or like the folder of its file."""
        from runyard.sdk.environment import Environment

        if self.environment is not None:
            known, version = name_and_version(self.environment)
            return Environment.get(workspace, known, version)
        if self.image is not None:
            return Environment.from_docker_image(name or _plain(self.image.rpartition("/")[2]), self.image)
        file = self.conda or self.pip
        assert file is not None
        name = name or _plain(file.absolute().parent.name)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            if self.conda is not None:
                made = Environment.from_conda_specification(name, self.conda)
            else:
                made = Environment.from_pip_requirements(name, file)
        for each in caught:
            typer.echo(f"Note: {each.message}", err=True)
        return made


def name_and_version(text: str) -> tuple[str, str | None]:
    """
    >>> name_and_version("mine:2"), name_and_version("mine")
    (('mine', '2'), ('mine', None))
    """
    name, colon, version = text.rpartition(":")
    return (name, version) if colon and name and version else (text, None)


def _plain(text: str) -> str:
    """A name for an environment; Azure's own prefixes are not for those that users make."""
    plain = re.sub(r"[^\w.-]+", "-", text, flags=re.ASCII).strip("-.") or "environment"
    return f"my-{plain}" if is_reserved(plain) else plain
