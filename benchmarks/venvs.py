"""Virtual environments for what is measured: one per set of peers, and one with Runyard installed as a user has it.

They live in `benchmarks/.environments`, are keyed by what is in them, and are made by pip at first use. The project's
own environment is never touched.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import distributions
from pathlib import Path

Say = Callable[[str], None]

CHECKOUT = Path(__file__).resolve().parent.parent
FOLDER = Path(__file__).resolve().parent / ".environments"

EXTRAS = "mount,postgres"
"""Of Runyard: for lazy mounts, and for servers that use PostgreSQL."""

TRACKERS = ("mlflow==3.17.0", "trackio==0.43.0")
SWEEPERS = ("optuna==5.0.0", "submitit==1.5.4", "ray[tune]==2.60.0")
LAUNCHERS = ("submitit==1.5.4", "ray[default]==2.60.0")


class NotInstalled(Exception):
    """A set of packages cannot be installed; the text is pip's own last word on it."""


@dataclass(frozen=True)
class Environment:
    """A virtual environment that is complete."""

    folder: Path

    @property
    def python(self) -> str:
        return str(self.folder / "bin" / "python")

    def command(self, name: str) -> str:
        return str(self.folder / "bin" / name)

    def version(self, package: str) -> str:
        """The version of an installed package, for the names of rows."""
        for found in distributions(
            name=package, path=[str(path) for path in self.folder.glob("lib/python*/site-packages")]
        ):
            return found.version
        raise NotInstalled(f"{package} is not in {self.folder}")


def peers(requirements: tuple[str, ...], say: Say) -> Environment:
    """The environment that holds these packages, made now if it is not there."""
    name = "-".join(re.split(r"[=<>\[]", requirement)[0] for requirement in requirements)
    environment = Environment(FOLDER / f"{name}-{_key(requirements)}")
    if not _complete(environment, ""):
        say(f"installing {', '.join(requirements)} (once; this may take minutes) ...")
        _make(environment)
        _pip(environment, *requirements)
        _mark(environment, "")
    return environment


def runyard(say: Say) -> Environment:
    """An environment with this checkout installed and compiled, as pip leaves it, with the extras that are used."""
    environment = Environment(FOLDER / f"runyard-{_key((EXTRAS, (CHECKOUT / 'pyproject.toml').read_text('utf-8')))}")
    source = _source_key()
    if not _complete(environment, source):
        say("installing Runyard from this checkout ...")
        if not (environment.folder / "complete").exists():
            _make(environment)
            _pip(environment, f"{CHECKOUT}[{EXTRAS}]")
        else:
            _pip(environment, "--force-reinstall", "--no-deps", str(CHECKOUT))
        _mark(environment, source)
    return environment


def variables(**more: str) -> dict[str, str]:
    """The environment variables of a measured process: the caller's, without what would change what is measured."""
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONDONTWRITEBYTECODE", "PYTHONPATH")}
    return {**kept, **more}


def _key(requirements: tuple[str, ...]) -> str:
    said = json.dumps([sys.version_info[:2], sorted(requirements)])
    return hashlib.sha256(said.encode()).hexdigest()[:12]


def _source_key() -> str:
    seen = hashlib.sha256()
    for path in [CHECKOUT / "pyproject.toml", *_source_files()]:
        seen.update(str(path).encode() + b"\0" + path.read_bytes())
    return seen.hexdigest()


def _source_files() -> Iterator[Path]:
    for path in sorted((CHECKOUT / "src").rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path


def _make(environment: Environment) -> None:
    """An empty environment. Those that held other versions of the same packages go: nobody asks for them any more."""
    name, _, _ = environment.folder.name.rpartition("-")
    for former in FOLDER.glob(f"{name}-*"):
        shutil.rmtree(former)
    subprocess.run([sys.executable, "-m", "venv", str(environment.folder)], check=True, env=variables())


def _pip(environment: Environment, *arguments: str) -> None:
    command = [environment.python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--compile"]
    done = subprocess.run([*command, *arguments], env=variables(), capture_output=True, text=True)
    if done.returncode != 0:
        said = [line for line in (done.stderr or done.stdout).splitlines() if line.strip()]
        raise NotInstalled(said[-1] if said else f"pip ended with {done.returncode}")


def _complete(environment: Environment, state: str) -> bool:
    marker = environment.folder / "complete"
    return marker.exists() and marker.read_text("utf-8") == state


def _mark(environment: Environment, state: str) -> None:
    (environment.folder / "complete").write_text(state, "utf-8")
