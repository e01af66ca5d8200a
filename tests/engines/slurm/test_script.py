"""If these fail, a job asks Slurm for something else than its run, or starts something else."""

from __future__ import annotations

import shlex
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from tests.engines.conftest import gang_of
from tests.engines.slurm.conftest import program
from tests.support.waiting import wait_until

from runyard.contracts.compute import Resources
from runyard.engines.hand_over import Parcel
from runyard.engines.slurm.cluster import Partition
from runyard.engines.slurm.options import Options
from runyard.engines.slurm.script import DEFAULT_DURATION, arguments, batch_script, time_limit

DEADLINE = 60.0


def test_a_time_limit_that_nobody_asked_for_gives_way() -> None:
    hour = Partition("gpu", True, minutes=60, most_nodes=None)
    assert time_limit(None, Options(), 10.0, hour) == ""
    assert time_limit(None, Options(time="2:00:00"), 10.0, hour) == "2:00:00"
    assert time_limit(DEFAULT_DURATION, Options(time="2:00:00"), 10.0, hour) == "2:00:00"
    assert time_limit(DEFAULT_DURATION, Options(), 10.0, hour) == ""
    assert time_limit(DEFAULT_DURATION, Options(), 10.0, replace(hour, short=True)) == "60"
    assert time_limit(600, Options(time="2:00:00", time_margin=0), 10.0, None) == "11"
    assert time_limit(7200, Options(), 10.0, hour) == "60"


def test_what_a_target_asks_for_is_passed_to_sbatch_and_cannot_break_the_engine(home: Path) -> None:
    gang = gang_of(home, nodes=2, resources=Resources(6, 57344, 1))
    options = Options(
        partition="gpu", account="a", qos="q", constraint="a100&ib", exclusive=True, sbatch=("--requeue",)
    )
    found = arguments(gang, options, "71")
    for each in ("--partition=gpu", "--account=a", "--qos=q", "--constraint=a100&ib", "--exclusive", "--time=71"):
        assert each in found
    assert [each for each in found if each.startswith(("--cpus", "--mem", "--gres"))] == [
        "--cpus-per-task=6",
        "--mem=57344M",
        "--gres=gpu:1",
    ]
    assert found.index("--requeue") < found.index("--no-requeue")
    assert not any("the token of the run" in each for each in found)
    assert "--gres=gpu:h100:2" in arguments(gang, Options(gres="gpu:h100:2"), "")


@pytest.mark.parametrize("nodes", [1, 3])
def test_a_script_hands_its_arguments_on_as_they_are(tmp_path: Path, nodes: int) -> None:
    odd = ["-c", "print('a \"b\" $HOME `x` \\n')\n", '{"run": "it\'s"}']
    program(tmp_path, "srun", f'while [ "$1" != sh ]; do shift; done; SLURM_PROCID=1 "$@" >{tmp_path}/others')
    script = batch_script(Parcel(odd, {}), nodes, "echo", tmp_path)
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin", "SLURM_JOB_ID": "7", "SLURM_PROCID": "0", "SLURM_NTASKS": "9"}
    subprocess.run(["/bin/sh"], input=script, text=True, env=environment, check=True, timeout=DEADLINE)
    expected = subprocess.run(["echo", *odd, "0"], capture_output=True, text=True, check=True).stdout
    assert (tmp_path / "runner.log").read_text() == expected
    if nodes > 1:
        others = tmp_path / "others"
        wait_until(lambda: others.exists() and others.read_text() == f"{expected[:-2]}2\n", seconds=DEADLINE)
    # Slurm may start a job anew without saying so: the run is not started twice.
    again = subprocess.run(["/bin/sh"], input=script, text=True, env=environment, check=False, timeout=DEADLINE)
    assert again.returncode == 75
    assert shlex.quote(odd[1]) in script
