"""`runyard top`: how a table of runs and nodes is made of what the server says."""

from __future__ import annotations

from typing import Any

from runyard.cli.commands.views import top
from runyard.contracts.observed import load

RUN: dict[str, Any] = {
    "id": "r_1",
    "display_name": None,
    "status": "Running",
    "reason": None,
    "started_at": "2026-01-01T00:00:00Z",
}
GPUS = {load.gpu(number, name): 1e9 for number in (0, 1) for name in (load.GPU_MEMORY, load.GPU_TOTAL)}
FIRST = {
    "node": 0,
    "values": {
        load.CPU_RUN: 1.25,
        load.CPU: 3.0,
        load.CORES: 8.0,
        load.MEMORY_RUN: 2e9,
        load.MEMORY_LIMIT: 16e9,
        load.RUN_READ: 1000.0,
        load.RUN_WRITE: 5.0,
        load.gpu(0, load.GPU_BUSY): 87.0,
        load.gpu(1, load.GPU_BUSY): 3.0,
        **GPUS,
    },
}
WAITS = {**RUN, "id": "r_2", "status": "Queued", "started_at": None, "reason": "waits for\n\x1b[2J a node", "load": []}


def test_a_row_for_each_node_then_those_that_wait() -> None:
    rows = top.rows({"runs": [{**RUN, "load": [FIRST, {"node": 1, "values": {}}]}, WAITS]})
    assert rows[0][:11] == (
        *("r_1", "0", "Running", "1.25", "3.0 of 8", "2.0 GB", "16.0 GB", "87% 3%", "2.0 GB of 2.0 GB"),
        *("1.0 kB/s in, 5 B/s out", ""),
    )
    assert rows[1] == ("", "1", "", "", "", "", "", "", "", "", "", "")
    assert rows[2][:3] == ("r_2", "", "Queued")
    assert [len(row) for row in rows] == [len(top.COLUMNS)] * 3


def test_why_runs_wait_is_below_the_table() -> None:
    said = top._footer({"runs": [{**RUN, "load": [FIRST]}, WAITS]})
    assert "\x1b" not in said
    assert "1 run with numbers, 2 that go on or wait." in said


def test_nothing_runs() -> None:
    assert top.rows({"runs": []}) == []
