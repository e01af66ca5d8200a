"""The packages of an environment, as a conda specification: channels, conda packages and a pip section.

Only the specification: environments are built from it elsewhere.
"""

from __future__ import annotations

import copy
import os
from typing import Any, Iterable, Mapping, Sequence

from runyard.contracts import pip_requirements
from runyard.contracts.environment import conda_name
from runyard.contracts.secrets import mask
from runyard.sdk import yaml_files
from runyard.sdk.environment import requirement_lines, requirements_files
from runyard.sdk.exceptions import UserErrorException

FILE_NAME = "conda_dependencies.yml"
DEFAULT_PYTHON = "3.8.13"
CREATED_PYTHON = "3.10.18"
DEFAULT_NAME = "project_environment"
SDK_PACKAGE = "azureml-defaults"
REPEATABLE = ("--extra-index-url", "--find-links", "--trusted-host", "--constraint")
"""Options that pip takes several times."""
KEYS = ("name", "channels", "dependencies", "prefix", "variables")


class CondaDependencies:
    """A conda specification that can be changed step by step.

    >>> packages = CondaDependencies.create(conda_packages=["scipy"], pip_packages=["torch==1.6.0"])
    >>> packages.as_dict()["dependencies"]
    ['python=3.10.18', 'scipy', {'pip': ['torch==1.6.0']}]
    """

    DEFAULT_NUMBER_OF_CONDA_PACKAGES = 0
    DEFAULT_NUMBER_OF_PIP_PACKAGES = 0

    def __init__(
        self,
        conda_dependencies_file_path: str | os.PathLike[str] | None = None,
        _underlying_structure: Mapping[str, Any] | None = None,
    ) -> None:
        if _underlying_structure is not None:
            self._content = _checked(_underlying_structure, "the conda specification")
        elif conda_dependencies_file_path is not None:
            path = os.fspath(conda_dependencies_file_path)
            if not os.path.isfile(path):
                raise FileNotFoundError(f"There is no conda specification at {path!r} (seen from {os.getcwd()}).")
            self._content = _checked(yaml_files.read(path), path)
            self._set_pip(requirements_files.inlined(self._pip(), os.path.abspath(path)))
        else:
            self._content = {
                "name": DEFAULT_NAME,
                "channels": ["anaconda", "conda-forge"],
                "dependencies": [f"python={DEFAULT_PYTHON}", {"pip": [SDK_PACKAGE]}],
            }

    @staticmethod
    def create(
        pip_indexurl: str | None = None,
        pip_packages: Sequence[str] | None = None,
        conda_packages: Sequence[str] | None = None,
        python_version: str = CREATED_PYTHON,
        pin_sdk_version: bool = True,
    ) -> CondaDependencies:
        """A specification from lists. The SDK (`azureml-defaults`) is in it when `pip_packages` is None or lists it.

        `pin_sdk_version` changes nothing: the SDK of a run is Runyard's own, whatever the version.
        """
        made = CondaDependencies()
        made.set_python_version(python_version)
        if pip_packages is not None:
            made.set_pip_requirements(())
        for line in _texts(pip_packages, "pip_packages"):
            made.set_pip_option(line) if pip_requirements.is_option(line) else made.add_pip_package(line)
        for package in _texts(conda_packages, "conda_packages"):
            made.add_conda_package(package)
        if pip_indexurl:
            made.set_pip_index_url(pip_indexurl)
        return made

    @staticmethod
    def merge_requirements(requirements: Iterable[str]) -> list[str]:
        """One line per package, the versions joined with commas."""
        return requirement_lines.merge(requirements)

    @staticmethod
    def sdk_origin_url() -> str:
        """The package index for pip; empty when none is named."""
        return os.environ.get("PIP_INDEX_URL", "")

    @property
    def conda_channels(self) -> list[str]:
        return list(self._content["channels"])

    @property
    def conda_packages(self) -> list[str]:
        """The conda packages, Python itself among them."""
        return [each for each in self._content["dependencies"] if isinstance(each, str)]

    @property
    def pip_packages(self) -> list[str]:
        return [line for line in self._pip() if not pip_requirements.is_option(line)]

    @property
    def pip_options(self) -> list[str]:
        """The options of pip, such as `--index-url ...`."""
        return [line for line in self._pip() if pip_requirements.is_option(line)]

    def get_default_number_of_packages(self) -> int:
        return self.DEFAULT_NUMBER_OF_CONDA_PACKAGES + self.DEFAULT_NUMBER_OF_PIP_PACKAGES

    def get_python_version(self) -> str | None:
        """The required version; None when the specification leaves it open."""
        for package in self.conda_packages:
            if conda_name(package) == "python":
                return package.split("python", 1)[1].strip(" =") or None
        return None

    def set_python_version(self, version: str) -> None:
        self._put_python(f"python={version}")

    def add_channel(self, channel: str) -> None:
        if channel not in self._content["channels"]:
            self._content["channels"].append(channel)

    def remove_channel(self, channel: str) -> None:
        self._content["channels"] = [each for each in self._content["channels"] if each != channel]

    def add_conda_package(self, conda_package: str) -> None:
        """Add a package. An existing one with another version stays; `python=...` sets Python's version."""
        _refuse_option(conda_package, "conda package")
        if conda_name(conda_package) == "python":
            self._put_python(conda_package)
        elif conda_package not in self._content["dependencies"]:
            packages = self._content["dependencies"]
            packages.insert(len(self.conda_packages), conda_package)

    def remove_conda_package(self, conda_package: str) -> None:
        """Remove a package, in any version."""
        name = conda_name(conda_package)
        if name == "python":
            raise UserErrorException("Python cannot be taken out: use set_python_version to change its version.")
        self._content["dependencies"] = [
            each for each in self._content["dependencies"] if not (isinstance(each, str) and conda_name(each) == name)
        ]

    def add_pip_package(self, pip_package: str) -> None:
        """Add a package, replacing any other version of it."""
        _refuse_option(pip_package, "pip package")
        wanted = requirement_lines.portable(pip_package)
        others = [line for line in self._pip() if not pip_requirements.same_package(line, wanted)]
        self._set_pip([*others, wanted])

    def remove_pip_package(self, pip_package: str) -> None:
        """Remove a package, in any version."""
        self._set_pip([line for line in self._pip() if not pip_requirements.same_package(line, pip_package)])

    def set_pip_option(self, pip_option: str) -> None:
        """Add an option for pip (`--index-url https://...`), replacing another value unless pip takes several."""
        if not pip_requirements.is_option(pip_option):
            raise UserErrorException(f"{mask(pip_option)!r} is no option of pip: an option begins with '-'.")
        new, name = requirement_lines.portable(pip_option), _option_name(pip_option)
        others = [
            line for line in self.pip_options if line != new and (name in REPEATABLE or _option_name(line) != name)
        ]
        self._set_pip([*others, new, *self.pip_packages])

    def remove_pip_option(self, pip_option: str) -> None:
        """Remove an option: with a value only that one, without a value all of its name."""
        unwanted = pip_option.strip()
        named = pip_requirements.LONG_NAMES.get(unwanted, unwanted)
        self._set_pip([line for line in self._pip() if line != unwanted and _option_name(line) != named])

    def set_pip_index_url(self, index_url: str) -> None:
        self.set_pip_option(f"--index-url {index_url}")

    def set_pip_requirements(self, pip_requirements: Iterable[str]) -> None:
        """Replace the whole pip section, options included."""
        self._set_pip([_portable(line) for line in pip_requirements if line.strip()])

    def add_cntk_package(self, core_type: str = "cpu") -> None:
        self.add_pip_package(_variant("cntk", core_type))

    def add_tensorflow_pip_package(self, core_type: str = "cpu", version: str | None = None) -> None:
        self._drop_tensorflow()
        self.add_pip_package(_variant("tensorflow", core_type) + (f"=={version}" if version else ""))

    def add_tensorflow_conda_package(self, core_type: str = "cpu", version: str | None = None) -> None:
        self._drop_tensorflow()
        self.add_conda_package(_variant("tensorflow", core_type) + (f"={version}" if version else ""))

    def save_to_file(self, base_directory: str | os.PathLike[str], conda_file_path: str | None = None) -> str:
        """Write the specification below a folder, and return the file's path in that folder."""
        name = conda_file_path or FILE_NAME
        self.save(os.path.join(os.fspath(base_directory), name))
        return os.path.normpath(name)

    def save(self, path: str | os.PathLike[str] | None = None) -> str:
        """Write the specification to a file (in a folder: `conda_dependencies.yml`), and return its path."""
        file = os.fspath(path) if path is not None else FILE_NAME
        if os.path.isdir(file):
            file = os.path.join(file, FILE_NAME)
        os.makedirs(os.path.dirname(file) or ".", exist_ok=True)
        yaml_files.write(file, self.as_dict())
        return file

    def serialize_to_string(self) -> str:
        """The specification as YAML, ready for `conda env create`."""
        return yaml_files.dump(self.as_dict())

    def as_dict(self) -> dict[str, Any]:
        """The specification as a dictionary; changing it changes nothing here."""
        return copy.deepcopy(self._content)

    to_dict = as_dict

    @staticmethod
    def read(path: str | os.PathLike[str]) -> CondaDependencies:
        """The specification in a file. An empty one is refused: most often it is a mistake."""
        read = CondaDependencies(path)
        if not read._content["dependencies"]:
            raise UserErrorException(
                f"{os.fspath(path)} holds no packages. Name at least a Python (`dependencies: [python=3.10]`); where "
                "nothing is to be installed, use an environment with `env.python.user_managed_dependencies = True`."
            )
        return read

    @classmethod
    def from_dict(cls, given: Mapping[str, Any], where: str = "") -> CondaDependencies:
        """The inverse of `as_dict`; `where` names the place in messages."""
        made = cls()
        made._content = _checked(given, where or "the conda specification")
        return made

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CondaDependencies) and self._content == other._content

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return mask(f"CondaDependencies(conda={self.conda_packages}, pip={self.pip_packages})")

    def _pip(self) -> list[str]:
        for each in self._content["dependencies"]:
            if isinstance(each, dict):
                return list(each["pip"])
        return []

    def _set_pip(self, lines: list[str]) -> None:
        others: list[Any] = self.conda_packages
        self._content["dependencies"] = [*others, {"pip": lines}] if lines else others

    def _put_python(self, package: str) -> None:
        others = [
            each for each in self._content["dependencies"] if not isinstance(each, str) or conda_name(each) != "python"
        ]
        self._content["dependencies"] = [package, *others]

    def _drop_tensorflow(self) -> None:
        for name in ("tensorflow", "tensorflow-gpu"):
            self.remove_conda_package(name)
            self.remove_pip_package(name)


def _checked(given: Mapping[str, Any], where: str) -> dict[str, Any]:
    """A copy of a specification, checked for its form."""
    if not isinstance(given, Mapping):
        raise UserErrorException(mask(f"{where} is no conda specification: {given!r}."))
    unknown = [str(key) for key in given if key not in KEYS]
    if unknown:
        raise UserErrorException(
            f"{where} is no conda specification: it has {', '.join(unknown)}; allowed are {', '.join(KEYS)}."
        )
    content: dict[str, Any] = copy.deepcopy(dict(given))
    content["channels"] = _texts(content.get("channels"), f"{where}: channels")
    packages: list[Any] = []
    pip: list[str] = []
    dependencies = content.get("dependencies") or []
    if not isinstance(dependencies, list):
        raise UserErrorException(mask(f"{where}: dependencies should be a list, not {dependencies!r}."))
    for each in dependencies:
        if isinstance(each, dict) and list(each) == ["pip"]:
            pip += _texts(each["pip"], f"{where}: pip")
        elif isinstance(each, str):
            packages.append(each)
        else:
            raise UserErrorException(mask(f"{where}: {each!r} is neither a package nor a `pip:` list."))
    content["dependencies"] = [*packages, {"pip": pip}] if pip else packages
    return content


def _texts(given: object, where: str) -> list[str]:
    if given is None:
        return []
    if isinstance(given, (list, tuple)) and all(isinstance(each, str) for each in given):
        return list(given)
    raise UserErrorException(mask(f"{where} should be a list of texts, not {given!r}."))


def _option_name(line: str) -> str | None:
    return pip_requirements.option(line)[0] if pip_requirements.is_option(line) else None


def _portable(line: str) -> str:
    return requirement_lines.portable(line)  # apart, because a parameter of SDK v1 has the name of the module


def _refuse_option(package: str, kind: str) -> None:
    if pip_requirements.is_option(package):
        raise UserErrorException(
            f"{mask(package)!r} is no {kind}: names do not begin with '-'. Options of pip go to set_pip_option."
        )


def _variant(package: str, core_type: str) -> str:
    if core_type not in ("cpu", "gpu"):
        raise UserErrorException(f"{core_type!r} is no core type: use 'cpu' or 'gpu'.")
    return package if core_type == "cpu" else f"{package}-gpu"
