from __future__ import annotations

import json
import os
from typing import Any

import pytest

from runyard.contracts.distribution import MPI, PLAIN, PYTORCH, TENSORFLOW, Distribution
from runyard.contracts.journal import RANK_VARIABLE
from runyard.contracts.plan import Launch, Plan
from runyard.node.launch import interfaces
from runyard.node.launch.frameworks import node_variables, rank_variables
from runyard.node.launch.meeting import Meeting

NONE = {"CUDA_VISIBLE_DEVICES": ""}  # whatever this machine has


def make_plan(distribution: Distribution, own: dict[str, str] | None = None, **more: Any) -> Plan:
    launch = Launch(script="train.py", distribution=distribution.as_dict(), environment_variables=own or {})
    return Plan("r1", "r1", "e", "e1", "w", "s", "g", "local", "t", "http://127.0.0.1:1", launch, **more)


def variables_of(plan: Plan, shared: str | None = None, variables: dict[str, str] = NONE) -> list[dict[str, str]]:
    """What each rank sees on top, rank 0 first."""
    nodes = plan.distribution.nodes
    addresses = [f"10.0.0.{node + 1}" for node in range(nodes)]
    ports = {str(rank.rank): 30000 + rank.rank for rank in plan.distribution.ranks()}
    meeting = Meeting(addresses, [f"n{node}" for node in range(nodes)], 29000, ports, shared)
    return [rank_variables(plan, rank, meeting, variables) for rank in plan.distribution.ranks()]


def test_a_run_of_one_process_is_told_nothing_new() -> None:
    assert variables_of(make_plan(Distribution())) == [{}]


@pytest.mark.parametrize("kind", [PLAIN, PYTORCH])
def test_one_process_for_each_node_knows_its_node_and_has_no_rank(kind: str) -> None:
    first, second = variables_of(make_plan(Distribution(kind, 2, 0, "gloo")))
    assert second["MASTER_ADDR"] == "10.0.0.1"
    assert second["MASTER_PORT"] == "29000"
    assert (first["NODE_RANK"], second["NODE_RANK"]) == ("0", "1")
    assert (first["AZUREML_CR_NODE_RANK"], second["AZUREML_CR_NODE_RANK"]) == ("0", "1")
    assert (first["AZ_BATCHAI_TASK_INDEX"], second["AZ_BATCHAI_TASK_INDEX"]) == ("0", "1")
    assert (second["WORLD_SIZE"], second["AZUREML_NODE_COUNT"]) == ("2", "2")
    assert second["AZ_BATCH_MASTER_NODE"] == "10.0.0.1:29000"
    assert not {"RANK", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "TF_CONFIG", "OMP_NUM_THREADS"} & set(second)


@pytest.mark.parametrize(
    "distribution",
    [Distribution(PLAIN, 2, 0), Distribution(PYTORCH, 2, 4, "gloo"), Distribution(TENSORFLOW, 2, workers=2)],
)
def test_metrics_know_the_rank_whatever_the_framework(distribution: Distribution) -> None:
    ranks = [str(rank.rank) for rank in distribution.ranks()]
    assert [each[RANK_VARIABLE] for each in variables_of(make_plan(distribution))] == ranks


@pytest.mark.parametrize("kind", [PLAIN, PYTORCH])
def test_processes_that_were_counted_have_ranks(kind: str) -> None:
    ranks = variables_of(make_plan(Distribution(kind, 2, 4, "nccl")))
    assert [each["RANK"] for each in ranks] == ["0", "1", "2", "3"]
    assert [each["LOCAL_RANK"] for each in ranks] == ["0", "1", "0", "1"]
    assert [each["NODE_RANK"] for each in ranks] == ["0", "0", "1", "1"]
    assert [each["AZ_BATCHAI_TASK_INDEX"] for each in ranks] == ["0", "1", "2", "3"]
    assert {each["WORLD_SIZE"] for each in ranks} == {"4"}
    assert {each["LOCAL_WORLD_SIZE"] for each in ranks} == {"2"}


def test_the_initialiser_is_a_file_of_the_attempt_where_nodes_share_a_folder() -> None:
    plan = make_plan(Distribution(PYTORCH, 2, 2, "gloo"), attempt=3)
    assert {each["AZ_BATCHAI_PYTORCH_INIT_METHOD"] for each in variables_of(plan, "/shared")} == {
        "file:///shared/init_method_3"
    }


def test_the_initialiser_is_a_port_of_its_own_otherwise() -> None:
    ranks = variables_of(make_plan(Distribution(PYTORCH, 2, 2, "gloo")))
    assert {each["AZ_BATCHAI_PYTORCH_INIT_METHOD"] for each in ranks} == {"tcp://10.0.0.1:30000"}


def test_one_node_shares_its_folder_with_itself() -> None:
    plan = make_plan(Distribution(PYTORCH, 1, 2, "gloo"))
    for each in variables_of(plan, variables={**NONE, "AZ_BATCHAI_JOB_TEMP": "/run/temp"}):
        assert each["AZ_BATCHAI_PYTORCH_INIT_METHOD"] == "file:///run/temp/init_method_1"
        assert each["AZ_BATCHAI_MPI_MASTER_NODE"] == "localhost"
        assert "AZ_BATCH_MASTER_NODE" not in each


def test_mirrored_workers_know_each_other() -> None:
    ranks = variables_of(make_plan(Distribution(TENSORFLOW, nodes=2, workers=2)))
    result = [json.loads(each["TF_CONFIG"]) for each in ranks]
    assert result[0]["cluster"] == result[1]["cluster"] == {"worker": ["10.0.0.1:30000", "10.0.0.2:30001"]}
    assert [each["task"] for each in result] == [{"type": "worker", "index": 0}, {"type": "worker", "index": 1}]
    assert "MASTER_ADDR" not in ranks[0]


def test_a_chief_leads_workers_with_parameter_servers() -> None:
    ranks = variables_of(make_plan(Distribution(TENSORFLOW, nodes=2, workers=2, parameter_servers=1)))
    result = [json.loads(each["TF_CONFIG"]) for each in ranks]
    assert result[0]["cluster"] == {"chief": ["10.0.0.1:30000"], "worker": ["10.0.0.2:30001"], "ps": ["10.0.0.1:30002"]}
    tasks = [(each["task"]["type"], each["task"]["index"]) for each in result]
    assert tasks == [("chief", 0), ("worker", 0), ("ps", 0)]
    assert [(each["AZ_BATCHAI_TASK_TYPE"], each["AZ_BATCHAI_TASK_INDEX"]) for each in ranks] == [
        ("chief", "0"),
        ("worker", "0"),
        ("ps", "0"),
    ]


def test_parameter_servers_leave_the_gpus_to_the_workers() -> None:
    plan = make_plan(Distribution(TENSORFLOW, nodes=1, workers=1, parameter_servers=1))
    worker, server = variables_of(plan, variables={"CUDA_VISIBLE_DEVICES": "0,1"})
    assert (worker["CUDA_VISIBLE_DEVICES"], server["CUDA_VISIBLE_DEVICES"]) == ("0,1", "-1")


def test_ranks_of_a_node_share_its_gpus_and_cores() -> None:
    plan = make_plan(Distribution(PYTORCH, 2, 4, "nccl"))
    ranks = variables_of(plan, variables={"CUDA_VISIBLE_DEVICES": "4,5,6,7"})
    assert [each["CUDA_VISIBLE_DEVICES"] for each in ranks] == ["4,5", "6,7", "4,5", "6,7"]
    cores = len(os.sched_getaffinity(0))
    assert {each["OMP_NUM_THREADS"] for each in ranks} == {str(max(1, cores // 2))}


def test_a_rank_that_is_alone_on_its_node_has_all_of_it() -> None:
    ranks = variables_of(make_plan(Distribution(PYTORCH, 2, 2, "nccl")), variables={"CUDA_VISIBLE_DEVICES": "0,1"})
    assert not any({"CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS"} & set(each) for each in ranks)


def test_what_the_user_or_the_machine_has_set_is_left_alone() -> None:
    own = {"CUDA_VISIBLE_DEVICES": "1", "MASTER_PORT": "23456"}
    plan = make_plan(Distribution(PYTORCH, 1, 2, "nccl"), own)
    for each in variables_of(plan, "/shared", {**own, "OMP_NUM_THREADS": "3"}):
        assert not {"CUDA_VISIBLE_DEVICES", "MASTER_PORT", "OMP_NUM_THREADS"} & set(each)
        assert each["MASTER_ADDR"] == "10.0.0.1"


def test_under_mpirun_a_node_is_told_what_its_ranks_have_in_common() -> None:
    plan = make_plan(Distribution(MPI, 2, 4))
    meeting = Meeting(["10.0.0.1", "10.0.0.2"], ["n0", "n1"], 29000)
    seen = node_variables(plan, 1, meeting, NONE)
    assert (seen["NODE_RANK"], seen["WORLD_SIZE"], seen["AZ_BATCH_MASTER_NODE"]) == ("1", "4", "10.0.0.1:29000")
    assert seen["NCCL_SOCKET_IFNAME"] == "^docker0,lo"
    assert "RANK" not in seen
    assert "NCCL_SOCKET_IFNAME" not in node_variables(plan, 1, meeting, {**NONE, "NCCL_SOCKET_IFNAME": "ib0"})


@pytest.mark.parametrize("nodes", [1, 2])
def test_under_mpirun_on_one_machine_nccl_is_told_an_interface_that_every_machine_has(nodes: int) -> None:
    meeting = Meeting(["127.0.0.1"] * nodes, ["n0"] * nodes, 29000)
    seen = node_variables(make_plan(Distribution(MPI, nodes, 2)), 0, meeting, NONE)
    assert seen["NCCL_SOCKET_IFNAME"] == interfaces.loopback()
    assert "GLOO_SOCKET_IFNAME" not in seen


def test_node_0_can_be_taken_apart_at_the_colon_where_addresses_have_some() -> None:
    meeting = Meeting(["fd00::1", "fd00::2"], ["n0", "n1"], 29000)
    seen = node_variables(make_plan(Distribution(MPI, 2, 4)), 1, meeting, NONE)
    assert seen["AZ_BATCH_MASTER_NODE"] == "n0:29000"


def test_gloo_is_told_the_interface_that_others_reach() -> None:
    assert interfaces.of_address("127.0.0.1") == interfaces.loopback()
    assert interfaces.of_address("203.0.113.9") is None
    plan = make_plan(Distribution(PYTORCH, 2, 2, "gloo"))
    meeting = Meeting(["127.0.0.1", "203.0.113.9"], ["n0", "n1"], 29000)
    first, second = (rank_variables(plan, rank, meeting, NONE) for rank in plan.distribution.ranks())
    assert first["GLOO_SOCKET_IFNAME"] == interfaces.loopback()
    assert "GLOO_SOCKET_IFNAME" not in second


def test_addresses_of_ipv6_are_written_as_such() -> None:
    plan = make_plan(Distribution(TENSORFLOW, nodes=1, workers=1))
    meeting = Meeting(["::1"], ["n0"], 29000, {"0": 30000})
    (rank,) = plan.distribution.ranks()
    assert json.loads(rank_variables(plan, rank, meeting, NONE)["TF_CONFIG"])["cluster"] == {"worker": ["[::1]:30000"]}
