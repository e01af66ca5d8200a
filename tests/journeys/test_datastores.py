"""Data in object stores from upload to script: a node reads it without credentials, and no signature is left."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from azureml.core import Dataset, Datastore, Experiment
from runyard.sdk.exceptions import ActivityFailedException

if TYPE_CHECKING:
    from tests.journeys.conftest import Yard
    from tests.support.object_stores import ObjectStore

pytestmark = pytest.mark.xdist_group("object-stores")

LOOK = """
import os, sys
from azureml.core import Run
run = Run.get_context()
for folder, _, names in os.walk(sys.argv[1]):
    for name in names:
        path = os.path.join(folder, name)
        run.tag(os.path.relpath(path, sys.argv[1]), open(path).read())
"""


def test_a_run_reads_an_object_store_without_credentials(
    shared_yard: Yard, object_store: ObjectStore, tmp_path: Path
) -> None:
    ws = shared_yard.workspace
    name = f"journey_{object_store.kind}"
    ws.service.post(f"/api/workspaces/{ws.name}/datastores", object_store.datastore(name, overwrite=True))
    datastore = Datastore.get(ws, name)
    (tmp_path / "data/sub").mkdir(parents=True)
    (tmp_path / "data/a.txt").write_text("first")
    (tmp_path / "data/sub/b.txt").write_text("second")
    datastore.upload(str(tmp_path / "data"), "journey", overwrite=True)
    dataset = Dataset.File.from_files((datastore, "journey/**"))
    given = dataset.as_named_input("given").as_mount()
    run = Experiment(ws, "object-store").submit(shared_yard.config(LOOK, given))
    run.wait_for_completion()
    tags = run.get_tags()
    assert (tags["a.txt"], tags["sub/b.txt"]) == ("first", "second")
    seen = json.loads(str(run.get_properties()["runyard.data.given"]))
    assert [each["from"].partition("://")[0] for each in seen["seen"]] == [object_store.kind] * 2
    assert all(each["from"].endswith(("journey/a.txt", "journey/sub/b.txt")) for each in seen["seen"])
    run.download_files(output_directory=str(tmp_path / "logs"))
    log = "".join(each.read_text(errors="replace") for each in (tmp_path / "logs").rglob("*") if each.is_file())
    written = log + json.dumps(run.get_properties()) + (shared_yard.home / "server.log").read_text()
    for secret in ("X-Amz-Signature", "sig=", *object_store.secrets.values()):
        assert secret not in written


def test_a_datastore_that_is_gone_fails_the_run_with_its_name(shared_yard: Yard, tmp_path: Path) -> None:
    ws = shared_yard.workspace
    (tmp_path / "a.txt").write_text("a")
    store = Datastore.register_folder(ws, "leaving", str(tmp_path), overwrite=True)
    dataset = Dataset.File.from_files((store, "a.txt")).register(ws, "of-leaving", create_new_version=True)
    store.unregister()
    run = Experiment(ws, "leaving").submit(shared_yard.config(LOOK, dataset.as_mount()))
    with pytest.raises(ActivityFailedException, match="no datastore 'leaving'"):
        run.wait_for_completion()
