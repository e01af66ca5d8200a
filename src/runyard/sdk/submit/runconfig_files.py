"""Run configurations on disk: `.azureml/<name>` in YAML, with the packages (optionally the environment too) beside."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Iterator

from runyard.sdk import yaml_files
from runyard.sdk.environment.conda_dependencies import FILE_NAME as CONDA_FILE
from runyard.sdk.environment.conda_dependencies import CondaDependencies
from runyard.sdk.exceptions import RunConfigurationException, UserErrorException
from runyard.sdk.submit.data_sections import in_sections
from runyard.sdk.submit.runconfig import RunConfiguration

SUFFIX = ".runconfig"
FOLDERS = (".azureml", "aml_config")
ENVIRONMENT_FILE = "environment.yml"


def save(
    configuration: RunConfiguration, path: str | os.PathLike[str] | None, name: str | None, separate_environment: bool
) -> None:
    if not name or os.path.basename(name) != name:
        raise UserErrorException(
            f"A run configuration is saved under a file name such as 'train.runconfig', not {name!r}."
        )
    project = Path(path) if path is not None else Path.cwd()
    folder = _folder(project)
    folder.mkdir(parents=True, exist_ok=True)
    document = in_sections(configuration).to_dict()
    python = document["environment"]["python"]
    yaml_files.write(folder / CONDA_FILE, python.pop("condaDependencies"))
    python["condaDependenciesFile"] = f"{folder.name}/{CONDA_FILE}"
    if separate_environment:
        yaml_files.write(folder / ENVIRONMENT_FILE, document["environment"])
        document["environment"] = f"{folder.name}/{ENVIRONMENT_FILE}"
    yaml_files.write(folder / name, document)


def load(path: str | os.PathLike[str], name: str | None) -> RunConfiguration:
    file = _find(Path(path), name)
    document = yaml_files.read(file)
    environment = document.get("environment")
    if isinstance(environment, str):
        environment = document["environment"] = yaml_files.read(_beside(file, environment))
    if isinstance(environment, dict):
        _bring_packages(environment, file)
    return RunConfiguration.from_dict(document, str(file))


def delete(path: str | os.PathLike[str], name: str) -> None:
    _find(Path(path), name).unlink()


def _folder(project: Path) -> Path:
    """The folder of a project's configurations: an old `aml_config` if there is one, else `.azureml`."""
    return project / "aml_config" if (project / "aml_config").is_dir() else project / ".azureml"


def _find(path: Path, name: str | None) -> Path:
    tried = list(_candidates(path, name))
    for file in tried:
        if file.is_file():
            return file
    raise FileNotFoundError(f"There is no run configuration at any of: {', '.join(str(file) for file in tried)}.")


def _candidates(path: Path, name: str | None) -> Iterator[Path]:
    if name is None:
        yield path
        yield path.with_name(path.name + SUFFIX)
        return
    for folder in (*(path / each for each in FOLDERS), path):
        yield folder / name
        yield folder / (name + SUFFIX)


def _beside(file: Path, named: str) -> Path:
    """A file that a configuration names: its path begins at the project's folder, or at the configuration's own."""
    project = file.parent.parent if file.parent.name in FOLDERS else file.parent
    for folder in (project, file.parent):
        if (folder / named).is_file():
            return folder / named
    raise FileNotFoundError(f"{file} names {named!r}, but neither {project} nor {file.parent} has it.")


def _bring_packages(environment: dict[str, Any], file: Path) -> None:
    """Take the packages from the file that the environment names."""
    python = environment.get("python")
    if python is None:
        return
    if not isinstance(python, dict):
        raise RunConfigurationException(f"{file}: environment.python: expected settings by name, found {python!r}.")
    named = python.pop("condaDependenciesFile", None) or python.pop("conda_dependencies_file", None)
    if named is not None:
        python["condaDependencies"] = CondaDependencies(_beside(file, str(named))).as_dict()
