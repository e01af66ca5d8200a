"""The plan in a run's folder: a node runner of another version, or after a power cut, must know what it reads."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest
from tests.support.bad_json import every_bad_text

from runyard.contracts.distribution import Distribution
from runyard.contracts.plan import Launch, Plan, node_folder, run_of_folder
from runyard.system.json_files import BadFile

PLAN = Plan(
    run_id="exp_1",
    root_run_id="exp_1",
    experiment="exp",
    experiment_id="e",
    workspace="local",
    subscription_id="s",
    resource_group="g",
    target="local",
    token="t",
    server_url="http://127.0.0.1:7420",
    launch=Launch(script="train.py", arguments=["--lr", "0.1"], distribution=Distribution("mpi", 2, 4).as_dict()),
    secrets={"password": "p"},
    node=1,
)


def test_a_plan_survives_its_file(tmp_path: Path) -> None:
    PLAN.save(tmp_path)
    assert Plan.load(tmp_path) == PLAN
    assert PLAN.distribution == Distribution("mpi", 2, 4)
    assert stat.S_IMODE((tmp_path / "plan.json").stat().st_mode) == 0o600


def test_a_plan_of_another_version(tmp_path: Path) -> None:
    PLAN.save(tmp_path)
    path = tmp_path / "plan.json"
    fields = json.loads(path.read_text())
    del fields["link"], fields["launch"]["restarts"]
    fields["of_later"] = fields["launch"]["of_later"] = 1
    path.write_text(json.dumps(fields))
    assert Plan.load(tmp_path) == PLAN
    assert Launch.from_dict({"command": "true", "of_later": 1}) == Launch(command="true")


@every_bad_text
def test_a_damaged_plan_is_refused(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "plan.json").write_bytes(text)
    with pytest.raises(BadFile, match=r"plan\.json does not hold"):
        Plan.load(tmp_path)


@pytest.mark.parametrize(("field", "value"), [("launch", "train.py"), ("launch", {"arguments": 1}), ("node", "0")])
def test_a_plan_with_a_field_of_another_type_is_refused(tmp_path: Path, field: str, value: object) -> None:
    PLAN.save(tmp_path)
    path = tmp_path / "plan.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), field: value}))
    with pytest.raises(BadFile, match="does not hold what it should"):
        Plan.load(tmp_path)


@pytest.mark.parametrize(("node", "name"), [(0, "exp_1"), (2, "exp_1@2")])
def test_each_node_has_a_folder(tmp_path: Path, node: int, name: str) -> None:
    folder = node_folder(tmp_path, "exp_1", node)
    assert folder == tmp_path / name
    assert run_of_folder(folder.name) == "exp_1"
