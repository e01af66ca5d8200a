"""The config.json that a script brings along is found where SDK v1 would find it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from runyard.sdk.exceptions import UserErrorException
from runyard.sdk.workspace.config_file import CANDIDATES, WorkspaceConfig, find_config, read_config, write_config

CONFIG = WorkspaceConfig("sub", "group", "old_azure")


def put(folder: Path, name: str, document: object = None) -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(document if document is not None else {"Id": None, "Scope": CONFIG.scope}))
    return file


@pytest.mark.parametrize("at", range(len(CANDIDATES) - 1))
def test_an_earlier_candidate_far_up_wins_over_a_later_one_here(tmp_path: Path, at: int) -> None:
    here = tmp_path / "a" / "b"
    far = put(tmp_path, CANDIDATES[at])
    put(here, CANDIDATES[at + 1])
    assert find_config(here) == far


def test_a_file_is_taken_as_it_is(tmp_path: Path) -> None:
    file = put(tmp_path, "any name.txt")
    assert find_config(file) == file


def test_a_path_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UserErrorException, match="There is no"):
        find_config(tmp_path / "nowhere")


def test_both_forms_are_read(tmp_path: Path) -> None:
    keys = {"subscription_id": "sub", "resource_group": "group", "workspace_name": "old_azure"}
    assert read_config(put(tmp_path, "a.json", keys)) == CONFIG
    assert read_config(put(tmp_path, "b.json")) == CONFIG


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"subscription_id": "s"}, "resource_group, workspace_name"),
        ({"Scope": "/subscriptions/s"}, "Scope"),
        ([], "JSON object"),
    ],
)
def test_what_is_lacking_is_named(tmp_path: Path, document: object, message: str) -> None:
    with pytest.raises(UserErrorException, match=message):
        read_config(put(tmp_path, "config.json", document))


def test_a_file_that_is_no_json_is_named(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(UserErrorException, match=r"config\.json"):
        read_config(tmp_path / "config.json")


def test_what_is_written_is_found_and_read(tmp_path: Path) -> None:
    file = write_config(CONFIG, tmp_path, None)
    assert file == tmp_path / ".azureml" / "config.json"
    assert json.loads(file.read_text()) == {"Id": None, "Scope": CONFIG.scope}
    assert read_config(find_config(tmp_path) or Path()) == CONFIG


def test_places_and_names_of_old_projects_are_kept(tmp_path: Path) -> None:
    (tmp_path / "aml_config").mkdir()
    assert write_config(CONFIG, tmp_path, None).parent.name == "aml_config"
    put(tmp_path, "aml_config/project.json")
    assert write_config(CONFIG, tmp_path, None).name == "project.json"
    assert write_config(CONFIG, tmp_path, "mine.txt").name == "mine.json"


def test_a_server_elsewhere_is_remembered(tmp_path: Path) -> None:
    config = WorkspaceConfig("sub", "group", "team", "https://runyard.example")
    assert read_config(write_config(config, tmp_path, None)) == config
