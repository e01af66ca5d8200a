"""Runs of many processes, on one node and on several: what each rank saw, wrote and logged is in the one run."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from runyard.contracts.distribution import Distribution

if TYPE_CHECKING:
    from tests.node.conftest import Gang

Prepare = Callable[..., "Gang"]
Until = Callable[[Callable[[], object], str], None]

ALONE = "from runyard.node.gang import crew; crew.WITNESS = 'hidden'"
"""Said to a follower: its disk is another one than that of node 0."""

TWO_BY_TWO = Distribution(nodes=2, processes=4)

REPORT = """
import json, os, sys
from runyard.contracts import journal
rank = int(os.environ['RANK'])
names = ['RANK', 'LOCAL_RANK', 'NODE_RANK', 'WORLD_SIZE', 'MASTER_ADDR', 'MASTER_PORT', 'AZUREML_RUN_ID']
print(json.dumps({name: os.environ[name] for name in names}), sys.argv[1:], flush=True)
with open(f'outputs/rank_{rank}', 'w') as f: f.write(str(rank))
with open(f'logs/rank_{rank}', 'w') as f: f.write(str(rank))
folder = os.environ['RUNYARD_TELEMETRY']
with open(folder + '/journal/' + journal.file_name(os.environ['AZUREML_RUN_ID'], f'w{rank}'), 'wb') as f:
    f.write(journal.line('v', f'loss_{rank}', float(rank), 1.0, None))
"""


@pytest.mark.parametrize("nodes", [1, 2])
def test_every_rank_has_its_place_its_log_and_its_metrics(gang: Prepare, nodes: int) -> None:
    made = gang({"train.py": REPORT}, Distribution(nodes=nodes, processes=4), arguments=["--rank", "$RANK"])
    said = made.finish()
    assert said["status"] == "Completed", said
    assert said["warnings"] == []
    meeting = set()
    for rank in range(4):
        seen, _, arguments = made.std_log(rank).partition("} ")
        known = json.loads(seen + "}")
        assert arguments == f"['--rank', '{rank}']\n"
        each = 4 // nodes
        assert (known["RANK"], known["LOCAL_RANK"]) == (str(rank), str(rank % each))
        assert (known["NODE_RANK"], known["WORLD_SIZE"]) == (str(rank // each), "4")
        meeting.add((known["MASTER_ADDR"], known["MASTER_PORT"]))
        assert made.run.read(f"outputs/rank_{rank}") == str(rank).encode()
        assert made.run.read(f"logs/rank_{rank}") == str(rank).encode()
        assert made.run.metric(f"loss_{rank}") == [float(rank)]
    assert len(meeting) == 1
    logs = {name for name in made.run.files() if name.startswith("system_logs/runner")}
    assert (
        logs == {"system_logs/runner.log", "system_logs/runner_node_1.log"} if nodes > 1 else {"system_logs/runner.log"}
    )
