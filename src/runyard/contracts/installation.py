"""Where Runyard was installed from, and the commands that install it from there again.

It may be in no package index, so that its name alone means nothing to pip. Pip and uv record the source beside the
package: direct_url.json (a folder, a repository or an archive; none for an index) and INSTALLER.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Mapping
from urllib.parse import unquote, urlsplit, urlunsplit

NAME = "runyard"

_PINNED = re.compile(r"v?\d[\w.]*|[0-9a-f]{7,40}")  # a revision that does not move on: a version or a commit
_EXTRA = re.compile(r"""\bextra\s*==\s*['"]([^'"]+)['"]""")


@dataclass(frozen=True)
class Installation:
    """`folder`: a clone or other folder that it came from; `address`: of a repository (`git+https://...`) or an
    archive; neither, an index. `revision` is the branch, tag or commit of a repository, where one was given."""

    folder: str = ""
    editable: bool = False
    address: str = ""
    revision: str = ""
    fragment: str = ""  # the part of a repository or archive that is installed
    installer: str = "pip"
    requires: tuple[str, ...] = ()

    @property
    def there(self) -> bool:
        """Whether it can be installed from there again, as far as this machine shows."""
        local = unquote(urlsplit(self.address).path) if self.address.startswith("file:") else self.folder
        return not local or os.path.exists(local)

    def source(self) -> str:
        """Where it came from, for people."""
        if self.folder:
            return f"from {self.folder}" + (", which is used in place" if self.editable else "")
        return f"from {self.address}" if self.address else "from a package index"

    def with_extra(self, extra: str) -> str:
        """The command that adds what an extra needs, such as `postgres`."""
        if self.there:
            return self._install(*self._from_there(f"[{extra}]", self.revision))
        return self._install(*self._packages_of(extra))

    def upgrade(self) -> str:
        """The command that installs the newest version."""
        if not self.there or (self.address and not self.revisable):
            return self._install("--upgrade", "ARCHIVE_OR_FOLDER_OF_THE_NEW_VERSION")
        moving = "" if _PINNED.fullmatch(self.revision) else self.revision
        pull = self.folder and os.path.exists(os.path.join(self.folder, ".git"))
        first = f"git -C {shlex.quote(self.folder)} pull && " if pull else ""
        return first + self._install("--upgrade", *self._from_there("", moving))

    @property
    def revisable(self) -> bool:
        """Whether the same address gives newer versions: that of a repository does, that of an archive does not."""
        return "+" in urlsplit(self.address).scheme

    def _from_there(self, extra: str, revision: str) -> list[str]:
        if self.folder:
            return ["--editable", self.folder + extra] if self.editable else [self.folder + extra]
        if not self.address:
            return [NAME + extra]
        at = f"@{revision}" if revision else ""
        return [f"{NAME}{extra} @ {self.address}{at}{self.fragment}"]

    def _packages_of(self, extra: str) -> list[str]:
        found = []
        for each in self.requires:
            package, _, condition = each.partition(";")
            marker = _EXTRA.search(condition)
            if marker and marker[1] == extra:
                found.append(package.strip())
        return found or [f"{NAME}[{extra}]"]

    def _install(self, *what: str) -> str:
        if self.installer == "uv":  # which leaves no pip in the environments that it makes
            by = ["uv", "pip", "install", "--python", sys.executable]
        else:
            by = [sys.executable, "-m", "pip", "install"]
        return " ".join(shlex.quote(part) for part in (*by, *what))


def installation() -> Installation:
    """How this Runyard was installed."""
    try:
        distribution = metadata.distribution(NAME)
    except metadata.PackageNotFoundError:
        clone = Path(__file__).absolute().parents[3]
        return Installation(folder=str(clone) if (clone / "pyproject.toml").exists() else "")
    source = distribution.read_text("direct_url.json")
    noted = (distribution.read_text("INSTALLER") or "pip").strip()
    return _read(json.loads(source) if source else {}, noted, tuple(distribution.requires or ()))


def _read(source: Mapping[str, Any], installer: str, requires: tuple[str, ...]) -> Installation:
    """PEP 610's document.

    >>> _read({"url": "https://x.example/y.git", "vcs_info": {"vcs": "git"}}, "pip", ()).address
    'git+https://x.example/y.git'
    """
    address = str(source.get("url") or "")
    parts = urlsplit(address)
    if "dir_info" in source and parts.scheme == "file":
        editable = bool(source["dir_info"].get("editable"))
        return Installation(unquote(parts.path), editable, installer=installer, requires=requires)
    if "@" in parts.netloc and parts.scheme in ("http", "https"):  # credentials of whoever installed it
        address = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
    repository = source.get("vcs_info") or {}
    if repository:
        address = f"{repository.get('vcs') or 'git'}+{address}"
    inside = str(source.get("subdirectory") or "")
    return Installation(
        address=address,
        revision=str(repository.get("requested_revision") or ""),
        fragment=f"#subdirectory={inside}" if inside else "",
        installer=installer,
        requires=requires,
    )
