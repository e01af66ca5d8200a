"""A run's properties tell which commit it came from."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from runyard.sdk.submit.git import git_properties, without_credentials


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    for message in (
        ("init", "-q", "-b", "main"),
        ("config", "user.name", "Somebody"),
        ("config", "user.email", "somebody@example.org"),
        ("remote", "add", "origin", "https://me:secret@example.org/team/code.git"),
    ):
        git(tmp_path, *message)
    (tmp_path / "train.py").write_text("")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "first")
    (tmp_path / "below").mkdir()
    return tmp_path


def git(folder: Path, *message: str) -> str:
    return subprocess.run(["git", "-C", folder, *message], check=True, capture_output=True, text=True).stdout.strip()


def test_facts_of_a_clean_folder(repository: Path) -> None:
    found = git_properties(repository / "below", {})
    commit = git(repository, "rev-parse", "HEAD")
    assert found == {
        "azureml.git.repository_uri": "https://example.org/team/code.git",
        "mlflow.source.git.repoURL": "https://example.org/team/code.git",
        "azureml.git.branch": "main",
        "mlflow.source.git.branch": "main",
        "azureml.git.commit": commit,
        "mlflow.source.git.commit": commit,
        "azureml.git.dirty": "False",
    }


def test_a_change_makes_it_dirty(repository: Path) -> None:
    (repository / "train.py").write_text("changed")
    assert git_properties(repository, {})["azureml.git.dirty"] == "True"


def test_the_environment_wins(repository: Path) -> None:
    found = git_properties(repository, {"AZUREML_GIT_BRANCH": "release", "AZUREML_GIT_BUILD_ID": "7"})
    assert found["azureml.git.branch"] == found["mlflow.source.git.branch"] == "release"
    assert found["azureml.git.build_id"] == "7"


def test_outside_a_repository_there_are_no_facts_and_no_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subprocess, "run", lambda *message, **options: pytest.fail("git was asked"))
    assert git_properties(tmp_path, {}) == {}


def test_without_git_a_submit_goes_on(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert git_properties(repository, {}) == {}


@pytest.mark.parametrize("url", ["git@example.org:team/code.git", "https://example.org/a@b", "../code"])
def test_addresses_without_credentials_stay(url: str) -> None:
    assert without_credentials(url) == url


@pytest.mark.parametrize(
    "url",
    [
        "https://me:s3cr@et@example.org/team/code.git",
        "https://me:s3c#et?@@example.org/team/code.git",
        "ssh://s3cret@example.org/team/code.git",
    ],
)
def test_of_a_password_nothing_is_left(url: str) -> None:
    assert without_credentials(url) == url[: url.index("//") + 2] + "example.org/team/code.git"


def test_the_address_of_a_build_has_no_token_either(tmp_path: Path) -> None:
    found = git_properties(
        tmp_path, {"AZUREML_GIT_BUILD_URI": "https://me:s3cret@ci.example.org/7?access_token=s3cret"}
    )
    assert found["azureml.git.build_uri"] == "https://ci.example.org/7?access_token=***"
