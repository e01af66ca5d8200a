"""What `Model.package` writes: a folder with models, script and scoring server, which serves without Runyard.

`python serve.py` in it starts the service, with any Python that has the packages of `requirements.txt`; its Dockerfile
makes an image of the same.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Sequence

import runyard
from runyard.contracts.environment import CONTAINER, STOCK_PYTHONS, Specification, conda_name, conda_version

if TYPE_CHECKING:
    from runyard.sdk.model.model import Model

PORT = 5001
"""Where SDK v1's containers listened."""

RUNTIME = "runtime"
MODELS, SOURCES = "azureml-models", "azureml-app"
_PARTS = ("system", "contracts", "client", "sdk", "serving")
"""The packages of Runyard that a service needs: the scoring server, and the SDK that a script may import."""

_LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.pyc")


def write_package(
    folder: Path,
    models: Sequence[Model],
    specification: Specification,
    source: Path | None,
    entry_script: str | None,
) -> None:
    """Write the folder. `source` is the folder of the script, None for a model without code."""
    folder.mkdir(parents=True, exist_ok=True)
    for model in models:
        target = folder / MODELS / model.name / str(model.version)
        target.mkdir(parents=True)
        model.download(str(target))
    if source is not None:
        _copy_sources(source, folder / SOURCES)
    _copy_runtime(folder / RUNTIME)
    settings = {
        "service": "package",
        "entry_script": entry_script,
        "models": [
            {
                "name": model.name,
                "version": model.version,
                "framework": model.model_framework,
                "framework_version": model.model_framework_version or "",
            }
            for model in models
        ],
    }
    _write(folder / "service.json", json.dumps(settings, indent=2) + "\n")
    _write(folder / "requirements.txt", "".join(f"{line}\n" for line in requirements(specification)))
    _write(folder / "serve.py", _SERVE)
    _write(folder / "Dockerfile", dockerfile(specification))
    _write(folder / ".dockerignore", "**/__pycache__\n")
    _write(folder / "README.md", _README)


def requirements(specification: Specification) -> list[str]:
    """The packages as pip takes them. Those of conda are asked for under the same names.

    >>> requirements(Specification(conda=("numpy=1.26", "scipy"), pip=("onnxruntime",)))
    ['numpy==1.26.*', 'scipy', 'onnxruntime']
    """
    wanted = []
    for each in specification.conda:
        name, version = conda_name(each), conda_version(each)
        if name in ("python", "pip"):
            continue
        if version and version[0].isdigit():
            exact = version.partition("=")[0]
            version = f"=={exact}" if exact.count(".") > 1 or exact.endswith("*") else f"=={exact}.*"
        wanted.append(f"{name}{version}")
    return [*specification.options, *wanted, *specification.pip]


def dockerfile(specification: Specification) -> str:
    """The steps that make an image of the folder."""
    if specification.dockerfile:
        begin = specification.dockerfile.rstrip()
    elif specification.kind == CONTAINER and specification.image:
        begin = f"FROM {specification.image}"
    else:
        begin = f"FROM python:{_python(specification)}-slim"
    return f"""{begin}
WORKDIR /var/azureml-app
COPY requirements.txt .
RUN python -m pip install --no-cache-dir -r requirements.txt
COPY . .
EXPOSE {PORT}
# Whoever reaches the container's port may ask, unless SERVICE_KEY is set.
CMD ["python", "serve.py", "--host", "0.0.0.0", "--port", "{PORT}"]
"""


def _python(specification: Specification) -> str:
    """The Python that is asked for, else the one that this code runs in."""
    wanted = specification.python.lstrip("=")
    if wanted and wanted not in STOCK_PYTHONS and wanted[0].isdigit():
        return ".".join(wanted.rstrip("*").rstrip(".").split(".")[:2])
    return f"{sys.version_info[0]}.{sys.version_info[1]}"


def _copy_sources(source: Path, target: Path) -> None:
    from runyard.sdk.snapshot.ignore import ignored_by
    from runyard.sdk.snapshot.tree import walk

    target.mkdir()
    for file in walk(source, ignored_by(source)).files:
        place = target / file.path
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source / file.path, place)


def _copy_runtime(target: Path) -> None:
    origin = Path(runyard.__file__).parent
    (target / "runyard").mkdir(parents=True)
    shutil.copyfile(origin / "__init__.py", target / "runyard" / "__init__.py")
    for part in _PARTS:
        shutil.copytree(origin / part, target / "runyard" / part, ignore=_LEFT_OUT)
    shutil.copytree(origin.parent / "azureml", target / "azureml", ignore=_LEFT_OUT)


def _write(path: Path, text: str) -> None:
    path.write_text(text, "utf-8")


def read_state(folder: Path) -> dict[str, Any]:
    """What is known of a package beside its files."""
    return dict(json.loads((folder / "package.json").read_text("utf-8")))


_SERVE = '''\
"""Serve the models of this folder: python serve.py [--host 127.0.0.1] [--port 5001] [--workers 1] [--any-name]

Needs a Python of 3.8 or later with the packages of requirements.txt. With SERVICE_KEY set, callers send it:
Authorization: Bearer <key>. Without it, and on this machine's own address, it answers to localhost and to addresses
alone: a web page could have any other name lead here, and would read the answers.
"""

import argparse
import hashlib
import json
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
RUNTIME = os.path.join(HERE, "runtime")
sys.path.insert(0, RUNTIME)

from runyard.contracts.services.worker import is_loopback  # noqa: E402 - it is in RUNTIME


def main():
    parser = argparse.ArgumentParser(description="Serve the models of this folder.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=5001)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument(
        "--any-name", action="store_true", help="answer to any name: for a proxy that passes its own name on"
    )
    asked = parser.parse_args()
    with open(os.path.join(HERE, "service.json")) as file:
        service = json.load(file)
    folder = tempfile.mkdtemp(prefix="service-")
    for model in service["models"]:
        model["path"] = os.path.join(HERE, "azureml-models", model["name"], str(model["version"]))
    sources = os.path.join(HERE, "azureml-app")
    settings = dict(
        service,
        status=os.path.join(folder, "status.json"),
        host=asked.host,
        port=asked.port,
        workers=asked.workers,
        app_root=HERE,
        source_directory=sources if service["entry_script"] else "",
        allow_unauthenticated=asked.any_name or not is_loopback(asked.host),
    )
    key = os.environ.get("SERVICE_KEY")
    if key:
        access = os.path.join(folder, "access.json")
        write(access, {"keys": [hashlib.sha256(key.encode()).hexdigest()], "token_secret": ""})
        settings["authentication"] = {"mode": "key", "file": access}
    write(os.path.join(folder, "settings.json"), settings)
    found = [RUNTIME]
    found += [os.environ["PYTHONPATH"]] if os.environ.get("PYTHONPATH") else []
    os.environ.update(
        PYTHONPATH=os.pathsep.join(found),
        AML_APP_ROOT=HERE,
        AZUREML_MODEL_DIR=model_dir(service["models"]),
        AZUREML_ENTRY_SCRIPT=service["entry_script"] or "",
        AZUREML_SOURCE_DIRECTORY=sources,
    )
    if service["entry_script"]:
        os.chdir(sources)
    os.execv(sys.executable, [sys.executable, "-m", "runyard.serving", os.path.join(folder, "settings.json")])


def model_dir(models):
    """The folder of the one model, or that of all."""
    return models[0]["path"] if len(models) == 1 else os.path.join(HERE, "azureml-models")


def write(path, content):
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        json.dump(content, file)


if __name__ == "__main__":
    main()
'''

_README = f"""# A packaged service

    python -m pip install -r requirements.txt
    python serve.py --port {PORT}
    curl http://127.0.0.1:{PORT}/score -H 'Content-Type: application/json' -d '{{"data": ...}}'

or as an image: `docker build -t service . && docker run -p {PORT}:{PORT} service`. Set `SERVICE_KEY` to have callers
send a key (`Authorization: Bearer <key>`). Without a key `serve.py` answers to `localhost` and to addresses alone, for
a web page could have any other name lead here; behind a proxy that passes its own name on, `--any-name` lifts that. The
image answers to any name.

| here | is |
|---|---|
| `azureml-models/` | the models, as `<name>/<version>/...` |
| `azureml-app/` | the folder of the scoring script, where there is one |
| `runtime/` | the scoring server, and the modules that a script may import |
| `service.json` | which models and script are served |
"""
