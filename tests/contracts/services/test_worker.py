"""If these fail, a service is started with settings that it cannot hold, or for people who may not ask it."""

from __future__ import annotations

from pathlib import Path

import pytest

from runyard.contracts.services.worker import BadFile, BadSettings, WorkerError, WorkerSettings, WorkerStatus


def settings(**more: object) -> WorkerSettings:
    return WorkerSettings.from_dict({"service": "mine", "status": "status.json", **more})


def test_settings_go_through_a_file_unchanged() -> None:
    model = {"name": "m", "version": 2, "path": "azureml-models/m/2", "framework": "Onnx"}
    made = settings(models=[model], batch={"size": 4, "wait_ms": 2.5}, authentication={"mode": "key", "file": "keys"})
    assert WorkerSettings.from_dict(made.as_dict()) == made
    assert made.models[0].framework == "Onnx"
    assert made.batch.size == 4
    assert settings(of_another_version=1) == settings()


def test_listening_for_others_without_keys_must_be_asked_for_by_name() -> None:
    with pytest.raises(BadSettings, match="allow_unauthenticated"):
        settings(host="0.0.0.0")
    assert settings(host="0.0.0.0", allow_unauthenticated=True).host == "0.0.0.0"
    assert settings(host="0.0.0.0", authentication={"mode": "key", "file": "keys"}).host == "0.0.0.0"


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"workers": 0}, "workers"),
        ({"concurrency": 0}, "concurrency"),
        ({"port": 70000}, "port"),
        ({"batch": {"size": 0}}, "batch"),
        ({"queue_length": -1}, "queue_length"),
        ({"authentication": {"mode": "password"}}, "none, key, token"),
        ({"authentication": {"mode": "key"}}, "file"),
    ],
)
def test_a_setting_that_cannot_be_held_is_named(wrong: dict[str, object], named: str) -> None:
    with pytest.raises(BadSettings, match=named):
        settings(**wrong)


def test_a_file_with_something_else_in_it_is_told() -> None:
    with pytest.raises(BadFile, match="Authentication"):
        settings(authentication="none")
    with pytest.raises(BadFile, match="service"):
        WorkerSettings.from_dict({"status": "status.json"})


def test_the_status_tells_the_error(tmp_path: Path) -> None:
    path = tmp_path / "status.json"
    assert WorkerStatus.read(path) is None
    import json

    made = WorkerStatus("failed", 7, error=WorkerError("ValueError", "no", "score.py", 3))
    path.write_text(json.dumps(made.as_dict()))
    assert WorkerStatus.read(path) == made
