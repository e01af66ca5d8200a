"""If these fail, a cluster seems to have nodes or limits that it does not have."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.engines.slurm.conftest import program

from runyard.contracts.compute import Resources
from runyard.engines.base import EngineAway
from runyard.engines.slurm.cluster import Cluster, host_names, minutes, read, together
from runyard.engines.slurm.commands import Commands


def test_lists_of_nodes_are_unfolded() -> None:
    assert host_names("n1") == ["n1"]
    assert host_names("n[1-2,9]") == ["n1", "n2", "n9"]
    assert host_names("a[08-10]-ib,login") == ["a08-ib", "a09-ib", "a10-ib", "login"]
    assert host_names("r[1-2]c[1-2]") == ["r1c1", "r1c2", "r2c1", "r2c2"]
    assert host_names("") == []


def test_time_limits_are_read() -> None:
    assert [minutes(text) for text in ("7-00:00:00", "1:30:00", "30:00", "infinite", "n/a")] == [
        10080,
        90,
        30,
        None,
        None,
    ]


def test_partitions_are_read_with_their_nodes_and_limits() -> None:
    found = read(
        "cpu*|infinite|n/a|1-infinite|n1|idle|8|16000|n1|(null)\n"
        "cpu*|infinite|n/a|1-infinite|n2|down*|8|16000|n2|(null)\n"
        "gpu|2-00:00:00|1:00:00|1-2|g1|mixed|64|512000|10.0.0.1|gpu:a100:4(S:0-1),shard:16\n"
        "gpu|2-00:00:00|1:00:00|1-2|g2|allocated#|64|512000|10.0.0.2|gpu:a100:3,gpu:v100:1\n"
        "gpu|2-00:00:00|1:00:00|1-2|g3|drained|64|512000|10.0.0.3|gpu:4\n"
        "gpu|2-00:00:00|1:00:00|1-2|g4|completing|64|512000+|10.0.0.4|gpu:4\n"
    )
    cpu, gpu = found["cpu"], found["gpu"]
    assert (cpu.default, cpu.minutes, cpu.largest_gang()) == (True, None, 2)
    assert (gpu.default, gpu.minutes, gpu.largest_gang()) == (False, 2880, 2)
    assert (cpu.short, gpu.short) == (False, True)
    assert [machine.state for machine in cpu.machines] == ["idle", "unusable"]
    assert [machine.state for machine in gpu.machines] == ["running", "preparing", "unusable", "leaving"]
    assert {machine.has for machine in gpu.machines} == {Resources(64, 512000, 4)}
    assert cpu.kinds() == "2 with 8 cores, 15.6 GiB of memory"
    assert gpu.machines[0].fits(Resources(64, 1000, 4))
    assert not gpu.machines[0].fits(Resources(gpus=5))
    both = together("cpu,gpu", [cpu, gpu])
    assert (len(both.machines), both.minutes, both.largest_gang()) == (6, None, 2)


def test_an_answer_is_cached_and_so_is_a_missing_one(tmp_path: Path, commands: Commands) -> None:
    line = "cpu*|infinite|n/a|1-infinite|n1|idle|8|16000|n1|(null)"
    program(tmp_path, "sinfo", f"echo asked >>{tmp_path}/asked; echo '{line}'")
    cluster = Cluster(commands)
    for _ in range(3):
        default = cluster.partition("")
        assert default is not None
        assert default.name == "cpu"
    assert (tmp_path / "asked").read_text() == "asked\n"
    assert cluster.partition("cpu,gpu") is None, "one of them does not exist"
    away = Cluster(commands)
    program(tmp_path, "sinfo", f"echo asked >>{tmp_path}/away; echo 'Unable to contact slurm controller' >&2; exit 1")
    for _ in range(3):
        with pytest.raises(EngineAway, match="Unable to contact"):
            away.partitions()
    assert (tmp_path / "away").read_text() == "asked\n"
