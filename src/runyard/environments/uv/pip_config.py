"""The user's pip configuration, read as pip reads it and translated for uv, which reads none of it by itself.

No pip is started: its files and variables are few, and starting it would cost more than installing a small package.
"""

from __future__ import annotations

import configparser
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Mapping

from runyard.environments.problem import EnvironmentProblem

_YES = ("1", "true", "yes", "on", "y", "t")
_SECTIONS = ("global", "install")  # the later wins


@dataclass(frozen=True)
class ForUv:
    """What uv is given: variables (they may hold credentials), and arguments for what has no variable."""

    variables: dict[str, str]
    arguments: list[str]


def read(environ: Mapping[str, str]) -> dict[str, str]:
    """What pip is configured to do when it installs: names as on its command line, lists as lines."""
    found: dict[str, dict[str, str]] = {section: {} for section in _SECTIONS}
    for path in _files(environ):
        for section, options in _read_file(path).items():
            found[section].update(options)
    configured = {name: value for section in _SECTIONS for name, value in found[section].items()}
    for variable, value in environ.items():
        if variable.startswith("PIP_") and value:
            configured[_normal(variable[len("PIP_") :])] = value
    return configured


def for_uv(environ: Mapping[str, str], own_index: bool = False) -> ForUv:
    """The configuration for uv. The user's UV_ variables win; `own_index`: the specification names its own index."""
    configured = read(environ)
    variables = {**_indexes(configured, own_index), **_connection(configured)}
    if _is_on(configured, "pre"):
        variables["UV_PRERELEASE"] = "allow"
    undecided = {name: value for name, value in variables.items() if value and not _decided(name, environ)}
    return ForUv(undecided, _arguments(configured, environ, own_index))


def _indexes(configured: Mapping[str, str], own_index: bool) -> dict[str, str]:
    return {
        "UV_DEFAULT_INDEX": "" if own_index else configured.get("index-url", ""),
        "UV_EXTRA_INDEX_URL": " ".join(_list(configured, "extra-index-url")),
        "UV_FIND_LINKS": ",".join(filter(None, map(_link, _list(configured, "find-links")))),
        "UV_INDEX_STRATEGY": "unsafe-best-match",  # as pip does: all indexes count, the best version wins
        "UV_INSECURE_HOST": " ".join(_list(configured, "trusted-host")),
    }


def _connection(configured: Mapping[str, str]) -> dict[str, str]:
    proxy, timeout = configured.get("proxy", ""), configured.get("timeout") or configured.get("default-timeout") or ""
    return {
        "SSL_CERT_FILE": _path(configured.get("cert", "")),
        "SSL_CLIENT_CERT": _path(configured.get("client-cert", "")),
        "UV_HTTP_TIMEOUT": timeout.split(".")[0],
        "HTTP_PROXY": proxy,
        "HTTPS_PROXY": proxy,
        "ALL_PROXY": proxy,
    }


def _arguments(configured: Mapping[str, str], environ: Mapping[str, str], own_index: bool) -> list[str]:
    arguments = ["--no-index"] if _is_on(configured, "no-index") and not own_index else []
    if not environ.get("UV_CONSTRAINT"):
        for constraint in _list(configured, "constraint"):
            arguments += ["--constraints", _path(constraint)]
    for option in ("no-binary", "only-binary"):
        for names in _list(configured, option):
            arguments += [each for name in names.split(",") if name for each in (f"--{option}", name)]
    return arguments


def _decided(variable: str, environ: Mapping[str, str]) -> bool:
    """Whether the user has configured uv itself."""
    if variable == "UV_DEFAULT_INDEX":
        return bool(environ.get("UV_DEFAULT_INDEX") or environ.get("UV_INDEX_URL"))
    return variable.startswith("UV_") and bool(environ.get(variable))


def _files(environ: Mapping[str, str]) -> list[Path]:
    """pip's files, the strongest last."""
    own = environ.get("PIP_CONFIG_FILE")
    if own == os.devnull:
        return []
    home = Path(environ.get("HOME") or "~").expanduser()
    files = [
        Path(folder) / "pip/pip.conf" for folder in environ.get("XDG_CONFIG_DIRS", "/etc/xdg").split(":") if folder
    ]
    if sys.platform == "darwin":
        files = [Path("/Library/Application Support/pip/pip.conf")]
    files.append(Path("/etc/pip.conf"))
    if not (own and Path(own).exists()):
        files += [home / ".pip/pip.conf", _user_folder(environ, home) / "pip.conf"]
    files.append(Path(sys.prefix) / "pip.conf")
    if environ.get("VIRTUAL_ENV"):
        files.append(Path(environ["VIRTUAL_ENV"]) / "pip.conf")
    return [*files, Path(own)] if own else files


def _user_folder(environ: Mapping[str, str], home: Path) -> Path:
    if sys.platform == "darwin" and (home / "Library/Application Support/pip").is_dir():
        return home / "Library/Application Support/pip"
    return Path(environ.get("XDG_CONFIG_HOME") or home / ".config") / "pip"


def _read_file(path: Path) -> dict[str, dict[str, str]]:
    if not path.is_file():
        return {}
    parser = configparser.RawConfigParser()
    try:
        parser.read_string(path.read_text("utf-8"), str(path))
    except (OSError, ValueError, configparser.Error) as error:
        raise EnvironmentProblem(
            "PipConfigurationUnreadable",
            f"pip's configuration {path} cannot be read: {str(error).splitlines()[0]}",
            "Correct the file: it says which package index is used. `pip config debug` lists pip's files.",
        ) from None
    sections = [section for section in _SECTIONS if parser.has_section(section)]
    return {section: {_normal(name): value for name, value in parser.items(section)} for section in sections}


def _normal(name: str) -> str:
    return name.lower().replace("_", "-").lstrip("-")


def _is_on(configured: Mapping[str, str], name: str) -> bool:
    return configured.get(name, "").strip().lower() in _YES


def _list(configured: Mapping[str, str], name: str) -> list[str]:
    return configured.get(name, "").split()


def _link(place: str) -> str:
    """A find-links place as uv takes it. One that is not there is no error for pip: it is passed over."""
    if "://" in place:
        return place
    path = Path(_path(place))
    return path.as_uri().replace(",", "%2C") if path.exists() else ""


def _path(text: str) -> str:
    return text if not text or "://" in text else str(Path(text).expanduser().absolute())
