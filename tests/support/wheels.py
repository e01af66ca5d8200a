"""Makes tiny packages, wheels and source distributions, for a folder that pip and uv look into (`--find-links`)."""

from __future__ import annotations

import base64
import hashlib
import io
import tarfile
import zipfile
from collections.abc import Iterable
from pathlib import Path

BROKEN_SETUP = 'raise SystemExit("the compiler is missing: fortran")\n'


def wheel(
    folder: Path,
    name: str,
    version: str = "1.0",
    requires: Iterable[str] = (),
    python: str = "",
    tag: str = "py3-none-any",
    files: dict[str, str] | None = None,
) -> Path:
    """A wheel that holds the module `name`, which knows its version. `python` goes to Requires-Python."""
    module = name.replace("-", "_")
    held = f"{module}-{version}.dist-info"
    contents = {
        f"{module}.py": f"__version__ = {version!r}\n",
        **(files or {}),
        f"{held}/METADATA": _metadata(name, version, requires, python),
        f"{held}/WHEEL": f"Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: {tag}\n",
    }
    record = "".join(f"{path},sha256={_digest(text)},{len(text.encode())}\n" for path, text in contents.items())
    contents[f"{held}/RECORD"] = f"{record}{held}/RECORD,,\n"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{module}-{version}-{tag}.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for inside, text in contents.items():
            archive.writestr(zipfile.ZipInfo(inside), text)
    return path


def source(folder: Path, name: str, version: str = "1.0", setup: str = BROKEN_SETUP) -> Path:
    """A source distribution with a build of its own that needs no other package: `setup` is run by the build."""
    module = name.replace("-", "_")
    root = f"{module}-{version}"
    contents = {
        f"{root}/PKG-INFO": _metadata(name, version, (), ""),
        f"{root}/pyproject.toml": '[build-system]\nrequires = []\nbuild-backend = "build"\nbackend-path = ["."]\n',
        f"{root}/build.py": setup,
    }
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{root}.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for inside, text in contents.items():
            member = tarfile.TarInfo(inside)
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    return path


def buildable(name: str, version: str = "1.0", before: str = "pass") -> str:
    """The build of a source distribution that works; the statement `before` is run first."""
    held = f"{name}-{version}.dist-info"
    kind = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    contents = {
        f"{name}.py": f"__version__ = {version!r}\n",
        f"{held}/METADATA": _metadata(name, version, (), ""),
        f"{held}/WHEEL": kind,
        f"{held}/RECORD": "",
    }
    return f"""
import os, time, zipfile

def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    {before}
    with zipfile.ZipFile(os.path.join(wheel_directory, "{name}-{version}-py3-none-any.whl"), "w") as wheel:
        for path, text in {contents!r}.items():
            wheel.writestr(path, text)
    return "{name}-{version}-py3-none-any.whl"
"""


def _metadata(name: str, version: str, requires: Iterable[str], python: str) -> str:
    lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
    lines += [f"Requires-Dist: {each}" for each in requires]
    lines += [f"Requires-Python: {python}"] if python else []
    return "\n".join(lines) + "\n"


def _digest(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
