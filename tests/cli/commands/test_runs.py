from __future__ import annotations

import json
import sys
import uuid
from typing import TYPE_CHECKING

from tests.support.waiting import wait_until

from runyard.cli import errors
from runyard.system import processes

if TYPE_CHECKING:
    from tests.cli.conftest import Shell

WITH_CHILD = """
from azureml.core import Run
with Run.get_context().child_run(name="fold") as child:
    child.log("accuracy", 1)
"""


def test_the_list_is_newest_first_and_can_be_narrowed(shell: Shell) -> None:
    script = shell.script("print(1)")
    first, second = (shell.json("submit", script, "--tag", f"number={n}") for n in (1, 2))
    experiment = first["experiment"]
    assert [run["id"] for run in shell.json("ls", "-e", experiment)] == [second["id"], first["id"]]
    assert [run["id"] for run in shell.json("ls", "-e", experiment, "--limit", "1")] == [second["id"]]
    assert [run["id"] for run in shell.json("ls", "-e", experiment, "--tag", "number=1")] == [first["id"]]
    assert shell.json("ls", "-e", experiment, "--status", "failed") == []
    assert shell.json("ls", "-e", experiment, "--older-than", "1d") == []
    assert len(shell.json("ls", "-e", experiment, "--older-than", "0s")) == 2
    assert [run["id"] for run in shell.json("ls", "-e", experiment, "--sort", "oldest")] == [first["id"], second["id"]]
    plain = shell.call("ls", "-e", experiment).stdout
    assert plain.splitlines()[0].split()[:2] == ["RUN", "STATUS"]
    assert first["id"] in plain
    assert "\x1b" not in plain


def test_children_are_listed_when_asked_for(shell: Shell) -> None:
    run = shell.completed(WITH_CHILD)
    assert [found["id"] for found in shell.json("ls", "-e", run["experiment"])] == [run["id"]]
    assert "1 child: 1 completed" in shell.call("ls", "-e", run["experiment"]).stdout
    assert "1 child: 1 completed" in shell.call("show", run["id"]).stdout
    assert "1 child: 1 completed" in shell.call("show", run["id"][:-2]).stdout
    everyone = shell.json("ls", "-e", run["experiment"], "--all-children")
    assert {found["parent_id"] for found in everyone} == {None, run["id"]}


def test_a_run_can_be_named_in_short(shell: Shell) -> None:
    older, run = shell.completed(), shell.completed()
    last = run["id"].rpartition("_")[2]
    for name in ("@last", "-", run["id"], run["id"][:-2], last, last[:-1], last[1:], run["id"][4:-1]):
        assert shell.json("show", name)["id"] == run["id"]
    assert shell.refusal("show", "project-", expect=errors.NOT_FOUND)["code"] == "run_ambiguous"
    error = shell.refusal("show", "nobody", expect=errors.NOT_FOUND)
    assert "nobody" in error["title"]
    assert "runyard ls" in error["help"]
    assert older["id"] != run["id"]


def test_an_empty_name_is_no_run(shell: Shell) -> None:
    """As of a variable of the shell that is not set."""
    run = shell.completed()
    for command in ("show", "rm"):
        assert "empty" in shell.refusal(command, "", expect=errors.USAGE)["title"]
    assert shell.json("show", run["id"])["id"] == run["id"]


def test_workspaces_are_told_apart_when_there_are_several(fresh_shell: Shell) -> None:
    script = fresh_shell.script("print(1)")
    fresh_shell.call("submit", script)
    assert "WORKSPACE" not in fresh_shell.call("ls").stdout
    config = {"subscription_id": "s", "resource_group": "g", "workspace_name": "another-place"}
    (fresh_shell.folder / "config.json").write_text(json.dumps(config))
    fresh_shell.call("submit", script)
    heads, newest, oldest = fresh_shell.call("ls").stdout.splitlines()
    assert heads.split()[2] == "WORKSPACE"
    assert (newest.split()[2], oldest.split()[2]) == ("another-place", "local")


def test_there_may_be_no_run_at_all(fresh_shell: Shell) -> None:
    assert fresh_shell.call("ls").stdout == "No runs.\n"
    assert fresh_shell.refusal("show", "@last", expect=errors.NOT_FOUND)["code"] == "run_not_found"


def test_show_tells_states_metrics_files_and_what_was_started(shell: Shell) -> None:
    run = shell.completed(
        """
        import os
        from azureml.core import Run
        Run.get_context().log("loss", 0.125)
        os.makedirs("outputs", exist_ok=True)
        open("outputs/model.bin", "wb").write(b"x" * 1500)
        """
    )
    told = shell.call("show", run["id"]).stdout
    for expected in (
        "Completed",
        "train.py",
        "States",
        "Running",
        "loss  0.125",
        "outputs/model.bin  1.5 kB",
        "http://",
    ):
        assert expected in told


def test_show_of_a_failed_run_says_what_to_do(shell: Shell) -> None:
    shell.call("submit", shell.script("import no_such_package"), "-f", expect=errors.FAILED)
    told = shell.call("show", "@last").stdout
    assert "no_such_package" in told
    assert "train.py:1" in told
    assert f"environment  none built: {sys.executable}" in told
    assert "--pip requirements.txt" in told


def test_stop_waits_until_the_run_has_ended(shell: Shell) -> None:
    script = shell.script("import os, time; print(os.getpid(), flush=True); time.sleep(600)")
    run = shell.json("submit", script)
    follower = shell.start("logs", "-f", run["id"])
    try:
        assert follower.stdout is not None
        pid = int(follower.stdout.readline())
        assert shell.json("stop", run["id"])["status"] == "Canceled"
        assert not processes.alive(pid)
        follower.communicate(timeout=60)
        assert follower.returncode == 0
    finally:
        follower.kill()
        follower.communicate()
    assert "had ended already" in shell.call("stop", run["id"]).stdout


def test_stop_without_waiting(shell: Shell) -> None:
    run = shell.json("submit", shell.script("import time; time.sleep(600)"))
    assert shell.json("stop", run["id"], "--no-wait")["status"] in ("CancelRequested", "Canceled")
    assert shell.json("stop", run["id"])["status"] == "Canceled"


RESTARTED = """
import os, time
count = os.environ["AZUREML_RUN_RESTART_COUNT"]
print("restarts", count, flush=True)
if count == "0":
    os.makedirs("outputs", exist_ok=True)
    open("outputs/checkpoint", "w").write("from the first attempt")
    print("ready", flush=True)
    time.sleep(600)
print(open("outputs/checkpoint").read())
"""


def test_a_preempted_run_starts_again_and_is_followed_through(shell: Shell) -> None:
    """The follower shows both attempts, with nothing missing and nothing twice."""
    run = shell.json("submit", shell.script(RESTARTED), "--restarts", "1")
    follower = shell.start("logs", "-f", run["id"])
    try:
        assert follower.stdout is not None
        assert [follower.stdout.readline() for _ in range(2)] == [b"restarts 0\n", b"ready\n"]
        told = shell.call("preempt", run["id"]).stdout
        assert "starts again" in told
        rest, err = follower.communicate(timeout=120)
        assert rest == b"restarts 1\nfrom the first attempt\n", err
        assert follower.returncode == 0
    finally:
        follower.kill()
        follower.communicate()
        shell.call("stop", run["id"])
    shown = shell.call("show", run["id"]).stdout
    assert "2 of at most 2" in shown
    assert shell.call("logs", run["id"], "--file", "user_logs/attempt_1/std_log.txt").stdout == "restarts 0\nready\n"
    assert shell.refusal("preempt", run["id"], expect=errors.FAILED)["code"] == "run_not_under_way"


def test_show_says_what_a_run_waits_for(shell: Shell) -> None:
    cluster = f"cluster-{uuid.uuid4().hex[:8]}"
    shell.call("compute", "create", cluster, "--max-nodes", "1")
    script = shell.script("import time; time.sleep(600)")
    holder, waiter = (shell.json("submit", script, "--compute", cluster) for _ in range(2))
    try:
        wait_until(lambda: holder["id"] in shell.call("show", waiter["id"]).stdout, "the reason of the queue")
        shown = shell.call("show", waiter["id"]).stdout
        assert "waits" in shown
        follower = shell.start("submit", "-f", script, "--compute", cluster)
        try:
            assert follower.stderr is not None
            assert follower.stderr.readline().startswith(b"Queued: "), "also in a pipe, somebody may wait"
        finally:
            follower.kill()
            follower.communicate()
        assert shell.refusal("compute", "rm", cluster, expect=errors.FAILED)["code"] == "compute_in_use"
        error = shell.refusal("submit", script, "--compute", cluster, "--nodes", "2", expect=errors.FAILED)
        assert error["code"] == "too_many_nodes"
    finally:
        for each in shell.json("ls", "-e", holder["experiment"]):
            shell.call("stop", each["id"])
    shell.call("compute", "rm", cluster)


def test_on_a_terminal_statuses_are_coloured_and_ids_whole(shell: Shell) -> None:
    run = shell.completed()
    code, shown = shell.on_terminal("ls", "-e", run["experiment"])
    assert code == 0
    assert run["id"] in shown
    assert "\x1b[32mCompleted" in shown
    code, shown = shell.on_terminal("ls", "-e", run["experiment"], "--json")
    assert "\x1b" not in shown


def test_the_largest_come_first_with_their_sizes(shell: Shell) -> None:
    script = shell.script("import os, sys; open('outputs/a', 'wb').write(os.urandom(int(sys.argv[1])))")
    ids = []
    for size in ("2000000", "300000"):
        run = json.loads(shell.call("submit", "--json", script, "--", size).stdout)
        shell.call("logs", "-f", run["id"])
        ids.append(run["id"])
    listed = shell.json("ls", "-e", run["experiment"], "--sort", "largest")
    assert [found["id"] for found in listed] == ids
    assert 2_000_000 <= listed[0]["size"] < 2_100_000
    plain = shell.call("ls", "-e", run["experiment"]).stdout.splitlines()
    assert "SIZE" in plain[0].split()
    assert "2.0 MB" in plain[2]
