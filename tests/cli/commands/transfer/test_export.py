"""`runyard export`, as it is typed: to an address that speaks MLflow's protocol."""

from __future__ import annotations

import json

from tests.cli.conftest import Shell

from runyard.contracts.home import read_server, read_token


def test_a_run_is_copied_to_another_server(shell: Shell) -> None:
    run = shell.completed("from azureml.core import Run; Run.get_context().log('loss', 0.5)")
    running, token = read_server(shell.home), read_token(shell.home)
    assert running is not None
    address = f"{running.url}/mlflow/local"
    said = shell.call("export", run["id"], address, "--json", MLFLOW_TRACKING_TOKEN=str(token)).stdout
    summary = json.loads(said)
    assert (summary["runs"], summary["points"]) == (1, 1)
    found = shell.json("ls", "--tag", f"runyard.carried.from={run['id']}")
    assert [each["status"] for each in found] == ["Completed"]
    for words in ((run["id"],), (run["id"], "nowhere"), (run["id"], address, "--to", "wandb")):
        assert "mlflow" in str(shell.refusal("export", *words, expect=1)).lower()
