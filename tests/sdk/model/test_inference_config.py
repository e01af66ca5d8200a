"""InferenceConfig is checked when it is made: a notebook fails in that cell, not when the service does not come up."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest

from runyard.sdk.environment.environment import Environment
from runyard.sdk.exceptions import UserErrorException, WebserviceException
from runyard.sdk.model.inference_config import InferenceConfig

SCRIPT = "def init():\n    pass\n\n\ndef run(data):\n    return data\n"
NO_SCRIPT: Any = None


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "src"
    folder.mkdir()
    (folder / "score.py").write_text(SCRIPT)
    (folder / "env.yml").write_text("dependencies:\n- python=3.8\n- pip:\n  - azureml-defaults\n  - numpy\n")
    return folder


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"entry_script": None}, "entry_script is required"),
        ({"entry_script": "missing.py"}, "no entry script at"),
        ({"entry_script": "score.txt"}, "must end in .py"),
        ({"entry_script": "my-score.py"}, "cannot be imported under that name"),
        ({"entry_script": "class.py"}, "cannot be imported under that name"),
        ({"entry_script": "../outside.py"}, "outside of source_directory"),
        ({"source_directory": "nowhere"}, "no folder"),
        ({"runtime": "r"}, "python, spark-py"),
        ({"runtime": "python", "conda_file": "missing.yml"}, "no file 'missing.yml'"),
        ({"environment": "env"}, "environment is an Environment"),
        ({"environment": Environment("e"), "runtime": "python"}, "Give environment, or runtime"),
        ({"environment": Environment("e"), "conda_file": "env.yml", "base_image": "x"}, "conda_file, base_image"),
    ],
)
def test_what_is_refused(source: Path, arguments: dict[str, Any], message: str) -> None:
    (source / "score.txt").write_text(SCRIPT)
    (source / "my-score.py").write_text(SCRIPT)
    (source / "class.py").write_text(SCRIPT)
    (source.parent / "outside.py").write_text(SCRIPT)
    with pytest.raises(WebserviceException, match=message):
        InferenceConfig(**{"entry_script": "score.py", "source_directory": "src", **arguments})


def test_a_syntax_error_names_its_line(source: Path) -> None:
    (source / "score.py").write_text("def init():\n    pass\ndef run(data)\n    return 1\n")
    with pytest.raises(UserErrorException, match=r"syntax error in line 3: `def run\(data\)`"):
        InferenceConfig("score.py", source_directory="src")
    (source / "score.py").write_bytes(b"x = 1\0")
    with pytest.raises(UserErrorException):
        InferenceConfig("score.py", source_directory="src")


@pytest.mark.parametrize(
    ("script", "missing"),
    [
        ("def run(data):\n    return 1\n", "no function init"),
        ("def init():\n    pass\n", "no function run"),
        ("x = 1\n", "no function init and no run"),
        (SCRIPT, None),
        ("from model import init, run\n", None),
        ("from model import *\n", None),
        ("import model\ninit, run = model.init, model.run\n", None),
        ("if True:\n    def init(): pass\n    def run(data): pass\n", None),
        ("exec(open('x').read())\n", None),
    ],
)
def test_a_script_without_its_functions_is_refused_where_that_is_sure(
    source: Path, script: str, missing: str | None
) -> None:
    (source / "score.py").write_text(script)
    config = InferenceConfig("score.py", source_directory="src")
    if missing is None:
        config._check_functions()
    else:
        with pytest.raises(WebserviceException, match=missing):
            config._check_functions()


def test_the_folder_that_is_sent_and_the_script_in_it(source: Path) -> None:
    with_folder = InferenceConfig("score.py", source_directory=str(source))
    assert (with_folder._folder(), with_folder._script()) == (source, "score.py")
    without = InferenceConfig("src/score.py")
    assert (without._folder(), without._script()) == (source, "score.py")
    (source / "inner").mkdir()
    (source / "inner" / "score.py").write_text(SCRIPT)
    assert InferenceConfig("inner/score.py", source_directory="src")._script() == "inner/score.py"


def test_an_environment_without_azureml_defaults_is_a_warning(source: Path) -> None:
    (source / "bare.yml").write_text("dependencies:\n- python=3.8\n- pip:\n  - numpy\n")
    environment = Environment.from_conda_specification("e", source / "bare.yml")
    with pytest.warns(UserWarning, match="azureml-defaults"):
        InferenceConfig("score.py", source_directory="src", environment=environment)
    managed = Environment("m")
    managed.python.user_managed_dependencies = True
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        InferenceConfig("score.py", source_directory="src", environment=managed)


def test_the_old_form_becomes_an_environment(source: Path) -> None:
    config = InferenceConfig("score.py", "python", "env.yml", source_directory="src", enable_gpu=True)
    made = config._environment("birds")
    assert made.name == "birds-env"
    assert "numpy" in made.python.conda_dependencies.pip_packages
    assert made.docker.gpu_support is True
    (source / "steps").write_text("RUN true\n")
    layered = InferenceConfig(
        "score.py", "python", "env.yml", "steps", source_directory="src", base_image="somebody/image:1"
    )._environment("birds")
    assert layered.docker.base_dockerfile == "FROM somebody/image:1\nRUN true\n"


def test_nothing_but_a_script_is_served_by_this_python(source: Path) -> None:
    config = InferenceConfig(entry_script="score.py", source_directory="src")
    assert config._environment("birds").is_untouched_default()


def test_the_requests_of_sdk_v1(source: Path) -> None:
    config = InferenceConfig("score.py", source_directory="src", description="d")
    payload = config.build_create_payload(NO_SCRIPT, "birds", ["bird:1"])
    assert payload["environmentImageRequest"]["driverProgram"] == "score.py"
    assert payload["environmentImageRequest"]["modelIds"] == ["bird:1"]
    assert config.build_profile_payload("p", dataset_id="1", models=["bird:1"])["datasetId"] == "1"
    assert "score.py" in repr(config)
