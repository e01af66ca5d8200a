"""Horovod's scripts over the nodes of real clusters, with nothing built: torch and TensorFlow, on Ray and on Slurm.

On this machine they run in test_distributed_seeds.py.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support import horovod_gang
from tests.support.frameworks import environment
from tests.support.gang_fixtures import ENGINES, cluster_yard, gangs
from tests.support.gang_yard import GangYard

from azureml.core.runconfig import MpiConfiguration

__all__ = ["cluster_yard", "gangs"]

CLUSTERS = pytest.mark.parametrize("cluster_yard", [ENGINES["ray"], ENGINES["slurm"]], indirect=True)

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "distributed" / "horovod_train.py"
WORD2VEC = Path(horovod_gang.__file__).with_name("horovod_word2vec.py")

pytestmark = pytest.mark.framework


@CLUSTERS
def test_torch_with_two_ranks_on_each_node(gangs: GangYard) -> None:
    distribution = MpiConfiguration(process_count_per_node=2, node_count=2)
    run = gangs.gang(EXAMPLE.read_text(), distribution=distribution, python=environment("torch"))
    gangs.finish(run)
    metrics = run.get_metrics()
    assert metrics["world size"] == 4
    assert metrics["loss"][-1] < metrics["loss"][0] / 2
    assert len({metrics[f"weight of rank {rank}"] for rank in range(4)}) == 1
    for rank in range(4):
        assert f"rank {rank} of 4, {rank % 2} of 2 on its node" in gangs.log(run, rank)
    assert "Runyard's layer" in (run.get_properties()["runyard.environment.horovod"] or "")
    assert "Runyard's layer" in gangs.runyard("show", run.id)


@CLUSTERS
def test_tensorflow_with_one_rank_on_each_node(gangs: GangYard, tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("the cat sat on the mat the dog sat on the log " * 40)
    run = gangs.gang(
        WORD2VEC.read_text(),
        "--input_data",
        tmp_path / "words.txt",
        distribution=MpiConfiguration(node_count=2),
        python=environment("tensorflow"),
    )
    gangs.finish(run)
    metrics = run.get_metrics()
    assert metrics["ranks"] == 2
    assert metrics["loss"][-1] < metrics["loss"][0]
    assert metrics["mark of rank 0"] == metrics["mark of rank 1"], "the ranks have trained different models"
