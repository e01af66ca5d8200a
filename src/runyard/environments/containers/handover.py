"""What packages need from this machine while they are installed into an image: pip's configuration, certificates,
folders of wheels, credentials.

All of it is in a folder that only the user can read, which the container sees at PLACE for as long as the step
lasts. So nothing of it enters the image, its history, or the log.
"""

from __future__ import annotations

import os
import shlex
import shutil
from pathlib import Path
from typing import Mapping
from urllib.parse import unquote, urlsplit

PLACE = "/mnt"

_ADDRESSES = ("index-url", "extra-index-url", "find-links")
_FILES = ("cert", "client-cert", "constraint")
_NOT_HANDED_OVER = ("cache-dir", "target", "user", "prefix", "root", "src", "log", "require-virtualenv", "python")
_PROXIES = ("http_proxy", "https_proxy", "no_proxy", "all_proxy")


class Handover:
    """A folder that a container is to see. `mounts` maps folders of this machine to paths in the container."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.mounts: dict[str, str] = {str(folder): PLACE}

    def write(self, name: str, text: str) -> str:
        """Hand over a file with this text; its path in the container."""
        descriptor = os.open(self._folder / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        return f"{PLACE}/{name}"

    def file(self, path: Path) -> str:
        """Hand over a copy of a file under the same name; returns its path in the container."""
        folder = self._new_folder()
        shutil.copyfile(path, folder / path.name)
        return f"{PLACE}/{folder.name}/{path.name}"

    def address(self, address: str) -> str:
        """An address as the container sees it: folders of this machine are put in its sight, others stay."""
        split = urlsplit(address)
        if split.scheme not in ("", "file"):
            return address
        path = Path(unquote(split.path) if split.scheme else os.path.expanduser(address)).absolute()
        if not path.exists():
            return address
        if path.is_file() and split.scheme == "":
            return self.file(path)
        # Pages of an index point at files beside their folder: the folder above comes along.
        whole = path.parent if split.scheme and path.parent != Path("/") else path
        if str(whole) not in self.mounts:
            self.mounts[str(whole)] = f"{PLACE}/{self._new_folder().name}"
        inside = Path(self.mounts[str(whole)]) / path.relative_to(whole)
        return inside.as_uri() if split.scheme else str(inside)

    def variables(self, values: Mapping[str, str]) -> str:
        """Hand over variables as a script for the shell to read; its path in the container."""
        return self.write("variables", "".join(f"export {name}={shlex.quote(text)}\n" for name, text in values.items()))

    def _new_folder(self) -> Path:
        folder = self._folder / str(len(list(self._folder.iterdir())))
        folder.mkdir(mode=0o700)
        return folder


def pip_variables(handover: Handover, configured: Mapping[str, str], environ: Mapping[str, str]) -> dict[str, str]:
    """The variables that make pip in the container work as pip does here. `configured` is what
    `pip_config.read` returns, `environ` the variables of this process."""
    variables = {"PIP_CONFIG_FILE": os.devnull}
    for name, value in configured.items():
        if name in _NOT_HANDED_OVER or name == "config-file":
            continue
        if name in _ADDRESSES:
            value = " ".join(handover.address(each) for each in value.split())
        elif name in _FILES:
            paths = [Path(each).expanduser() for each in value.split()]
            value = " ".join(handover.file(path) for path in paths if path.is_file())
        if value:
            variables[f"PIP_{name.upper().replace('-', '_')}"] = value
    variables.update({name: value for name, value in environ.items() if name.lower() in _PROXIES})
    netrc = Path(environ.get("NETRC") or "~/.netrc").expanduser()
    if netrc.is_file():
        variables["NETRC"] = handover.file(netrc)
    return variables
