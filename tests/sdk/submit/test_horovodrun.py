"""Commands with Horovod's launcher are translated, or refused with a sentence: never started as they are."""

from __future__ import annotations

import doctest

import pytest

from runyard.contracts.distribution import MPI, PYTORCH, Distribution
from runyard.sdk.exceptions import UserErrorException
from runyard.sdk.submit import horovodrun
from runyard.sdk.submit.horovodrun import translate

ALONE = Distribution()


def test_the_examples_run() -> None:
    assert doctest.testmod(horovodrun).failed == 0


@pytest.mark.parametrize(
    ("command", "given", "started", "wanted"),
    [
        ("horovodrun -np 4 python train.py", ALONE, "python train.py", Distribution(MPI, 1, 4)),
        (
            "/opt/bin/horovodrun --num-proc=2 -H localhost:2 --gloo python a.py",
            ALONE,
            "python a.py",
            Distribution(MPI, 1, 2),
        ),
        ("horovodrun python a.py", Distribution(MPI, 2, 4), "python a.py", Distribution(MPI, 2, 4)),
        ("horovodrun -np 2 python a.py", Distribution(nodes=2), "python a.py", Distribution(MPI, 2, 2)),
        ("horovodrun -np 1 python a.py 'b c;d'", ALONE, "python a.py 'b c;d'", Distribution(MPI, 1, 1)),
        ("python not_horovodrun.py", ALONE, "python not_horovodrun.py", ALONE),
        ("cat horovodrun.txt", ALONE, "cat horovodrun.txt", ALONE),
    ],
)
def test_what_each_rank_runs(command: str, given: Distribution, started: str, wanted: Distribution) -> None:
    assert translate(command, given)[:2] == (started, wanted)


def test_options_become_variables() -> None:
    command = "horovodrun -np 2 --start-timeout 90 --fusion-threshold-mb 32 python a.py"
    assert translate(command, ALONE)[2] == {
        "HOROVOD_START_TIMEOUT": "90",
        "HOROVOD_FUSION_THRESHOLD": str(32 << 20),
    }


@pytest.mark.parametrize(
    ("command", "given", "why"),
    [
        ("pip install x && horovodrun -np 2 python a.py", ALONE, "part of the command"),
        ("horovodrun -np 2 python a.py; echo done", ALONE, "part of the command"),
        ("horovodrun -np $N python a.py", ALONE, "part of the command"),
        ("horovodrun python a.py", ALONE, "how many processes"),
        ("horovodrun -np", ALONE, "has no value"),
        ("horovodrun -np 2", ALONE, "starts no program"),
        ("horovodrun -np two python a.py", ALONE, "takes a number, not 'two'"),
        ("horovodrun -np 2 --min-np 1 python a.py", ALONE, "--min-np has no meaning"),
        ("horovodrun -np 2 -H a:1,b:1 python a.py", ALONE, r"names hosts \(a:1\)"),
        ("horovodrun -np 3 python a.py", Distribution(MPI, 2, 4), "starts 3 processes, and the run's configuration 4"),
        ("horovodrun -np 2 python a.py", Distribution(PYTORCH, 1, 2, "gloo"), "distributed by pytorch already"),
        ("horovodrun -np 2 python 'a.py", ALONE, "part of the command"),
    ],
)
def test_what_cannot_be_translated_is_refused(command: str, given: Distribution, why: str) -> None:
    with pytest.raises(UserErrorException, match=why) as raised:
        translate(command, given)
    assert "MpiConfiguration(process_count_per_node" in str(raised.value)
