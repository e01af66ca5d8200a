from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest
from typer.testing import CliRunner

from runyard.cli import errors
from runyard.cli.environment_choice import Choice, name_and_version
from runyard.cli.main import app
from runyard.cli.options import seconds, size
from runyard.environments.builder import Built
from runyard.environments.cache import Cache, Origin
from runyard.sdk.workspace.workspace import Workspace

if TYPE_CHECKING:
    from tests.cli.conftest import Shell

FIRST, SECOND, THIRD = "a1" * 16, "a2" * 16, "b3" * 16


def put(home: Path, key: str, name: str, bytes_held: int = 1000, used_ago: float = 0) -> None:
    """An environment that was built on this machine."""

    def make(folder: Path) -> Built:
        (folder / "python").write_bytes(b"x" * bytes_held)
        return Built(str(folder / "python"), str(folder), python="3.11.2", changes=["numpy 1 became 2"])

    cache = Cache(home / "environments")
    origin = Origin("packages", "uv", name, ("numpy==1", "scipy", "pandas", "torch", "six"))
    cache.build(key, make, print, lambda: None, origin)
    os.utime(cache.folder / f"{key}.json", (time.time() - used_ago,) * 2)


@pytest.fixture
def machine(fresh_shell: Shell) -> Shell:
    """A machine with three built environments, and no server."""
    put(fresh_shell.home, FIRST, "mine")
    put(fresh_shell.home, SECOND, "yours", used_ago=7200)
    put(fresh_shell.home, THIRD, "mine", used_ago=400_000)
    return fresh_shell


def keys(shell: Shell) -> list[str]:
    return [entry["key"] for entry in shell.json("env", "ls")]


def test_nothing_is_built_on_a_new_machine(fresh_shell: Shell) -> None:
    assert "No environment is built" in fresh_shell.call("env", "ls").stdout
    assert fresh_shell.json("env", "ls") == []
    assert not fresh_shell.home.exists()


def test_ls_tells_names_sizes_and_use_without_a_server(machine: Shell) -> None:
    told = machine.call("env", "ls").stdout
    assert [line.split()[:4] for line in told.splitlines()[1:4]] == [
        [FIRST[:12], "mine", "packages", "3.11.2"],
        [SECOND[:12], "yours", "packages", "3.11.2"],
        [THIRD[:12], "mine", "packages", "3.11.2"],
    ]
    assert "2 h ago" in told
    assert "3 environments, 3.0 kB" in told
    assert "numpy==1, scipy, pandas, torch and 1 more" in told, "what tells environments of one name apart"
    listed = machine.json("env", "ls")
    assert [entry["key"] for entry in listed] == [FIRST, SECOND, THIRD]
    assert (listed[0]["size"], listed[0]["builder"], listed[0]["used"]) == (1000, "uv", False)
    assert listed[0]["built"]["python"] == "3.11.2"
    assert not (machine.home / "server.json").exists()


def test_show_tells_all_of_one(machine: Shell) -> None:
    told = machine.call("env", "show", "a2").stdout
    assert SECOND in told
    assert "numpy 1 became 2" in told
    assert "asked for  six" in told
    assert str(machine.home / "environments" / SECOND) in told
    assert [entry["key"] for entry in machine.json("env", "show", "mine")] == [FIRST, THIRD]


def test_rm_by_key_by_its_beginning_and_by_name(machine: Shell) -> None:
    told = machine.json("env", "rm", SECOND[:2] + SECOND[2:4])
    assert told["bytes_freed"] == 1000
    assert keys(machine) == [FIRST, THIRD]
    assert "1.0 kB" in machine.call("env", "rm", "mine", "--yes").stdout
    assert keys(machine) == []


def test_a_name_that_means_several_is_asked_about(machine: Shell) -> None:
    refused = machine.refusal("env", "rm", "mine", expect=errors.USAGE)
    assert refused["code"] == "not_confirmed"
    assert FIRST[:12] in refused["title"]
    code, shown = machine.on_terminal("env", "rm", "mine", answer="n\n")
    assert code == errors.FAILED
    for told in ("'mine' means 2 environments, 2.0 kB", FIRST[:12], THIRD[:12], "numpy==1", "Nothing was removed."):
        assert told in shown
    assert len(keys(machine)) == 3
    assert machine.on_terminal("env", "rm", "mine", answer="y\n")[0] == 0
    assert keys(machine) == [SECOND]


def test_what_is_kept_by_the_cache_of_packages_is_told(machine: Shell) -> None:
    """uv's cache holds the files of every package: who removes environments to have space is told where it is."""
    cache = machine.folder / "uv-cache"
    cache.mkdir()
    told = machine.call("env", "gc", "--limit", "2kB", UV_CACHE_DIR=str(cache)).stdout
    assert f"Most of it is kept by the cache of uv ({cache})" in told
    assert "uv cache clean` frees that too" in told
    kept = json.loads(machine.call("env", "rm", SECOND, "--json", UV_CACHE_DIR=str(cache)).stdout)["kept_in"]
    assert [each["folder"] for each in kept] == [str(cache)]
    assert "cache of uv" not in machine.call("env", "gc", UV_CACHE_DIR=str(cache)).stdout


def test_rm_refuses_what_fits_none_or_several(machine: Shell) -> None:
    assert machine.refusal("env", "rm", "none", expect=errors.NOT_FOUND)["code"] == "environment_not_found"
    assert machine.refusal("env", "rm", "a", expect=errors.NOT_FOUND)["code"] == "environment_ambiguous"
    assert len(keys(machine)) == 3


def test_what_a_run_uses_stays_unless_it_is_forced(machine: Shell) -> None:
    with Cache(machine.home / "environments").use(FIRST):
        assert [entry["used"] for entry in machine.json("env", "ls")] == [True, False, False]
        assert machine.refusal("env", "rm", FIRST, expect=errors.FAILED)["code"] == "environment_in_use"
        assert "Removed" in machine.call("env", "gc", "--limit", "0").stdout
        assert keys(machine) == [FIRST]
        machine.call("env", "rm", FIRST, "--force")
    assert keys(machine) == []


def test_gc_removes_the_least_used_down_to_the_limit(machine: Shell) -> None:
    told = machine.json("env", "gc", "--limit", "2kB")
    assert [entry["key"] for entry in told["removed"]] == [THIRD]
    assert "Removed yours" in machine.call("env", "gc", "--unused-for", "1h").stdout
    assert keys(machine) == [FIRST]
    assert "nothing to remove" in machine.call("env", "gc").stdout


def test_gc_removes_what_killed_builds_have_left(machine: Shell) -> None:
    half = machine.home / "environments" / ("c4" * 16)
    (half / "lib").mkdir(parents=True)
    assert "1 folder" in machine.call("env", "ls").stdout
    assert machine.json("env", "gc")["leftovers"] == 1
    assert not half.exists()
    assert len(keys(machine)) == 3


def test_names_and_keys_are_completed(machine: Shell) -> None:
    told = machine.call(_RUNYARD_COMPLETE="complete_bash", COMP_WORDS="runyard env rm yo", COMP_CWORD="3").stdout
    assert told.split() == ["yours"]


def test_doctor_tells_builders_the_cache_and_leftovers(machine: Shell) -> None:
    half = machine.home / "environments" / ("c4" * 16)
    half.mkdir()
    (half / "big").write_bytes(b"x" * 5000)
    os.utime(half, (time.time() - 7200,) * 2)
    report = machine.json("doctor")
    told = {(check["name"], check["verdict"]): check["message"] for check in report}
    assert {"uv", "conda", "containers"} <= {check["name"] for check in report}
    assert told["uv", "ok"][0].isdigit()
    assert "3 environments, 3.0 kB" in told["environments", "ok"]
    assert "1 folder, 5.0 kB" in told["environments", "warn"]


@pytest.mark.parametrize(
    "words",
    [
        ["env", "build"],
        ["env", "build", "mine", "--image", "python:3.12"],
        ["env", "build", "mine", "--name", "yours"],
        ["env", "build", "--pip", "nowhere.txt"],
        ["env", "map", "AzureML-*"],
        ["env", "map", "AzureML-*", "--interpreter", "/x", "--environment", "mine"],
        ["env", "gc", "--limit", "much"],
        ["env", "gc", "--unused-for", "long"],
        ["env", "rm"],
        ["submit", "train.py", "--python", "/x", "--image", "python:3.12"],
        ["submit", "train.py", "--conda", "nowhere.yml"],
    ],
)
def test_wrong_calls_start_nothing(words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUNYARD_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, [*words, "--json"])
    assert done.exit_code == errors.USAGE
    assert done.stdout == ""
    assert json.loads(done.stderr)["error"]["title"]
    assert not (tmp_path / "home").exists()


def test_sizes_and_times_are_read() -> None:
    assert (size("20GB", "-"), size("1 KiB", "-"), size("1.5m", "-"), size("7", "-")) == (20 * 10**9, 1024, 1500000, 7)
    assert (seconds("90s", "-"), seconds("2min", "-"), seconds("1w", "-")) == (90, 120, 604800)


def test_a_version_follows_the_last_colon() -> None:
    assert name_and_version("mine:2") == ("mine", "2")
    assert name_and_version("mine") == ("mine", None)
    assert name_and_version(":2") == (":2", None)


def named(conda: Path | None = None, pip: Path | None = None) -> str | None:
    return Choice(conda=conda, pip=pip).get(cast(Workspace, None)).name


def test_environments_are_named_so_that_they_can_be_told_apart(tmp_path: Path) -> None:
    """A conda file says its name; of several files in one folder only one is called like the folder."""
    folder = tmp_path / "cats"
    folder.mkdir()
    for name in ("requirements.txt", "requirements-gpu.txt"):
        (folder / name).write_text("numpy\n")
    assert named(pip=folder / "requirements.txt") == "cats"
    assert named(pip=folder / "requirements-gpu.txt") == "cats-requirements-gpu"
    for text, expected in (
        ("name: whiskers", "whiskers"),
        ("name: AzureML-mine", "my-AzureML-mine"),
        ("name: project_environment", "cats"),
        ("name: ''", "cats"),
        ("name: [1]", "cats"),
        ("channels: [defaults]", "cats"),
    ):
        (folder / "environment.yml").write_text(f"{text}\ndependencies: [python=3.10, numpy]\n")
        assert named(folder / "environment.yml") == expected
