from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from runyard.contracts.plan import Launch, Plan
from runyard.environments.builder import Built
from runyard.node.launch.variables import expand, for_script


def make_plan(**more: Any) -> Plan:
    result: dict[str, Any] = {
        "run_id": "r1",
        "root_run_id": "r0",
        "experiment": "trial",
        "experiment_id": "e1",
        "workspace": "w",
        "subscription_id": "s",
        "resource_group": "g",
        "target": "local",
        "token": "run.r1.x",
        "server_url": "http://127.0.0.1:1",
        "launch": Launch(script="train.py"),
        "sdk": "/sdk",
        "server_file": "/home/server.json",
    }
    return Plan(**{**result, **more})


def test_all_that_sdk_v1_needs_to_know_that_it_is_in_a_run() -> None:
    seen = for_script(make_plan(), Path("/runs/r1"), "c", {})
    assert seen["AZUREML_RUN_ID"] == "r1"
    assert seen["AZUREML_ROOT_RUN_ID"] == "r0"
    assert seen["AZUREML_ARM_SUBSCRIPTION"] == "s"
    assert seen["AZUREML_ARM_RESOURCEGROUP"] == "g"
    assert seen["AZUREML_ARM_WORKSPACE_NAME"] == "w"
    assert seen["AZUREML_ARM_PROJECT_NAME"] == "trial"
    assert seen["AZUREML_RUN_TOKEN"] == "run.r1.x"
    assert seen["AZUREML_SERVICE_ENDPOINT"] == "http://127.0.0.1:1"
    assert seen["AZUREML_EXPERIMENT_ID"] == "e1"
    assert seen["AZUREML_EXPERIMENT_SCOPE"].endswith("/workspaces/w/experiments/trial")
    assert seen["RUNYARD_TELEMETRY"] == "/runs/r1/telemetry"
    assert seen["RUNYARD_SERVER_FILE"] == "/home/server.json"


@pytest.mark.parametrize(
    ("distribution", "framework", "communicator"),
    [
        ({}, "Python", "None"),
        ({"kind": "mpi", "processes": 2}, "Python", "IntelMpi"),
        ({"kind": "pytorch", "backend": "gloo"}, "PyTorch", "gloo"),
        ({"kind": "tensorflow", "workers": 1}, "TensorFlow", "ParameterServer"),
    ],
)
def test_a_script_sees_how_it_is_distributed(distribution: dict[str, Any], framework: str, communicator: str) -> None:
    launch = Launch(script="train.py", distribution=distribution)
    seen = for_script(make_plan(launch=launch), Path("/runs/r1"), "c", {})
    assert (seen["AZUREML_FRAMEWORK"], seen["AZUREML_COMMUNICATOR"]) == (framework, communicator)


def test_a_script_sees_that_it_was_started_before() -> None:
    seen = for_script(make_plan(attempt=3, target_type="amlcompute"), Path("/runs/r1"), "c", {})
    assert (seen["AZUREML_RUN_RESTART_COUNT"], seen["AZUREML_TARGET_TYPE"]) == ("2", "amlcompute")


BUILT = Built("/environments/k/bin/python", folder="/environments/k", variables={"VIRTUAL_ENV": "/environments/k"})


def test_a_built_environment_comes_first_and_nothing_of_another_python_enters_it() -> None:
    launch = Launch(script="train.py", shell={"PATH": "/usr/bin", "PYTHONPATH": "/other", "CONDA_PREFIX": "/conda"})
    seen = for_script(make_plan(launch=launch), Path("/runs/r1"), "c", {"PATH": "/bin", "LANG": "C"}, BUILT)
    assert seen["PATH"] == "/environments/k/bin:/usr/bin"
    assert seen["VIRTUAL_ENV"] == "/environments/k"
    assert seen["PYTHONPATH"] == "/sdk"
    assert seen["LANG"] == "C"
    assert "CONDA_PREFIX" not in seen


def test_a_python_path_that_the_user_gives_is_kept_in_a_built_environment() -> None:
    launch = Launch(script="train.py", environment_variables={"PYTHONPATH": "/mine", "PATH": "/own"})
    seen = for_script(make_plan(launch=launch), Path("/runs/r1"), "c", {}, BUILT)
    assert seen["PYTHONPATH"] == "/sdk:/mine"
    assert seen["PATH"] == "/environments/k/bin:/own"


def test_nothing_of_the_machine_enters_a_container() -> None:
    launch = Launch(script="train.py", shell={"LD_LIBRARY_PATH": "/x"}, environment_variables={"MINE": "1"})
    inherited = {"PATH": "/bin", "HOME": "/root", "LANG": "C"}
    seen = for_script(make_plan(launch=launch), Path("/runs/r1"), "c", inherited, Built("python", image="i:1"))
    assert not {"PATH", "HOME", "LANG", "LD_LIBRARY_PATH"} & set(seen)
    assert (seen["MINE"], seen["AZUREML_RUN_ID"], seen["PYTHONPATH"]) == ("1", "r1", "/sdk")


def test_an_interpreter_that_was_named_is_the_python_of_commands() -> None:
    launch = Launch(command="python x", environment={"user_managed": True, "interpreter": "/venv/bin/python"})
    seen = for_script(make_plan(launch=launch), Path("/runs/r1"), "c", {"PATH": "/bin"})
    assert seen["PATH"] == "/venv/bin:/bin"


def test_what_belongs_to_the_server_stays_with_it() -> None:
    inherited = {
        "PATH": "/bin",
        "RUNYARD_HOME": "/h",
        "RUNYARD_TOKEN": "secret",
        "PYTHONHOME": "/p",
        "PYTHONDONTWRITEBYTECODE": "1",
        "OLDPWD": "/",
    }
    seen = for_script(make_plan(), Path("/runs/r1"), "c", inherited)
    assert seen["PATH"] == "/bin"
    assert not {"RUNYARD_HOME", "RUNYARD_TOKEN", "PYTHONHOME", "PYTHONDONTWRITEBYTECODE", "OLDPWD"} & set(seen)
    assert seen["PYTHONUNBUFFERED"] == "1"
    assert seen["PWD"] == "/runs/r1/work"


@pytest.mark.parametrize(
    ("inherited", "own", "expected"),
    [({}, {}, "/sdk"), ({"PYTHONPATH": "/a"}, {}, "/sdk:/a"), ({"PYTHONPATH": "/a"}, {"PYTHONPATH": "/b"}, "/sdk:/b")],
)
def test_the_sdk_is_always_in_reach(inherited: dict[str, str], own: dict[str, str], expected: str) -> None:
    plan = make_plan(launch=Launch(script="train.py", environment_variables=own))
    assert for_script(plan, Path("/runs/r1"), "c", inherited)["PYTHONPATH"] == expected


def test_the_users_variables_win_but_the_cookie_stays() -> None:
    own = {"AZUREML_TARGET_TYPE": "mine", "PYTHONUNBUFFERED": "0", "RUNYARD_COOKIE": "none"}
    plan = make_plan(launch=Launch(script="train.py", environment_variables=own))
    seen = for_script(plan, Path("/runs/r1"), "c", {"AZUREML_TARGET_TYPE": "old"})
    assert (seen["AZUREML_TARGET_TYPE"], seen["PYTHONUNBUFFERED"], seen["RUNYARD_COOKIE"]) == ("mine", "0", "c")


@pytest.mark.parametrize(
    ("text", "expanded"),
    [
        ("$A", "1"),
        ("--x=${A}/y$B", "--x=1/y2"),
        ("$AB", "$AB"),
        ("$NOT_SET", "$NOT_SET"),
        ("costs 5$", "costs 5$"),
        ("$$A", "$1"),
        ("${A", "${A"),
        ("", ""),
    ],
)
def test_expand(text: str, expanded: str) -> None:
    assert expand(text, {"A": "1", "B": "2"}) == expanded
