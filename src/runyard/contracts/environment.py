"""What an environment holds: the normal form of SDK v1's definition of it, and the key by which a built one is found.

A definition is the document that `Environment.to_dict()` writes and that is registered, versioned and shown. A
specification is what of it decides how a run starts: no name, no order of packages, no case of letters makes two
specifications differ that mean the same. How one is built is not decided here.
"""

from __future__ import annotations

import json
import re
from typing import Any, Mapping

from runyard.system.records import asdict, fields, record

CURRENT, PACKAGES, CONTAINER = "current", "packages", "container"
"""The kinds: an existing interpreter, one that is built from packages, an image."""

FORMAT = 1
"""Part of every key: raise it when the same specification must be built again."""

AZURE_IMAGES = ("mcr.microsoft.com/azureml/", "mcr.microsoft.com/azureml:")
"""Azure's stock images hold a Linux, CUDA and MPI, and no packages: the machine of the run replaces them."""

SDK_PACKAGES = re.compile(r"(azureml|azure-ml)(-[a-z0-9-]+)?")
"""Packages of the SDK itself, by their normal name. They are left out of every environment: the SDK is injected."""

HOROVOD = "horovod"
"""The package in whose place a layer of Runyard can stand (`runyard.compat`)."""

STOCK_PYTHONS = ("3.8.13", "3.10.18")
"""What SDK v1 fills in where no Python was chosen: no pin."""

DEFAULT_CHANNELS = ("anaconda", "conda-forge", "defaults")
"""Channels that SDK v1 writes into every definition: naming them does not require conda."""

_CONDA = re.compile(r"(?:[^\s:]+::)?([A-Za-z0-9_][A-Za-z0-9_.-]*)\s*(.*)", re.DOTALL)
_PIP = re.compile(r"\s*([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(\[[^\]]*\])?(.*)", re.DOTALL)


@record(frozen=True)
class Specification:
    """What is required, in normal form. `python` is the version in conda's file: `3.8`, `>=3.8`, or empty.

    The password of the registry, and credentials inside pip's lines, are names of secrets (`contracts.secrets`).
    """

    name: str = ""
    python: str = ""
    conda: tuple[str, ...] = ()
    channels: tuple[str, ...] = ()
    pip: tuple[str, ...] = ()
    options: tuple[str, ...] = ()  # lines with options for pip
    left_out: tuple[str, ...] = ()  # lines that name the SDK
    image: str = ""
    dockerfile: str = ""  # its text
    context: str = ""  # the address of a folder to build in, with `context_dockerfile` as its Dockerfile
    context_dockerfile: str = ""
    registry: str = ""  # the address to log in at; empty: the image's own
    registry_user: str = ""
    registry_password: str = ""
    user_managed: bool = False
    interpreter: str = ""
    base_conda_environment: str = ""

    @property
    def kind(self) -> str:
        if self.dockerfile or self.context or (self.image and not self.on_the_machine):
            return CONTAINER
        return PACKAGES if self.packages or self.left_out else CURRENT

    @property
    def on_the_machine(self) -> bool:
        """Whether the image is one of Azure's own that the machine replaces."""
        return self.image.startswith(AZURE_IMAGES)

    @property
    def packages(self) -> bool:
        """Whether anything is to be installed."""
        return not self.user_managed and bool(self.python or self.conda or self.pip)

    @property
    def asked(self) -> tuple[str, ...]:
        """The requirements, a line each: the image, the Python, the packages."""
        image = "a Dockerfile" if self.dockerfile or self.context else "" if self.on_the_machine else self.image
        python = f"python {self.python}" if self.python and self.python not in STOCK_PYTHONS else ""
        return tuple(line for line in (image, python, *self.conda, *self.pip) if line)

    @property
    def asks_for_horovod(self) -> bool:
        return any(pip_name(line) == HOROVOD for line in self.pip) or HOROVOD in map(conda_name, self.conda)

    def key(self, relaxed: bool = False, real_horovod: bool = False) -> str:
        """The name of the built environment: the same for equal requirements. `real_horovod`: no layer may stand in
        for it."""
        content: dict[str, Any] = {
            "format": FORMAT,
            "relaxed": relaxed,
            "python": self.python,
            "conda": sorted(self.conda),
            "channels": [each for each in self.channels if each not in DEFAULT_CHANNELS],
            "pip": sorted(self.pip),
            "options": list(self.options),
            "base": self.base_conda_environment,
            "installs": self.packages,
        }
        if real_horovod and self.asks_for_horovod:
            content["horovod"] = "real"
        if self.kind == CONTAINER:
            content["image"] = [self.registry, self.image, self.dockerfile, self.context, self.context_dockerfile]
        text = json.dumps(content, sort_keys=True, separators=(",", ":"))
        return _sha256(text)[:32]

    def as_dict(self) -> dict[str, Any]:
        fields = asdict(self)
        return {name: list(value) if isinstance(value, tuple) else value for name, value in fields.items() if value}

    @staticmethod
    def from_dict(document: Mapping[str, Any]) -> Specification:
        known = {each.name for each in fields(Specification)}
        wanted: dict[str, Any] = {key: value for key, value in document.items() if key in known}
        wanted.update({key: tuple(value) for key, value in wanted.items() if isinstance(value, list)})
        return Specification(**wanted)


def specification_of(definition: Mapping[str, Any]) -> Specification:
    """The specification of an SDK v1 definition (camelCase, as `Environment.to_dict` writes it)."""
    python = definition.get("python") or {}
    docker = definition.get("docker") or {}
    registry = docker.get("baseImageRegistry") or {}
    context = docker.get("buildContext") or {}
    packages = python.get("condaDependencies") or {}
    user_managed = bool(python.get("userManagedDependencies"))
    wanted: dict[str, Any] = {} if user_managed else _packages(packages)
    return Specification(
        name=str(definition.get("name") or ""),
        image=str(docker.get("baseImage") or ""),
        dockerfile=str(docker.get("baseDockerfile") or ""),
        context=str(context.get("location") or ""),
        context_dockerfile=str(context.get("dockerfilePath") or "") if context else "",
        registry=str(registry.get("address") or ""),
        registry_user=str(registry.get("username") or ""),
        registry_password=str(registry.get("password") or ""),
        user_managed=user_managed,
        interpreter=str(python.get("interpreterPath") or ""),
        base_conda_environment=str(python.get("baseCondaEnvironment") or ""),
        **wanted,
    )


def content_hash(definition: Mapping[str, Any]) -> str:
    """What makes two versions of an environment differ: all of the definition but its name and version."""
    content = {key: value for key, value in definition.items() if key not in ("name", "version", "assetId")}
    return _sha256(json.dumps(content, sort_keys=True, separators=(",", ":")))


def conda_name(package: str) -> str:
    """
    >>> conda_name("conda-forge::NumPy=1.18.5=py38")
    'numpy'
    """
    match = _CONDA.fullmatch(package.strip())
    return match[1].lower() if match else package.strip().lower()


def conda_version(package: str) -> str:
    """The version part of a conda package, without a single leading `=`.

    >>> conda_version("python=3.6.2"), conda_version("numpy>=1.18"), conda_version("scipy"), conda_version("pip==20.1")
    ('3.6.2', '>=1.18', '', '==20.1')
    """
    match = _CONDA.fullmatch(package.strip())
    rest = match[2].strip() if match else ""
    return rest[1:].strip() if rest.startswith("=") and not rest.startswith("==") else rest


def pip_name(line: str) -> str | None:
    """The package that a line of a requirements file names, as pip compares names; None for an address or an option.

    >>> pip_name("Scikit_Learn[extra]>=1"), pip_name("git+https://x/y"), pip_name("--pre")
    ('scikit-learn', None, None)
    """
    match = _PIP.fullmatch(line)
    if match is None or match[3].startswith((":", "/", "+")):
        return None
    return re.sub(r"[-_.]+", "-", match[1]).lower()


def is_sdk_package(line: str) -> bool:
    """
    >>> is_sdk_package("azureml-sdk[notebooks]==1.20"), is_sdk_package("azure-storage-blob")
    (True, False)
    """
    name = pip_name(line)
    return name is not None and SDK_PACKAGES.fullmatch(name) is not None


def _packages(conda_file: Mapping[str, Any]) -> dict[str, Any]:
    python, conda, pip = "", [], []
    for each in conda_file.get("dependencies") or ():
        if isinstance(each, Mapping):
            pip += [" ".join(str(line).split()) for line in each.get("pip") or ()]
        elif conda_name(str(each)) == "python":
            python = "".join(conda_version(str(each)).split())
        else:
            conda.append(" ".join(str(each).split()))
    lines = [line for line in pip if line and not line.startswith("-")]
    return {
        "python": python,
        "conda": tuple(conda),
        "channels": tuple(str(each) for each in conda_file.get("channels") or ()),
        "pip": tuple(line for line in lines if not is_sdk_package(line)),
        "options": tuple(line for line in pip if line.startswith("-")),
        "left_out": tuple(line for line in lines if is_sdk_package(line)),
    }


def _sha256(text: str) -> str:
    import hashlib  # not for every command that shows an environment: it loads OpenSSL

    return hashlib.sha256(text.encode()).hexdigest()
