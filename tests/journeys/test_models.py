"""From a run to a registered model and back, as the seeds write it; a server killed in the middle loses nothing."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from azureml.core import Model
from azureml.core.resource_configuration import ResourceConfiguration

if TYPE_CHECKING:
    from tests.journeys.conftest import Yard

TRAIN = """
import os
from azureml.core import Model, Run
os.makedirs("outputs/model/variables", exist_ok=True)
open("outputs/model/saved_model.pb", "wb").write(b"graph")
open("outputs/model/variables/weights", "wb").write(bytes(200_000))
run = Run.get_context()
made = run.register_model("inside", "outputs/model/saved_model.pb")
path = Model.get_model_path("inside")
assert path == f"azureml-models/inside/{made.version}/saved_model.pb", path
assert open(path, "rb").read() == b"graph"
"""


def stored(yard: Yard) -> dict[Path, int]:
    return {path: path.stat().st_size for path in (yard.home / "objects").rglob("*") if path.is_file()}


def test_the_seeds_model_outlives_its_run(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(yard.folder)
    run = yard.submit(TRAIN)
    run.wait_for_completion()
    before = stored(yard)
    model = run.register_model(
        model_name="tf-mnist",
        model_path="outputs/model",
        model_framework=Model.Framework.TENSORFLOW,
        model_framework_version="2.0",
        resource_configuration=ResourceConfiguration(cpu=1, memory_in_gb=0.5),
    )
    assert stored(yard) == before, "registering has copied something"
    assert (model.id, model.run_id, model.run) == ("tf-mnist:1", run.id, run)
    assert run.get_details()["models"] == ["inside:1", "tf-mnist:1"]
    workspace = yard.workspace
    workspace.service.delete(f"/api/runs/{run.id}")
    place = Path(workspace.models["tf-mnist"].download("fetched"))
    assert (place / "saved_model.pb").read_bytes() == b"graph"
    assert (place / "variables" / "weights").stat().st_size == 200_000
    for each in ("tf-mnist", "inside"):
        Model(workspace, each).delete()
    assert not any(size == 200_000 for size in stored(yard).values())


def test_a_server_that_is_killed_in_the_middle_registers_once(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(yard.folder)
    folder = yard.folder / "model"
    folder.mkdir()
    for number in range(300):
        (folder / f"{number}.bin").write_bytes(os.urandom(20_000))
    workspace = yard.workspace
    made: list[Model] = []
    registering = threading.Thread(target=lambda: made.append(Model.register(workspace, "model", "killed")))
    registering.start()
    handed = yard.home / "objects" / "handed"
    yard.wait(lambda: not registering.is_alive() or any(handed.iterdir()), "nothing is on its way")
    yard.kill_server()
    registering.join(60)
    assert [each.version for each in made] == [1]
    assert [each.version for each in Model.list(workspace, name="killed")] == [1]
    again = [threading.Thread(target=lambda: Model.register(workspace, "model", "killed")) for _ in range(2)]
    before = sum(stored(yard).values())
    for thread in again:
        thread.start()
    for thread in again:
        thread.join(60)
    assert [each.version for each in Model.list(workspace, name="killed")] == [3, 2, 1]
    assert sum(stored(yard).values()) == before, "what is equal is stored once"
    assert len(list(Path(Model(workspace, "killed").download("fetched")).iterdir())) == 300
