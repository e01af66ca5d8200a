"""Curated environments: what the `AzureML-*` names of SDK v1 mean here.

On Azure each of them was an image with pinned packages, most of which have no build for a current Python. Here a name
means the current releases of the frameworks in it, found by rules, because Azure has had hundreds of names
that differ in versions only. No Python is pinned, and Azure's base image stays: the machine replaces it.
"""

from __future__ import annotations

import copy
import re
from typing import Any, NamedTuple

from runyard.system.records import record

PREFIX = "AzureML-"
RESERVED = ("azureml", "microsoft")
"""Prefixes of names, case-insensitive, that are reserved for curated environments."""

VERSION = "1"
CPU_IMAGE = "mcr.microsoft.com/azureml/openmpi4.1.0-ubuntu22.04:20251130.v1"
GPU_IMAGE = "mcr.microsoft.com/azureml/openmpi4.1.0-cuda11.8-cudnn8-ubuntu22.04"


class Rule(NamedTuple):
    """What a part of a name requires. `framework` is the package that a version after that part belongs to."""

    part: str
    framework: str | None
    packages: tuple[str, ...]
    note: str = ""


_TABLES = ("numpy", "pandas", "scikit-learn", "scipy")

RULES = (
    Rule("minimal", None, ()),
    Rule("sidecar", None, ()),
    Rule("tutorial", None, (*_TABLES, "joblib", "matplotlib")),
    # No torchvision: it has no CPU build everywhere, and must fit its torch exactly. In the place of horovod, as in
    # every environment, a layer of Runyard stands where no wheel of it can be had.
    Rule("pytorch", "torch", ("torch", "numpy", "tensorboard", "horovod")),
    Rule("acpt", "torch", ("torch", "numpy", "tensorboard", "horovod")),
    Rule("deepspeed", "deepspeed", ("deepspeed", "torch", "numpy")),
    Rule("tensorflow", "tensorflow", ("tensorflow", "numpy", "horovod")),
    Rule("scikit-learn", "scikit-learn", (*_TABLES, "joblib")),
    Rule("sklearn", "scikit-learn", (*_TABLES, "joblib")),
    Rule("xgboost", "xgboost", ("xgboost", *_TABLES)),
    Rule("lightgbm", "lightgbm", ("lightgbm", *_TABLES)),
    Rule(
        "chainer",
        "chainer",
        ("chainer", "numpy"),
        "Chainer is not maintained any more and does not install in every Python: port the script, or map the name to "
        "an interpreter that has it.",
    ),
    Rule("pyspark", None, ("pyspark", "numpy", "pandas"), "Spark needs a Java that is installed on the machine."),
    Rule("automl", None, (*_TABLES, "lightgbm", "xgboost"), "Automated machine learning itself is not in it."),
    Rule("forecastdnn", None, ("torch", *_TABLES)),
    Rule("triton", None, ("tritonclient[http]", "numpy")),
    Rule("onnxruntime", "onnxruntime", ("onnxruntime", "numpy")),
    Rule("dask", None, ("dask[complete]", "numpy", "pandas")),
    Rule("vowpalwabbit", "vowpalwabbit", ("vowpalwabbit", "numpy", "pandas", "scikit-learn")),
    Rule("mlflow", "mlflow", ("mlflow",)),
    Rule("designer", None, _TABLES, "The designer's own modules are not in it."),
)

_VERSIONS = {
    "PyTorch-{}-CPU": ("1.0", "1.1", "1.2", "1.3", "1.4", "1.5", "1.6"),
    "PyTorch-{}-GPU": ("1.0", "1.1", "1.2", "1.3", "1.4", "1.5", "1.6"),
    "TensorFlow-{}-CPU": ("1.10", "1.12", "1.13", "2.0", "2.1", "2.2", "2.3"),
    "TensorFlow-{}-GPU": ("1.10", "1.12", "1.13", "2.0", "2.1", "2.2", "2.3"),
    "Chainer-{}-CPU": ("5.1.0",),
    "Chainer-{}-GPU": ("5.1.0",),
    "sklearn-{}-ubuntu18.04-py37-cpu": ("0.24",),
    "sklearn-{}-ubuntu18.04-py37-cpu-inference": ("0.24.1",),
    "sklearn-{}-ubuntu20.04-py38-cpu": ("1.0",),
    "pytorch-{}-ubuntu18.04-py37-cuda11-gpu": ("1.7", "1.8", "1.9"),
    "pytorch-{}-ubuntu18.04-py38-cuda11-gpu": ("1.10",),
    "pytorch-{}-ubuntu18.04-py37-cpu-inference": ("1.6", "1.7", "1.9"),
    "ACPT-pytorch-{}-py38-cuda11.3-gpu": ("1.11", "1.12"),
    "ACPT-pytorch-{}-py38-cuda11.7-gpu": ("1.13",),
    "ACPT-pytorch-{}-cuda12.1": ("2.2",),
    "tensorflow-{}-ubuntu18.04-py37-cuda11-gpu": ("2.4", "2.5", "2.6", "2.7"),
    "tensorflow-{}-ubuntu18.04-py37-cpu-inference": ("1.15", "2.4"),
    "lightgbm-{}-ubuntu18.04-py37-cpu": ("3.2",),
    "xgboost-{}-ubuntu18.04-py37-cpu-inference": ("0.9",),
    "onnxruntime-{}-ubuntu18.04-py37-cpu-inference": ("1.6",),
}
_ALONE = (
    *("Minimal", "Tutorial", "Sidecar", "Scikit-learn-0.20.3", "PySpark-MmlSpark-0.15", "Triton", "Dask-CPU"),
    *("Dask-GPU", "VowpalWabbit-8.8.0", "DeepSpeed-0.3-GPU", "Hyperdrive-ForecastDNN", "AutoML", "AutoML-GPU"),
    *("AutoML-DNN", "AutoML-DNN-GPU", "AutoML-DNN-Vision-GPU", "Designer", "Designer-CV", "Designer-NLP"),
    *("Designer-IO", "Designer-Score", "Designer-PyTorch", "Designer-PyTorch-Train", "Designer-VowpalWabbit"),
    *("minimal-ubuntu18.04-py37-cpu-inference", "mlflow-ubuntu18.04-py37-cpu-inference"),
)


@record(frozen=True)
class Curated:
    """`definition` is an SDK v1 definition, as `Environment.to_dict` writes it; `note` explains how it differs."""

    name: str
    definition: dict[str, Any]
    note: str


def is_reserved(name: str) -> bool:
    """
    >>> is_reserved("azureml-mine"), is_reserved("mine-azureml")
    (True, False)
    """
    return name.lower().startswith(RESERVED)


def names() -> list[str]:
    """Names that public code uses. Others are found by the same rules."""
    fixed = [PREFIX + each for each in _ALONE]
    fixed += [PREFIX + pattern.format(each) for pattern, versions in _VERSIONS.items() for each in versions]
    return sorted(fixed, key=str.lower)


def find(name: str) -> Curated | None:
    """The environment of that name; None when no rule knows a part of it.

    >>> found = find("AzureML-PyTorch-1.6-GPU")
    >>> found.definition["python"]["condaDependencies"]["dependencies"]
    ['pip', {'pip': ['azureml-defaults', 'torch', 'numpy', 'tensorboard', 'horovod']}]
    >>> find("pytorch") is find("AzureML-Surprise") is None
    True
    """
    if not name.lower().startswith(PREFIX.lower()):
        return None
    parts = name[len(PREFIX) :].lower()
    rules = [rule for rule in RULES if re.search(rf"(?:^|-){re.escape(rule.part)}(?:$|-)", parts)]
    if not rules:
        return None
    packages = list(dict.fromkeys(package for rule in rules for package in rule.packages))
    if "-dnn" in parts and "torch" not in packages:
        packages.append("torch")
    is_gpu = re.search(r"(?:^|-)(gpu|cuda[\d.]*)(?:$|-)", parts) is not None
    return Curated(name, definition(name, packages, GPU_IMAGE if is_gpu else CPU_IMAGE), _note(name, rules, packages))


def _note(name: str, rules: list[Rule], packages: list[str]) -> str:
    notes = [_what_is_used(name, rules, packages), *dict.fromkeys(rule.note for rule in rules if rule.note)]
    return " ".join(notes)


def _what_is_used(name: str, rules: list[Rule], packages: list[str]) -> str:
    for rule in rules:
        version = re.search(rf"{re.escape(rule.part)}-(\d+(?:\.\d+)*)(?:$|-)", name.lower())
        if rule.framework is not None and version is not None:
            return (
                f"{name} stands for {rule.framework} {version[1]} on Azure: the current release of {rule.framework} is "
                "used, because old ones have no build for a current Python."
            )
    if not packages:
        return f"{name} holds Python and the SDK, and no other package."
    return f"{name} is a definition of Runyard's own, with the current releases of: {', '.join(packages)}."


def definition(name: str, packages: list[str], image: str, defaults: bool = True) -> dict[str, Any]:
    """The definition of an environment with some packages; `defaults`: and with the SDK, as Azure's have it."""
    made = copy.deepcopy(_EMPTY)
    made["name"] = name
    listed = [*(["azureml-defaults"] if defaults else []), *packages]
    made["python"]["condaDependencies"]["dependencies"] = ["pip", {"pip": listed}]
    made["docker"]["baseImage"] = image
    return made


_EMPTY: dict[str, Any] = {
    "name": "",
    "version": VERSION,
    "python": {
        "interpreterPath": "python",
        "userManagedDependencies": False,
        "condaDependencies": {"name": "project_environment", "channels": ["conda-forge"], "dependencies": []},
        "baseCondaEnvironment": None,
        "condaDependenciesFile": None,
    },
    "docker": {
        "baseImage": "",
        "baseDockerfile": None,
        "buildContext": None,
        "baseImageRegistry": {"address": None, "username": None, "password": None, "registryIdentity": None},
        "platform": {"os": "Linux", "architecture": "amd64"},
        "enabled": False,
        "sharedVolumes": True,
        "gpuSupport": False,
        "arguments": [],
        "shmSize": "2g",
    },
    "environmentVariables": {},
    "spark": {"repositories": [], "packages": [], "precachePackages": True},
    "databricks": {
        "mavenLibraries": [],
        "pypiLibraries": [],
        "rcranLibraries": [],
        "jarLibraries": [],
        "eggLibraries": [],
    },
    "r": None,
    "inferencingStackVersion": None,
    "assetId": None,
}
"""An environment with nothing in it, in the form that `Environment.to_dict` writes."""
