"""A package serves without Runyard: it is started here with a Python that has nothing installed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.support.ports import free_port
from tests.support.waiting import wait_until

from runyard.sdk.exceptions import UserErrorException, WebserviceException
from runyard.sdk.model.inference_config import InferenceConfig
from runyard.sdk.model.model import Model
from runyard.sdk.model.package import ModelPackage
from runyard.sdk.workspace.workspace import Workspace

SCORE = """
import json
import beside
from azureml.core.model import Model

def init():
    global factor
    factor = json.load(open(Model.get_model_path("packed")))["factor"]

def run(data):
    return [beside.plus_one(each * factor) for each in json.loads(data)["data"]]
"""


@pytest.fixture(scope="session")
def plain_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with nothing in it, not even pip."""
    folder = tmp_path_factory.mktemp("plain")
    venv.create(folder, with_pip=False, symlinks=True)
    return folder / "bin" / "python"


@pytest.fixture
def model(workspace: Workspace) -> Model:
    Path("factor.json").write_text('{"factor": 3}')
    return Model.register(workspace, "factor.json", "packed")


@pytest.fixture
def config(tmp_path: Path) -> InferenceConfig:
    folder = tmp_path / "src"
    folder.mkdir()
    (folder / "score.py").write_text(SCORE)
    (folder / "beside.py").write_text("def plus_one(x):\n    return x + 1\n")
    return InferenceConfig("score.py", source_directory=str(folder))


@pytest.fixture
def saved(workspace: Workspace, model: Model, config: InferenceConfig, tmp_path: Path) -> Path:
    package = Model.package(workspace, [model], config, generate_dockerfile=True)
    package.wait_for_creation(show_output=True)
    package.save(tmp_path / "package")
    return tmp_path / "package"


@contextmanager
def serving(saved: Path, python: Path, *options: str, **variables: str) -> Iterator[int]:
    """The port at which the package answers, started by a Python that knows nothing of Runyard."""
    said = (saved / "said").open("wb")
    port = free_port()
    process = subprocess.Popen(
        [python, saved / "serve.py", "--port", str(port), *options],
        env={"PATH": os.environ["PATH"], **variables},
        cwd="/",
        stdout=said,
        stderr=subprocess.STDOUT,
    )
    try:
        wait_until(lambda: process.poll() is not None or _answers(port), "the package to be up")
        assert process.poll() is None, (saved / "said").read_text()
        yield port
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)
        said.close()


def test_it_serves_with_a_plain_python(saved: Path, plain_python: Path) -> None:
    body, key = '{"data": [1, 2]}', "a-key-that-was-chosen"
    with serving(saved, plain_python, SERVICE_KEY=key) as port:
        assert _asked(port, body, Authorization=f"Bearer {key}", Host="my.example") == (200, [4, 7])
        assert _asked(port, body, Authorization="Bearer another")[0] == 401
    with serving(saved, plain_python) as port:
        assert _asked(port, body) == (200, [4, 7])
        assert _asked(port, body, Host="my.example")[0] == 403, "a web page may have any other name lead here"
    with serving(saved, plain_python, "--any-name") as port:
        assert _asked(port, body, Host="my.example") == (200, [4, 7])
    with serving(saved, plain_python, "--host", "0.0.0.0") as port:
        assert _asked(port, body, Host="my.example") == (200, [4, 7])


def test_the_folder(saved: Path) -> None:
    held = {each.name for each in saved.iterdir()}
    assert {"Dockerfile", "requirements.txt", "serve.py", "README.md", "azureml-models", "azureml-app"} <= held
    assert (saved / "azureml-models" / "packed").is_dir()
    done = subprocess.run([sys.executable, saved / "serve.py", "--help"], capture_output=True, text=True, check=True)
    assert "--port" in done.stdout


def test_what_a_package_tells(workspace: Workspace, model: Model, config: InferenceConfig, tmp_path: Path) -> None:
    package = Model.package(workspace, [model], config, generate_dockerfile=True)
    assert isinstance(package, ModelPackage)
    assert package.serialize() == {"generateDockerfile": True, "state": "Succeeded", "location": package.location}
    assert package.get_logs() == ""
    assert package.get_logs(decode=False) == b""
    again = ModelPackage(workspace, package._operation_id, None)
    assert again.location == package.location
    with pytest.raises(WebserviceException, match="not an image"):
        package.pull()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").write_text("")
    with pytest.raises(WebserviceException, match="not empty"):
        package.save(tmp_path / "full")
    assert package.get_container_registry().address == "localhost"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [({"image_name": "Not Allowed"}, "no name of an image"), ({"image_label": "a b"}, "no label of an image")],
)
def test_names_of_images(workspace: Workspace, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(WebserviceException, match=message):
        Model.package(workspace, [], **arguments)


def test_no_engine_no_image(
    workspace: Workspace, model: Model, config: InferenceConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(WebserviceException, match=r"neither docker nor podman.*generate_dockerfile=True"):
        Model.package(workspace, [model], config)


def test_an_image_that_cannot_be_built(
    workspace: Workspace, model: Model, config: InferenceConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With an engine that refuses: a script in its place, since no engine is needed for its refusal."""
    engine = tmp_path / "bin" / "docker"
    engine.parent.mkdir()
    engine.write_text("#!/bin/sh\necho no daemon here\nexit 1\n")
    engine.chmod(0o755)
    monkeypatch.setenv("PATH", f"{engine.parent}:{os.environ['PATH']}")
    package = Model.package(workspace, [model], config, image_name="birds", image_label="v1")
    with pytest.raises(WebserviceException, match=r"could not be built:\nno daemon here"):
        package.wait_for_creation(show_output=True)
    assert package.state == "Failed"
    with pytest.raises(WebserviceException, match="is an image"):
        package.save(tmp_path / "out")
    with pytest.raises(WebserviceException, match="is Failed"):
        package.pull()


def test_what_cannot_be_packaged(workspace: Workspace, model: Model) -> None:
    with pytest.raises(UserErrorException, match="framework 'Custom'"):
        Model.package(workspace, [model], generate_dockerfile=True)
    for operation in ("../../etc", "0" * 32):
        with pytest.raises(WebserviceException, match=r"no operation|no package"):
            ModelPackage(workspace, operation, None)


def _answers(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/ready", timeout=5):
            return True
    except OSError:
        return False


def _asked(port: int, body: str, **headers: str) -> tuple[int, object]:
    headers["Content-Type"] = "application/json"
    request = urllib.request.Request(f"http://127.0.0.1:{port}/score", body.encode(), headers)
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code, None
