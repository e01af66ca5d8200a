"""Two clients that find no server start one, together."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
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
