"""Which process runs on which node: a rank that is counted twice, or on two nodes, is a job that never starts."""

from __future__ import annotations

import pytest

from runyard.contracts.distribution import (
    CHIEF,
    MOST_NODES,
    MPI,
    PARAMETER_SERVER,
    PLAIN,
    PYTORCH,
    TENSORFLOW,
    WORKER,
    BadDistribution,
    Distribution,
    Rank,
)


@pytest.mark.parametrize("kind", [PLAIN, MPI, PYTORCH])
def test_processes_are_spread_evenly(kind: str) -> None:
    ranks = Distribution(kind, nodes=2, processes=6).ranks()
    assert [(each.rank, each.node, each.local_rank) for each in ranks] == [
        *((0, 0, 0), (1, 0, 1), (2, 0, 2)),
        *((3, 1, 0), (4, 1, 1), (5, 1, 2)),
    ]


def test_one_process_per_node_has_no_rank_of_its_own() -> None:
    spread = Distribution(PYTORCH, nodes=3, backend="gloo")
    assert spread.per_node
    assert [(each.rank, each.node, each.local_rank) for each in spread.ranks()] == [(0, 0, 0), (1, 1, 0), (2, 2, 0)]
    assert not Distribution(PYTORCH, nodes=3, processes=3).per_node
    assert not Distribution(TENSORFLOW, nodes=3, workers=3).per_node


def test_what_is_a_gang() -> None:
    assert not Distribution().gang
    assert not Distribution(processes=1).gang
    assert Distribution(processes=2).gang
    assert Distribution(nodes=2).gang
    assert Distribution(MPI, processes=1).gang


def test_tensorflow_has_a_chief_only_beside_parameter_servers() -> None:
    mirrored = Distribution(TENSORFLOW, nodes=2, workers=2)
    assert mirrored.ranks() == [Rank(0, 0, 0, WORKER, 0), Rank(1, 1, 0, WORKER, 1)]
    served = Distribution(TENSORFLOW, nodes=2, workers=2, parameter_servers=3)
    assert served.ranks() == [
        Rank(0, 0, 0, CHIEF, 0),
        Rank(1, 1, 0, WORKER, 0),
        Rank(2, 0, 1, PARAMETER_SERVER, 0),
        Rank(3, 1, 1, PARAMETER_SERVER, 1),
        Rank(4, 0, 2, PARAMETER_SERVER, 2),
    ]
    alone = Distribution(TENSORFLOW, workers=1, parameter_servers=1)
    assert [each.role for each in alone.ranks()] == [WORKER, PARAMETER_SERVER]


@pytest.mark.parametrize(
    "sound",
    [
        Distribution(),
        Distribution(nodes=MOST_NODES),
        Distribution(MPI, nodes=2, processes=4),
        Distribution(PYTORCH, nodes=2, processes=2, backend="nccl"),
        Distribution(TENSORFLOW, nodes=2, workers=2, parameter_servers=1),
    ],
)
def test_what_can_be_run(sound: Distribution) -> None:
    sound.check()
    ranks = sound.ranks()
    assert [each.rank for each in ranks] == list(range(len(ranks)))
    assert {each.node for each in ranks} == set(range(sound.nodes))
    assert len({(each.node, each.local_rank) for each in ranks}) == len(ranks)


@pytest.mark.parametrize(
    ("unsound", "reason"),
    [
        (Distribution("horovod"), "Use one of: plain, mpi, pytorch, tensorflow"),
        (Distribution(nodes=0), "1 to 10000 nodes, not 0"),
        (Distribution(nodes=MOST_NODES + 1), "Set node_count"),
        (Distribution(processes=-1), "not -1"),
        (Distribution(MPI, nodes=3, processes=4), "use 6, or another node_count"),
        (Distribution(PYTORCH, processes=1, backend="mpi"), "'nccl' or 'gloo'"),
        (Distribution(TENSORFLOW), "Set worker_count"),
        (Distribution(TENSORFLOW, nodes=2, workers=3), "3 workers do not fit 2 nodes"),
        (Distribution(TENSORFLOW, workers=1, parameter_servers=-1), "-1 parameter servers"),
    ],
)
def test_what_cannot_be_run_is_refused_with_the_reason(unsound: Distribution, reason: str) -> None:
    with pytest.raises(BadDistribution, match=reason):
        unsound.check()


def test_a_distribution_survives_its_dict() -> None:
    spread = Distribution(TENSORFLOW, 2, 0, "", 2, 1)
    assert Distribution.from_dict({**spread.as_dict(), "of_later": 1}) == spread
    assert Distribution.from_dict({}) == Distribution()
