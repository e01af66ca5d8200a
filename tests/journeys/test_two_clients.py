"""Two clients that find no server start one, together; and none takes the server of another home for its own."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

from azureml.core import Experiment
from runyard.client.http import healthy

if TYPE_CHECKING:
    from pathlib import Path

    from tests.journeys.conftest import Yard

CLIENT = """
import sys
from azureml.core import Workspace, Experiment
sys.stdin.readline()
workspace = Workspace.from_config()
run = Experiment(workspace, 'together').start_logging(snapshot_directory=None)
run.log('x', 1)
run.complete()
from runyard.contracts.home import home, read_server
print(read_server(home()).pid)
"""


def test_clients_that_start_at_the_same_moment_share_one_server(yard: Yard) -> None:
    clients = [
        subprocess.Popen([sys.executable, "-c", CLIENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    for client in clients:
        assert client.stdin is not None
        client.stdin.write("go\n")
        client.stdin.flush()
    said = {client.communicate(timeout=120)[0].strip() for client in clients}
    assert [client.returncode for client in clients] == [0, 0, 0, 0]
    assert said == {str(yard.server.pid)}
    assert len(yard.processes("runyard.server")) == 1
    assert len(list(yard.workspace.experiments["together"].get_runs())) == 4


def test_another_server_on_the_port_of_a_dead_one_is_not_taken_for_it(yard: Yard, tmp_path: Path) -> None:
    workspace, url = yard.workspace, yard.server.url
    Experiment(workspace, "before")
    yard.kill_server()
    command = [sys.executable, "-m", "runyard.server", "--port", url.rpartition(":")[2]]
    stranger = subprocess.Popen(command, env={**os.environ, "RUNYARD_HOME": str(tmp_path / "another")})
    try:
        yard.wait(lambda: healthy(url), "the other server")
        assert [each.name for each in Experiment.list(workspace)] == ["before"]
        assert yard.server.url != url
    finally:
        stranger.terminate()
        stranger.wait()
