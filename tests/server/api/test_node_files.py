"""What a node gets that does not share the server's disk: the code of its runner, and its plan."""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.server.conftest import Client


def test_a_node_gets_the_code_of_its_runner(here: Client) -> None:
    run = here.make_run()
    answer = here.as_run(run).get("/api/sdk")
    assert answer.headers["content-type"] == "application/zip"
    names = zipfile.ZipFile(io.BytesIO(answer.body)).namelist()
    assert {"runyard/node/__main__.py", "runyard/node/bootstrap.py", "azureml/core/__init__.py"} <= set(names)
    assert not [name for name in names if name.startswith(("runyard/server", "runyard/store", "/", ".."))]


def test_a_run_that_is_not_being_started_has_no_plan(here: Client) -> None:
    answer = here.get(f"{here.new_run_path()}/nodes/0/plan")
    assert (answer.status, answer.code) == (404, "plan_not_found")
