"""The models of a service on its node: whole, where SDK v1 has them, and a cause that names the model otherwise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from runyard.contracts.manifest import Manifest
from runyard.contracts.plan import Launch, Plan
from runyard.node.prepare.layout import object_path
from runyard.node.prepare.models import bring_models
from runyard.node.problem import RunProblem, Stopped

if TYPE_CHECKING:
    from tests.node.conftest import Server

FILES: dict[str, str | bytes] = {"net/weights.bin": bytes(1 << 20), "net/labels.txt": "a\nb"}

Snapshot = Callable[[Mapping[str, "str | bytes"], Path], Manifest]
OnServer = Callable[[Mapping[str, "str | bytes"]], Manifest]


def nothing() -> None:
    pass


def plan(**more: Any) -> Plan:
    usual: dict[str, Any] = dict.fromkeys(
        ("root_run_id", "experiment", "experiment_id", "workspace", "subscription_id", "resource_group", "target"), "x"
    )
    return Plan(**{**usual, "run_id": "r", "token": "", "server_url": "", "launch": Launch(command="true"), **more})


def model(manifest: Manifest, version: int = 1, told: bool = True) -> dict[str, Any]:
    known = {"id": f"net:{version}", "name": "net", "version": version, "tree": manifest.id}
    return {**known, "manifest": manifest.text.decode()} if told else known


def test_models_are_where_scripts_of_sdk_v1_look_for_them(snapshot: Snapshot, tmp_path: Path) -> None:
    objects, work = tmp_path / "objects", tmp_path / "work"
    first, second = snapshot(FILES, objects), snapshot({"net.pkl": "2"}, objects)
    here = plan(objects=str(objects))
    found = bring_models(here, [model(first), model(second, 2)], tmp_path, work, nothing)
    assert found == [work / "azureml-models" / "net" / "1", work / "azureml-models" / "net" / "2"]
    assert (found[0] / "net" / "weights.bin").read_bytes() == FILES["net/weights.bin"]
    assert (found[1] / "net.pkl").read_text() == "2"
    (found[1] / "net.pkl").write_text("in use")
    assert bring_models(here, [model(second, 2)], tmp_path, work, nothing) == found[1:]
    assert (found[1] / "net.pkl").read_text() == "in use", "what a process of a former runner reads is left alone"


def test_where_no_disk_is_shared_they_come_from_the_server(
    on_server: OnServer, shared_server: Server, tmp_path: Path
) -> None:
    manifest = on_server(FILES)
    (tmp_path / "folder").mkdir()
    run = shared_server.make_run(snapshot_id=manifest.id)  # so that its token reaches these files
    away = plan(run_id=run.id, token=run.token, server_url=run.server.client.url)
    (place,) = bring_models(away, [model(manifest, told=False)], tmp_path / "folder", tmp_path / "work", nothing)
    assert (place / "net" / "labels.txt").read_text() == "a\nb"
    unknown = {**model(manifest, 2, told=False), "tree": "0" * 64}
    with pytest.raises(RunProblem, match="net:2 could not be fetched") as caught:
        bring_models(away, [unknown], tmp_path / "folder", tmp_path / "work", nothing)
    assert (caught.value.code, "deploy that version" in caught.value.help) == ("ModelIncomplete", True)


def test_a_damaged_or_half_laid_out_model_is_never_served(snapshot: Snapshot, tmp_path: Path) -> None:
    objects, work = tmp_path / "objects", tmp_path / "work"
    manifest = snapshot(FILES, objects)
    here, place = plan(objects=str(objects)), work / "azureml-models" / "net" / "1"
    seen: list[int] = []

    def stop_at_the_second() -> None:
        seen.append(1)
        if len(seen) == 2:
            raise Stopped

    with pytest.raises(Stopped):
        bring_models(here, [model(manifest)], tmp_path, work, stop_at_the_second)
    assert not place.exists()
    labels = next(each for each in manifest.entries if each.path == "net/labels.txt")
    object_path(objects, labels.digest).write_text("c\nd")
    with pytest.raises(RunProblem, match=r"The model net:1: .*labels\.txt") as caught:
        bring_models(here, [model(manifest)], tmp_path, work, nothing)
    assert caught.value.code == "ModelIncomplete"
    assert not place.exists()
    object_path(objects, labels.digest).write_text("a\nb")
    assert bring_models(here, [model(manifest)], tmp_path, work, nothing) == [place]
