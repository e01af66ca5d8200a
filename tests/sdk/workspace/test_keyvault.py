"""The key vault: secrets are set from outside, and a script reads them through its run."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest

from runyard.sdk.exceptions import UserErrorException
from runyard.sdk.experiment import Experiment
from runyard.sdk.submit.script_run_config import ScriptRunConfig
from runyard.sdk.workspace.workspace import Workspace


def test_secrets_from_outside_and_from_a_script(workspace: Workspace) -> None:
    vault = workspace.get_default_keyvault()
    name, other = f"s-{uuid.uuid4()}", f"t-{uuid.uuid4()}"
    vault.set_secret(name, "välue")
    vault.set_secrets({other: "two"})
    assert vault.get_secret(name) == "välue"
    assert vault.get_secrets([name, other]) == {name: "välue", other: "two"}
    assert vault.get_secret_content_type(name) == ""
    assert {"name": name, "content_type": ""} in vault.list_secrets()
    assert vault.workspace is workspace
    folder = Path("project")
    folder.mkdir()
    (folder / "train.py").write_text(
        "import sys\nfrom azureml.core import Run\nrun = Run.get_context()\n"
        "run.log('length', len(run.get_secret(sys.argv[1])) + len(run.get_secrets([sys.argv[2]])))\n"
    )
    run = Experiment(workspace, "vault").submit(ScriptRunConfig(folder, "train.py", [name, other]))
    run.wait_for_completion()
    assert run.get_metrics() == {"length": 6}
    vault.delete_secret(name)
    vault.delete_secrets([other])
    with pytest.raises(UserErrorException, match="no secret of that name"):
        vault.get_secret(name)


def test_nonsense(workspace: Workspace) -> None:
    vault = workspace.get_default_keyvault()
    with pytest.raises(UserErrorException):
        vault.set_secret("a_b", "x")
    with pytest.raises(UserErrorException):
        vault.set_secret("ab", 1)  # type: ignore[arg-type]
    with pytest.raises(UserErrorException, match="list of names"):
        vault.get_secrets("ab")
