"""The environment that a model is served in when it comes without code, chosen by its framework and version.

SavedModels, TorchScript, exported programs and ONNX files are read by every later release of their framework, so the
current one is taken. A pickle of scikit-learn is not: its release is taken where a current Python has a build of it.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from runyard.contracts.curated import CPU_IMAGE, GPU_IMAGE, Curated, definition


class Runtime(NamedTuple):
    """What a framework needs to be served. `pinned_from`: the first release that can be installed today."""

    framework: str
    package: str
    packages: tuple[str, ...]
    pinned_from: tuple[int, int] | None = None


_TENSORFLOW = (
    "tensorflow-cpu; sys_platform == 'linux' and platform_machine == 'x86_64'",  # a third of the size
    "tensorflow; sys_platform != 'linux' or platform_machine != 'x86_64'",
)

RUNTIMES = {
    each.framework: each
    for each in (
        Runtime("Onnx", "onnxruntime", ("onnxruntime", "numpy")),
        Runtime("ScikitLearn", "scikit-learn", ("scikit-learn", "joblib", "numpy", "pandas"), (1, 2)),
        Runtime("TensorFlow", "tensorflow", (*_TENSORFLOW, "numpy")),
        Runtime("TfKeras", "tensorflow", (*_TENSORFLOW, "numpy")),
        Runtime("PyTorch", "torch", ("torch", "numpy")),
    )
}
"""By the names of `Model.Framework`, for which a service needs no code."""


def runtime_environment(framework: str, version: str | None = None, gpu: bool = False) -> Curated | None:
    """The environment for models of a framework; None when there is no serving it without code.

    >>> runtime_environment("ScikitLearn", "1.5.2").definition["python"]["condaDependencies"]["dependencies"][1]["pip"]
    ['scikit-learn==1.5.2', 'joblib', 'numpy', 'pandas']
    >>> runtime_environment("Custom") is None
    True
    """
    runtime = RUNTIMES.get(framework)
    if runtime is None:
        return None
    packages = [_on_gpu(each) for each in runtime.packages] if gpu else list(runtime.packages)
    packages = [each for each in packages if each]
    note = f"{runtime.package}: the current release."
    if version and re.match(r"\d+(\.\d+)*$", version):
        if runtime.pinned_from is None:
            note = f"{runtime.package}: the current release, which reads models of {version}."
        elif _number(version) >= runtime.pinned_from and "." in version:
            exact = version if version.count(".") > 1 else f"{version}.*"
            packages[0] = f"{runtime.package}=={exact}"
            note = f"{runtime.package} {exact}: what the model was made with."
        else:
            note = (
                f"{runtime.package}: the current release. The model is of {version}, which has no build for a current "
                "Python: if it does not load, save it again with a current release, or give the service an environment."
            )
    name = f"runyard-serving-{framework.lower()}"
    return Curated(name, definition(name, packages, GPU_IMAGE if gpu else CPU_IMAGE, defaults=False), note)


def _on_gpu(package: str) -> str:
    if package.startswith("tensorflow-cpu"):
        return ""
    return package.replace("onnxruntime", "onnxruntime-gpu").partition(";")[0]


def _number(version: str) -> tuple[int, int]:
    major, minor = (version + ".0").split(".")[:2]
    return int(major), int(minor)
