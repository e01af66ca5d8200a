"""If these fail, Slurm's answers are misread: nodes that are not there, limits that do not hold, ends unexplained."""

from __future__ import annotations

import shlex
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from tests.engines.conftest import Listener, gang_of
from tests.support.slurm_cluster import wait_until

from runyard.contracts.compute import Resources
from runyard.engines.base import EngineAway, EngineError
from runyard.engines.hand_over import Parcel
from runyard.engines.slurm import poll as slurm_poll
from runyard.engines.slurm import refusals
from runyard.engines.slurm.cluster import Partition, host_names, minutes, read, together
from runyard.engines.slurm.commands import Commands
from runyard.engines.slurm.jobs import Job, ask, ask_history
from runyard.engines.slurm.options import Options
from runyard.engines.slurm.poll import Poll
from runyard.engines.slurm.script import DEFAULT_DURATION, arguments, batch_script, time_limit

DEADLINE = 60.0


def program(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{text}\n")
    (folder / name).chmod(0o755)


@pytest.fixture
def commands(tmp_path: Path) -> Commands:
    return Commands(Options(commands=tmp_path))


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


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("Resources", "waits for nodes to become free (Resources)"),
        (
            "QOSMaxCpuPerUserLimit",
            "waits for a limit of its QOS: it starts when other jobs of yours end (QOSMaxCpuPerUserLimit)",
        ),
        ("MaxJobsPerAccount", "waits for a limit of its QOS: it starts when other jobs of the account end"),
        ("AssocGrpCPUMinutesLimit", "waits for a limit of its account: what may be used is used up"),
        ("AssocGrpCPURunMinutesLimit", "it starts when other jobs under that limit end"),
        ("AssocMaxWallDurationPerJobLimit", "lower max_run_duration_seconds"),
        ("QOSMinGRES", "a larger vm_size"),
        ("QOSMaxCpuPerNode", "take a smaller vm_size"),
        ("QOSNewLimit", "waits for a limit of its QOS (QOSNewLimit)"),
        ("QOSNotAllowed", "its partition does not allow: set the target's option `qos`"),
        ("ReqNodeNotAvail, UnavailableNodes:n1", "needs nodes that are down, drained or reserved"),
        ("JobHeldUser", "scontrol release 7"),
        ("SomethingNew", "waits (SomethingNew)"),
        ("None", "has not been looked at yet"),
    ],
)
def test_the_reason_for_waiting_is_said_in_words(reason: str, words: str) -> None:
    assert words in Job("7", "PENDING", reason=reason).why_waiting()


def test_a_time_limit_that_nobody_asked_for_gives_way() -> None:
    hour = Partition("gpu", True, minutes=60, most_nodes=None)
    assert time_limit(None, Options(), 10.0, hour) == ""
    assert time_limit(None, Options(time="2:00:00"), 10.0, hour) == "2:00:00"
    assert time_limit(DEFAULT_DURATION, Options(time="2:00:00"), 10.0, hour) == "2:00:00"
    assert time_limit(DEFAULT_DURATION, Options(), 10.0, hour) == ""
    assert time_limit(DEFAULT_DURATION, Options(), 10.0, replace(hour, short=True)) == "60"
    assert time_limit(600, Options(time="2:00:00", time_margin=0), 10.0, None) == "11"
    assert time_limit(7200, Options(), 10.0, hour) == "60"


def test_options_may_come_as_text() -> None:
    options = Options.from_dict({"exclusive": "true", "sbatch": "--mail-type=END --begin 'now+1hour'", "partition": ""})
    assert options.exclusive
    assert options.sbatch == ("--mail-type=END", "--begin", "now+1hour")
    assert options.partition == ""
    assert Options.from_dict({"sbatch": ["--nice"], "exclusive": False}) == Options(sbatch=("--nice",))


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
        wait_until(lambda: others.exists() and others.read_text() == f"{expected[:-2]}2\n", DEADLINE)
    # Slurm may start a job anew without saying so: the run is not started twice.
    again = subprocess.run(["/bin/sh"], input=script, text=True, env=environment, check=False, timeout=DEADLINE)
    assert again.returncode == 75
    assert shlex.quote(odd[1]) in script


def test_commands_that_do_not_answer_are_told_from_those_that_refuse(tmp_path: Path, commands: Commands) -> None:
    program(
        tmp_path,
        "sbatch",
        "echo 'sbatch: error: Batch job submission failed: Unable to contact slurm controller' >&2; exit 1",
    )
    with pytest.raises(EngineAway, match="Unable to contact"):
        commands.run("sbatch")
    for code in ("QOSMaxSubmitJobPerUserLimit", "AssocGrpSubmitJobsLimit", "MaxSubmitJobsPerAccount"):
        program(tmp_path, "sbatch", f"echo 'sbatch: error: {code}' >&2; exit 1")
        with pytest.raises(EngineAway, match=f"takes no more jobs for now: {code}"):
            commands.run("sbatch")
    program(tmp_path, "sbatch", "echo 'sbatch: fatal: Could not establish a configuration source' >&2; exit 1")
    with pytest.raises(EngineError, match="SLURM_CONF"):
        commands.run("sbatch")
    with pytest.raises(EngineError, match="squeue was not found in"):
        commands.run("squeue")


def test_nothing_of_the_server_or_of_another_job_reaches_a_job(
    tmp_path: Path, commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SLURM_JOB_ID", "SBATCH_PARTITION", "RUNYARD_TOKEN"):
        monkeypatch.setenv(name, "secret")
    monkeypatch.setenv("SLURM_CONF", "/etc/slurm/other.conf")
    monkeypatch.setenv("MINE", "kept")
    program(tmp_path, "sbatch", "/usr/bin/env")
    said = commands.run("sbatch", extra={"RUNYARD_RUN_TOKEN": "t"}).splitlines()
    assert {"SLURM_CONF=/etc/slurm/other.conf", "MINE=kept", "RUNYARD_RUN_TOKEN=t"} <= set(said)
    assert not any("secret" in line for line in said)


@pytest.mark.parametrize(
    ("words", "help", "always"),
    [
        ("Invalid account or account/partition combination specified.", "sacctmgr show associations", True),
        ("Invalid qos specification.", "`qos`", True),
        ("Requested time limit is invalid (missing or exceeds some limit).", "max_run_duration_seconds", False),
        ("Requested node configuration is not available.", "smaller vm_size", False),
        (
            "QOSMaxWallDurationPerJobLimit. Job violates accounting/QOS policy (job submit limit, user's size and/or "
            "time limits).",
            "limits). Lower max_run_duration_seconds",
            False,
        ),
        (
            "AssocMaxNodePerJobLimit. Job violates accounting/QOS policy (job submit limit, user's size and/or time "
            "limits).",
            "limits). Ask for fewer nodes",
            False,
        ),
        ("Job violates accounting/QOS policy.", "policy. Ask for less time or fewer nodes.", False),
        ("Something new.", "Check the options", False),
    ],
)
def test_a_refusal_comes_with_a_way_out(words: str, help: str, always: bool) -> None:
    said = refusals.explain(words, Options(), {})
    assert words in said
    assert help in said
    assert refusals.for_good(words) == always


def test_an_end_that_squeue_forgot_is_read_from_a_stand_in_for_the_accounting(
    tmp_path: Path, commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slurm_poll, "HISTORY_WITHIN", 1.0)  # for the one that is said to run until then
    program(tmp_path, "squeue", "echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1")
    program(
        tmp_path,
        "sacct",
        "echo '7|PREEMPTED|0:15|n[1-2]|runyard-run-7'; echo '8|CANCELLED by 0|0:0|None assigned|runyard-run-8'; "
        "echo '9|FAILED|75:0|n1|runyard-run-9'; echo '10|RUNNING|0:0|n1|runyard-run-10'",
    )
    assert ask(commands, ["7"]) == {}
    assert ask_history(commands, ["7"])["9"].status == 75 << 8
    events, poll = Listener(), Poll(commands, "python3")
    for number in (7, 8, 9, 10):
        poll.add(str(number), f"runyard-run-{number}", f"run-{number}", events)
    told = {events.gone_runs.get(timeout=DEADLINE) for _ in range(4)}
    poll.close()
    assert told == {
        ("run-7", "preempted, Slurm job 7 on n[1-2]", True),
        ("run-8", "cancelled, Slurm job 8", False),
        ("run-9", "exit code 75, Slurm job 9 on n1", False),
        ("run-10", "Slurm does not know job 10 any more", False),
    }
