"""YAML to and from text and files. PyYAML is loaded on first use: the SDK itself works without it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Mapping

from runyard.sdk.exceptions import UserErrorException

if TYPE_CHECKING:
    from types import ModuleType


def _yaml() -> ModuleType:
    try:
        import yaml
    except ImportError as error:
        raise ImportError(
            "Reading and writing YAML (.runconfig files, conda specifications) needs PyYAML, which this Python does "
            "not have. Install it with: pip install pyyaml"
        ) from error
    return yaml


def dump(document: Mapping[str, Any]) -> str:
    """The YAML text of a dictionary, in its own order."""
    yaml = _yaml()

    class Dumper(yaml.SafeDumper):  # type: ignore[name-defined, misc]
        def ignore_aliases(self, data: object) -> bool:
            return True  # people read these files: two equal lists are written twice, not as *id001

    text: str = yaml.dump(dict(document), Dumper=Dumper, sort_keys=False, default_flow_style=False, allow_unicode=True)
    return text


def load(text: str, where: str) -> dict[str, Any]:
    """The dictionary that a YAML text holds; `where` names it in messages."""
    yaml = _yaml()
    try:
        document = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise UserErrorException(f"{where} is not YAML: {error}", inner_exception=error) from error
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise UserErrorException(
            f"{where} should hold settings by name (`key: value`), but holds a {type(document).__name__}."
        )
    return document


def read(path: str | os.PathLike[str]) -> dict[str, Any]:
    with open(path, encoding="utf-8") as file:
        return load(file.read(), os.fspath(path))


def write(path: str | os.PathLike[str], document: Mapping[str, Any]) -> None:
    text = dump(document)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
