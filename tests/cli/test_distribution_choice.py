from __future__ import annotations

import pytest
from typer.testing import CliRunner

from runyard.cli import errors
from runyard.cli.distribution_choice import Spread
from runyard.cli.main import app
from runyard.contracts.distribution import Distribution
from runyard.sdk.submit.distribution import distribution_of
from runyard.sdk.submit.runconfig import RunConfiguration
from runyard.sdk.submit.script_run_config import distribute


def made(spread: Spread) -> Distribution:
    spread.check()
    run_config = RunConfiguration()
    job = spread.get()
    if job is not None:
        distribute(run_config, job)
    return distribution_of(run_config)


@pytest.mark.parametrize(
    ("spread", "distribution"),
    [
        (Spread(), Distribution()),
        (Spread(framework="plain"), Distribution()),
        (Spread(nodes=2), Distribution(nodes=2, processes=2)),
        (Spread(procs=2), Distribution(processes=2)),
        (Spread(nodes=2, procs=2, framework="plain"), Distribution(nodes=2, processes=4)),
        (Spread(nodes=2, framework="pytorch"), Distribution("pytorch", 2, 0, "nccl")),
        (Spread(nodes=2, procs=2, framework="pytorch", backend="gloo"), Distribution("pytorch", 2, 4, "gloo")),
        (Spread(nodes=2, procs=2, framework="mpi"), Distribution("mpi", 2, 4)),
        (Spread(framework="mpi"), Distribution("mpi", 1, 1)),
        (Spread(nodes=2, framework="tensorflow"), Distribution("tensorflow", 2, workers=2)),
        (
            Spread(nodes=3, framework="tensorflow", parameter_servers=2),
            Distribution("tensorflow", 3, workers=3, parameter_servers=2),
        ),
    ],
)
def test_what_is_said_becomes_a_distribution(spread: Spread, distribution: Distribution) -> None:
    assert made(spread) == distribution


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["--nodes", "0"], "--nodes"),
        (["--procs", "0"], "--procs"),
        (["--restarts", "-1"], "--restarts"),
        (["--framework", "jax"], "plain, mpi, pytorch, tensorflow"),
        (["--framework", "pytorch", "--backend", "mpi"], "nccl, gloo"),
        (["--backend", "gloo"], "add --framework pytorch"),
        (["--parameter-servers", "1"], "add --framework tensorflow"),
        (["--framework", "tensorflow", "--procs", "2"], "leave --procs out"),
    ],
)
def test_what_does_not_go_together_is_a_wrong_call(words: list[str], hint: str) -> None:
    done = CliRunner().invoke(app, ["submit", "train.py", *words])
    assert done.exit_code == errors.USAGE
    assert hint in done.stderr
