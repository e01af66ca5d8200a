"""The requirements file that uv is given for a specification, with the options that it takes outside the file.

Secrets stay names in the file, which uv reads as variables of that name. It reads capital letters only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Mapping

from runyard.contracts import pip_requirements
from runyard.contracts.environment import pip_name
from runyard.contracts.secrets import PREFIX
from runyard.environments.builder import Order
from runyard.environments.problem import EnvironmentProblem

WHEELS = "runyard://"

_IN_FILE = ("--index-url", "--extra-index-url", "--find-links", "--no-index", "--no-binary", "--only-binary")
_WITHOUT_EFFECT = [
    "--prefer-binary",
    "--use-feature",
    "--no-cache-dir",
    "--progress-bar",
    "--disable-pip-version-check",
    "--quiet",
    "-q",
    "--verbose",
    "-v",
    "--no-warn-script-location",
    "--upgrade",
    "-U",
    "--use-pep517",
    "--retries",
    "--timeout",
    "--exists-action",
    "--no-input",
    "--user",
    "--process-dependency-links",
    "--no-python-version-warning",
    "--root-user-action",
    "--no-color",
]
_REFERENCE = re.compile(r"\$\{(" + PREFIX + r"[0-9a-f]+)\}")


@dataclass(frozen=True)
class Options:
    """pip's options in a specification: lines of the file, arguments, and what was left out."""

    lines: list[str] = field(default_factory=list)
    arguments: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    @property
    def own_index(self) -> bool:
        return any(line.startswith(("--index-url", "--no-index")) for line in self.lines)


def options_of(lines: tuple[str, ...]) -> Options:
    """The options of a specification, which are for pip, as uv takes them."""
    options = Options()
    for line in lines:
        name, value = pip_requirements.option(line)
        if name in _IN_FILE:
            options.lines.append(f"{name} {_absolute(line, value)}".rstrip())
        elif name == "--pre":
            options.arguments.append("--prerelease=allow")
        elif name == "--trusted-host":
            options.arguments.append(f"--allow-insecure-host={value}")
        elif name == "--require-hashes":
            options.arguments.append(name)
        elif name == "--constraint":
            options.lines.append(f"{name} {_absolute(line, value)}")
        elif name == "--editable" and "://" in value:
            options.lines.append(f"-e {value}")
        elif name in ("--editable", "--requirement"):
            raise _refused(line)
        elif name in _WITHOUT_EFFECT:
            options.left_out.append(line)
        else:
            raise EnvironmentProblem(
                "OptionNotSupported",
                f"The pip option '{line}' of the specification is not supported.",
                "Remove the line. Supported are: " + ", ".join((*_IN_FILE, "--pre", "--trusted-host", "--constraint")),
            )
    return options


def package_line(line: str, order: Order, folder: Path) -> str:
    """A package of a specification as uv takes it; a wheel of the server is fetched into `folder`."""
    if line.startswith(WHEELS):
        return _wheel(line, order, folder).as_uri()
    if _is_relative(line):
        raise _refused(line)
    return line


def with_variables(text: str, secrets: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """The text with the names of secrets as uv reads them, and the variables that hold their values."""
    named = {name.upper(): secrets[name] for name in _REFERENCE.findall(text) if name in secrets}
    return _REFERENCE.sub(lambda match: match[0].upper(), text), named


def _wheel(line: str, order: Order, folder: Path) -> Path:
    """The wheel under its own name: that is where its version and platform are written."""
    brought = Path(order.fetch(line)).absolute()
    name = line.rsplit("/", 1)[-1]
    if brought.name == name:
        return brought
    link = folder / name
    if not link.is_symlink():
        link.symlink_to(brought)
    return link


def _is_relative(line: str) -> bool:
    place = line.split(" @ ", 1)[-1].split(";")[0].strip()
    if place.startswith("."):
        return True
    if "://" in place or place.startswith("/"):
        return False
    return place.endswith((".whl", ".tar.gz", ".zip")) or ("/" in place and (" @ " in line or pip_name(line) is None))


def _absolute(line: str, value: str) -> str:
    a_file = value.endswith((".txt", ".in", ".whl")) and "://" not in value and not value.startswith(("/", "~"))
    if value.startswith(".") or a_file:
        raise _refused(line)
    return value


def _refused(line: str) -> EnvironmentProblem:
    return EnvironmentProblem(
        "RelativePath",
        f"The line '{line}' of the specification names a file beside it, which is not there when the environment is "
        "built: environments are shared by runs, and know no folder.",
        "Code of your own belongs into source_directory, which every run gets. A package: build a wheel and hand it "
        "over with Environment.add_private_pip_wheel(workspace, path), or name it by an address (git+https://...).",
    )
