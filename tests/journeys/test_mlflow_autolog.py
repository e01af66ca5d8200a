"""Autolog of MLflow in submitted runs: scikit-learn, PyTorch Lightning and transformers log by themselves, alone and in
gangs, as their users write it. The models are tiny and made here: nothing is downloaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.support.frameworks import environment

from azureml.core import Experiment, Run
from azureml.core.runconfig import PyTorchConfiguration

if TYPE_CHECKING:
    from tests.journeys.conftest import Yard

pytestmark = pytest.mark.framework

SCIKIT_LEARN = """
    import mlflow
    import numpy
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV

    mlflow.autolog()
    rows, labels = numpy.arange(40.0).reshape(-1, 1), numpy.arange(40) >= 20
    GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=2).fit(rows, labels)
"""

LIGHTNING = """
    import os
    import lightning
    import mlflow
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    class Model(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(4, 1)

        def training_step(self, batch, index):
            loss = torch.nn.functional.mse_loss(self.layer(batch[0]), batch[1])
            self.log("train_loss", loss, on_step=False, on_epoch=True, sync_dist=True)
            return loss

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.01)

    mlflow.autolog()
    torch.manual_seed(1)
    rows = torch.randn(64, 4)
    loader = DataLoader(TensorDataset(rows, rows.sum(1, keepdim=True)), batch_size=8)
    world = int(os.environ.get("WORLD_SIZE", "1"))
    trainer = lightning.Trainer(
        max_epochs=3, accelerator="cpu", devices=world, strategy="ddp" if world > 1 else "auto",
        logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
    )
    with mlflow.start_run():
        trainer.fit(Model(), loader)
        mlflow.log_metric(f"done_{trainer.global_rank}", trainer.global_step)
"""

TRANSFORMERS = """
    import os
    import mlflow
    import torch
    from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

    config = BertConfig(
        vocab_size=20, hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=8,
        max_position_embeddings=8,
    )
    rows = [{"input_ids": torch.randint(0, 20, (6,)), "labels": number % 2} for number in range(32)]
    mlflow.autolog()
    arguments = TrainingArguments(
        "checkpoints", num_train_epochs=2, per_device_train_batch_size=4, logging_steps=2, save_strategy="no",
        report_to=["mlflow"], use_cpu=True, disable_tqdm=True, ddp_backend="gloo" if "RANK" in os.environ else None,
    )
    trainer = Trainer(BertForSequenceClassification(config), arguments, train_dataset=rows)
    trainer.train()
    print("world", arguments.world_size, "steps", trainer.state.global_step)
"""


def submit(yard: Yard, script: str, processes: int = 1) -> Run:
    config = yard.config(script)
    config.run_config.environment.python.interpreter_path = str(environment("mlflow-autolog"))
    if processes > 1:
        gang = PyTorchConfiguration(communication_backend="Gloo", process_count=processes)
        config.run_config.framework, config.run_config.communicator = "PyTorch", "Gloo"
        config.run_config.pytorch = gang
    run = Experiment(yard.workspace, "autolog").submit(config)
    assert run.wait_for_completion()["status"] == "Completed"
    assert run.get_details().get("warnings", []) == []
    return run


def test_scikit_learn_with_a_child_for_each_set_of_parameters(shared_yard: Yard) -> None:
    run = submit(shared_yard, SCIKIT_LEARN)
    parameters = shared_yard.workspace.service.get(f"/api/runs/{run.id}")["parameters"]
    assert parameters["cv"] == "2"
    assert run.get_metrics()["training_score"] > 0.9
    names = set(run.get_file_names())
    assert {"outputs/model/MLmodel", "outputs/best_estimator/MLmodel"} <= names
    children = list(run.get_children())
    assert {child.get_status() for child in children} == {"Completed"}
    assert len(children) == 2
    assert all("mean_test_score" in child.get_metrics() for child in children)


@pytest.mark.parametrize("processes", [1, 2])
def test_lightning_alone_and_in_a_gang(shared_yard: Yard, processes: int) -> None:
    run = submit(shared_yard, LIGHTNING, processes)
    metrics = run.get_metrics()
    assert len(metrics["train_loss"]) == 3, "each epoch once, from the first rank"
    steps = 3 * 64 // 8 // processes
    assert {name: metrics[name] for name in metrics if name.startswith("done_")} == {
        f"done_{rank}": steps for rank in range(processes)
    }
    parameters = shared_yard.workspace.service.get(f"/api/runs/{run.id}")["parameters"]
    assert (parameters["epochs"], parameters["optimizer_name"]) == ("3", "SGD")
    assert "outputs/model/MLmodel" in run.get_file_names()
    assert list(run.get_children()) == []


@pytest.mark.parametrize("processes", [1, 2])
def test_transformers_alone_and_in_a_gang(shared_yard: Yard, processes: int) -> None:
    run = submit(shared_yard, TRANSFORMERS, processes)
    metrics = run.get_metrics()
    assert len(metrics["loss"]) == 2 * 32 // 4 // processes // 2
    parameters = shared_yard.workspace.service.get(f"/api/runs/{run.id}")["parameters"]
    assert (parameters["hidden_size"], parameters["num_train_epochs"]) == ("8", "2")
    assert list(run.get_children()) == []
