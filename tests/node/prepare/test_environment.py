"""A run that starts in the wrong environment, or with none and no word why, has cost its user the time it ran."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.support import wheels

from runyard.contracts.environment import Specification

if TYPE_CHECKING:
    from tests.node.conftest import Prepare

Until = Callable[[Callable[[], object], str], None]

LOG = "system_logs/environment.log"


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of packages: the only ones that there are for the node runners of a test."""
    folder = tmp_path / "shelf"
    folder.mkdir()
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "uv"))
    return folder


def asking(*pip: str, **more: Any) -> dict[str, Any]:
    return Specification(name="trial", pip=pip, **more).as_dict()


def test_it_is_built_before_the_script_starts_and_found_by_the_next(node: Prepare, shelf: Path, tmp_path: Path) -> None:
    wheels.wheel(shelf, "forecasts", "2.1")
    script = {"train.py": "import forecasts, sys; print(forecasts.__version__, sys.prefix)"}
    plan = {"environments": str(tmp_path / "environments")}
    first = node(script, plan=plan, environment=asking("forecasts"))
    result = first.finish()
    assert result["status"] == "Completed", result["error"]
    key = result["properties"]["runyard.environment.key"]
    assert result["properties"]["runyard.environment.used"] == str(tmp_path / "environments" / key / "bin" / "python")
    assert b"Built in" in first.run.read(LOG)
    assert first.run.read("user_logs/std_log.txt").split() == [b"2.1", str(tmp_path / "environments" / key).encode()]
    second = node(script, plan=plan, environment=asking("forecasts", left_out=("azureml-core",)))
    assert second.finish()["properties"]["runyard.environment.key"] == key
    assert LOG not in second.run.files()
    assert b"azureml-core is left out" in second.run.read("system_logs/runner.log")


def test_an_sdk_that_a_package_brings_along_does_not_win(node: Prepare, shelf: Path, tmp_path: Path) -> None:
    brought = {"azureml/__init__.py": "raise ImportError('the wrong one')", "runyard/__init__.py": "raise ImportError"}
    wheels.wheel(shelf, "forecasts", files=brought)
    script = {"train.py": "import forecasts\nfrom azureml.core import Run\nRun.get_context().log('loss', 1)"}
    trial = node(script, plan={"environments": str(tmp_path / "environments")}, environment=asking("forecasts"))
    assert trial.finish()["status"] == "Completed"
    assert trial.run.metric("loss") == [1]


def test_what_cannot_be_had_fails_the_run_with_its_reason(node: Prepare, shelf: Path, tmp_path: Path) -> None:
    trial = node(
        {"train.py": "print('never')"},
        plan={"environments": str(tmp_path / "environments")},
        environment=asking("no-such-package"),
    )
    result = trial.finish()
    assert result["status"] == "Failed"
    assert result["error"]["code"] == "PackageNotFound"
    assert "no-such-package" in result["error"]["message"]
    assert result["error"]["message"].encode() in trial.run.read(LOG)
    assert "user_logs/std_log.txt" not in trial.run.files()


def test_a_stop_ends_the_build(node: Prepare, shelf: Path, tmp_path: Path, until: Until) -> None:
    began = tmp_path / "began"
    before = f"open({str(began)!r}, 'w').close(); time.sleep(600)"
    wheels.source(shelf, "slowly", setup=wheels.buildable("slowly", before=before))
    environments = tmp_path / "environments"
    trial = node({"train.py": ""}, plan={"environments": str(environments)}, environment=asking("slowly"))
    runner = trial.start()
    until(began.exists, "the build to begin")
    until(lambda: trial.run.get()["status"] == "Preparing" or trial.run.get()["reason"], "the server to know of it")
    runner.send_signal(signal.SIGTERM)
    result = trial.wait()
    assert result["error"]["code"] == "Canceled"
    assert not [path for path in environments.iterdir() if path.is_dir()]


def test_a_runner_that_is_killed_while_it_builds_leaves_the_next_a_clean_place(
    node: Prepare, shelf: Path, tmp_path: Path, until: Until
) -> None:
    began, environments = tmp_path / "began", tmp_path / "environments"
    before = f"os.path.exists({str(began)!r}) or (open({str(began)!r}, 'w').close(), time.sleep(600))"
    wheels.source(shelf, "slowly", setup=wheels.buildable("slowly", before=before))
    plan = {"environments": str(environments)}
    first = node({"train.py": "print('never')"}, plan=plan, environment=asking("slowly"))
    runner = first.start()
    until(began.exists, "the build to begin")
    runner.kill()
    runner.wait()
    assert first.finish("--rescue")["error"]["code"] == "NodeRunnerLost"
    second = node({"train.py": "import slowly; print('there')"}, plan=plan, environment=asking("slowly"))
    assert second.finish()["status"] == "Completed"
    assert second.run.read("user_logs/std_log.txt") == b"there\n"


def test_notes_on_an_interpreter_are_in_the_runners_log(node: Prepare) -> None:
    environment = {"name": "AzureML-X", "user_managed": True, "interpreter": sys.executable}
    trial = node({"train.py": ""}, environment=environment, notes=["AzureML-X is mapped"])
    assert trial.finish()["status"] == "Completed"
    assert b"AzureML-X is mapped" in trial.run.read("system_logs/runner.log")


def test_what_was_relaxed_is_a_property(node: Prepare, shelf: Path, tmp_path: Path) -> None:
    wheels.wheel(shelf, "forecasts", "2.1")
    plan = {"environments": str(tmp_path / "environments"), "relax": True}
    trial = node({"train.py": ""}, plan=plan, environment=asking("forecasts==2.0"))
    result = trial.finish()
    assert result["status"] == "Completed", result["error"]
    [change] = json.loads(result["properties"]["runyard.environment.changes"])
    assert "forecasts==2.0" in change
    assert "2.1" in change
