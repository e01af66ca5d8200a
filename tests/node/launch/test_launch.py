from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from runyard.contracts.plan import Launch, Plan
from runyard.environments.containers.runtime import ContainerOrder, Seat, container_name
from runyard.node.launch.launch import contained, program, start
from runyard.node.problem import RunProblem

PATH = {"PATH": os.environ["PATH"]}


def test_a_python_script(tmp_path: Path) -> None:
    (tmp_path / "train.py").touch(mode=0o755)
    (tmp_path / "train.py").write_text("#!/usr/bin/env python\n")
    argv = program(
        Launch(script="train.py", arguments=["--x", "$HERE"], interpreter=sys.executable), tmp_path, {"HERE": "y"}
    )
    assert argv == [sys.executable, "train.py", "--x", "y"]


def test_an_interpreter_is_looked_for_on_the_path_of_the_run(tmp_path: Path) -> None:
    (tmp_path / "train.py").touch()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python3").symlink_to(sys.executable)
    variables = {"PATH": f"/nowhere:{tmp_path / 'bin'}"}
    assert program(Launch(script="train.py"), tmp_path, variables)[0] == str(tmp_path / "bin" / "python3")


def test_a_node_of_a_cluster_that_lacks_the_python_of_the_submitter(tmp_path: Path) -> None:
    (tmp_path / "train.py").touch()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python3").symlink_to(sys.executable)
    variables = {"PATH": str(tmp_path / "bin")}
    far = Launch(script="train.py", interpreter="/laptop/bin/python", environment={"user_managed": True})
    assert program(far, tmp_path, variables)[0] == str(tmp_path / "bin" / "python3")
    for chosen in (
        replace(far, environment={"user_managed": True, "interpreter": "/laptop/bin/python"}),
        replace(far, shell={"PATH": "/laptop/bin"}),
    ):
        with pytest.raises(RunProblem, match="/laptop/bin/python"):
            program(chosen, tmp_path, variables)


@pytest.mark.parametrize("interpreter", ["no-such-python", "/no/such/python", "~/no/such/python"])
def test_no_interpreter(tmp_path: Path, interpreter: str) -> None:
    (tmp_path / "train.py").touch()
    with pytest.raises(RunProblem, match=interpreter) as problem:
        program(Launch(script="train.py", interpreter=interpreter), tmp_path, PATH)
    assert problem.value.code == "InterpreterNotFound"
    assert "interpreter_path" in problem.value.help


@pytest.mark.parametrize("interpreter", ["/bin/ls", "/bin/sh", "/bin/true"])
def test_a_program_that_is_no_interpreter(tmp_path: Path, interpreter: str) -> None:
    """`ls train.py` ends well, and nobody would know that nothing was trained."""
    (tmp_path / "train.py").touch()
    with pytest.raises(RunProblem, match=f"{interpreter} is no Python") as problem:
        program(Launch(script="train.py", interpreter=interpreter), tmp_path, PATH)
    assert problem.value.code == "InterpreterNotPython"


def test_a_python_under_another_name(tmp_path: Path) -> None:
    (tmp_path / "train.py").touch()
    mine = tmp_path / "mine"
    mine.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    mine.chmod(0o755)
    assert program(Launch(script="train.py", interpreter=str(mine)), tmp_path, PATH)[0] == str(mine)


def test_no_script(tmp_path: Path) -> None:
    (tmp_path / "trian.py").touch()
    with pytest.raises(RunProblem, match=r"'train.py'.*holds: trian.py") as problem:
        program(Launch(script="train.py"), tmp_path, PATH)
    assert problem.value.code == "ScriptNotFound"


def test_a_shell_script_goes_to_the_shell(tmp_path: Path) -> None:
    (tmp_path / "go.sh").touch()
    argv = program(Launch(script="go.sh", arguments=["a b"]), tmp_path, PATH)
    assert argv[0].endswith("sh")
    assert argv[1:] == ["go.sh", "a b"]


def test_a_program_with_its_own_interpreter_line(tmp_path: Path) -> None:
    (tmp_path / "go.pl").write_text("#!/usr/bin/perl\n")
    assert program(Launch(script="go.pl", interpreter=sys.executable), tmp_path, PATH)[0] == sys.executable
    (tmp_path / "go.pl").chmod(0o755)
    assert program(Launch(script="go.pl", interpreter=sys.executable), tmp_path, PATH) == [str(tmp_path / "go.pl")]


def test_a_command_is_left_to_the_shell(tmp_path: Path) -> None:
    argv = program(Launch(command="echo $X && ls"), tmp_path, {"X": "y"})
    assert argv[1:] == ["-c", "echo $X && ls"]


def test_output_is_added_to_the_log_in_the_order_it_was_written(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("before\n")
    child = start(["/bin/sh", "-c", "echo out; echo err >&2; pwd; echo $X"], tmp_path, {"X": "y"}, log)
    assert child.wait(30) == 0
    assert log.read_text() == f"before\nout\nerr\n{tmp_path}\ny\n"


def test_a_program_that_cannot_be_started(tmp_path: Path) -> None:
    (tmp_path / "broken").write_text("#!/no/such/interpreter\n")
    (tmp_path / "broken").chmod(0o755)
    with pytest.raises(RunProblem, match="could not be started") as problem:
        start([str(tmp_path / "broken")], tmp_path, {}, tmp_path / "log")
    assert problem.value.code == "LaunchFailed"


def test_each_rank_has_a_container_of_its_own(tmp_path: Path) -> None:
    pytest.importorskip("docker", reason="docker-py is not installed")
    plan = Plan("r1", "r1", "e", "e", "w", "s", "g", "local", "t", "http://x", Launch(script="train.py"), sdk="/sdk")
    leaders, log = tmp_path / "leader", tmp_path / "std_log_process_3.txt"
    seat = Seat(3, 1, log, leaders / "work", (leaders / "work", leaders / "temp"))
    argv = contained(["python", "train.py"], plan, tmp_path, {"RANK": "3"}, "image", seat)
    order = ContainerOrder.load(Path(argv[-1]))
    assert argv[-1].endswith("container_3.json")
    assert (order.rank, order.node, order.log, order.work) == (3, 1, str(log), str(leaders / "work"))
    assert order.writable == [str(tmp_path), str(leaders / "work"), str(leaders / "temp")]
    assert container_name(order.run_id, order.rank) != container_name(order.run_id, 2)
