"""The life of a run beside a real server: what the script did and wrote is what the server knows at the end."""

from __future__ import annotations

import json
import os
import shutil
import signal
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from runyard.contracts.distribution import Distribution
from runyard.node import state
from runyard.node.launch import processes

if TYPE_CHECKING:
    from tests.node.conftest import Gang, Node, Server

Prepare = Callable[..., "Node"]
Until = Callable[[Callable[[], object], str], None]

READY = "print('ready', flush=True)\n"
SLEEP = "import time\n" + READY + "time.sleep(600)\n"


def test_a_script_that_ends_well(node: Prepare) -> None:
    script = """
import json, os, sys
from runyard.contracts import journal
print('hello', sys.argv[1:], flush=True)
print('from stderr', file=sys.stderr)
with open('outputs/model.txt', 'w') as f: f.write('weights')
with open('logs/train.log', 'w') as f: f.write('epoch 1')
folder = os.environ['RUNYARD_TELEMETRY']
for name in ('spool', 'journal'): os.makedirs(f'{folder}/{name}', exist_ok=True)
with open(folder + '/spool/a', 'w') as f: f.write('image')
with open(folder + '/journal/' + journal.file_name(os.environ['AZUREML_RUN_ID'], str(os.getpid())), 'wb') as f:
    f.write(journal.line('v', 'loss', 0.5, 1.0, None) + journal.line('f', 'pictures/a.png', 'a'))
"""
    made = node({"train.py": script}, arguments=["--id", "$AZUREML_RUN_ID", "$NOT_SET"])
    result = made.finish()
    assert result["status"] == "Completed"
    assert result["error"] is None
    assert result["warnings"] == []
    expected = f"hello ['--id', '{made.run.id}', '$NOT_SET']\nfrom stderr\n"
    assert made.run.read("user_logs/std_log.txt").decode() == expected
    assert made.run.read("outputs/model.txt") == b"weights"
    assert made.run.read("logs/train.log") == b"epoch 1"
    assert made.run.read("pictures/a.png") == b"image"
    assert made.run.metric("loss") == [0.5]
    own = made.run.read("system_logs/runner.log").decode()
    assert "started process" in own
    assert "exit code 0" in own


LOADED = """
from runyard.node.launch import launch
def start(argv, work, *rest, original=launch.start):
    (work.parent.parent / "loaded").write_text(" ".join(sys.modules))
    return original(argv, work, *rest)
launch.start = start
"""


def test_only_what_a_start_needs_is_loaded_before_it(node: Prepare) -> None:
    """What only a gang or the delivery needs would make every start slower."""
    made = node({"train.py": ""})
    made.start(but=f"exec({LOADED!r})")
    assert made.wait()["status"] == "Completed"
    loaded = (made.folder.parent / "loaded").read_text().split()
    assert "runyard.node.crew" in loaded
    packages = [f"runyard.{name}" for name in ("node.gang", "node.mpi", "node.delivery", "client", "environments")]
    wake = {"runyard.node.delivery", "runyard.node.delivery.wake"}  # the pipe is made with the folders
    assert [name for name in loaded if name.startswith(tuple(packages)) and name not in wake] == []
    costly = {"socket", "ssl", "http.client", "random", "runyard.node.launch.frameworks"}
    assert costly & set(loaded) == set()


def test_the_states_come_in_order(node: Prepare) -> None:
    result = node({"train.py": ""}).finish()
    assert [state["status"] for state in result["states"]] == ["Running", "Finalizing", "Completed"]


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("import sys; sys.exit(3)", "exit code 3"),
        ("import os; os._exit(255)", "exit code 255"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "killed by SIGKILL (signal 9)"),
        ("import ctypes; ctypes.string_at(0)", "killed by SIGSEGV (signal 11)"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGTERM)", "killed by SIGTERM (signal 15)"),
    ],
)
def test_how_a_script_ended_in_words(node: Prepare, script: str, words: str) -> None:
    result = node({"train.py": script}).finish()
    assert result["status"] == "Failed"
    assert result["error"]["code"] == "UserError"
    assert result["error"]["exit"]["words"] == words


def test_an_exception_is_told_with_its_place(node: Prepare) -> None:
    files = {
        "train.py": "from lib import model\nmodel.fit()\n",
        "lib/model.py": "import json\ndef fit():\n    json.loads('{')\n",
    }
    error = node(files).finish()["error"]
    assert error["exception"]["type"] == "json.decoder.JSONDecodeError"
    places = [(each["file"], each["line"], each["function"]) for each in error["exception"]["frames"]]
    assert places == [("train.py", 2, "<module>"), ("lib/model.py", 3, "fit")]
    assert error["exit"]["code"] == 1


def test_a_missing_package_is_named(node: Prepare) -> None:
    error = node({"train.py": "import skimage_that_is_not_there"}).finish()["error"]
    assert 'add_pip_package("skimage_that_is_not_there")' in error["help"]


@pytest.mark.parametrize(
    ("files", "launch", "code"),
    [
        ({"other.py": ""}, {}, "ScriptNotFound"),
        ({"train.py": ""}, {"interpreter": "/no/such/python"}, "InterpreterNotFound"),
    ],
)
def test_a_script_that_cannot_be_started(node: Prepare, files: Any, launch: Any, code: str) -> None:
    made = node(files)
    plan = json.loads((made.folder / "plan.json").read_text())
    plan["launch"].update(launch)
    (made.folder / "plan.json").write_text(json.dumps(plan))
    result = made.finish()
    assert result["status"] == "Failed"
    assert result["error"]["code"] == code
    assert result["error"]["help"]


def test_a_snapshot_that_lost_an_object(node: Prepare, tmp_path: Path) -> None:
    made = node({"train.py": "", "data.bin": "x"})
    shutil.rmtree(tmp_path / "objects")
    error = made.finish()["error"]
    assert error["code"] == "SnapshotIncomplete"
    assert "data.bin" in error["message"]


def test_a_command(node: Prepare) -> None:
    made = node({"a.txt": "content"}, command="cat a.txt && echo $AZUREML_ARM_PROJECT_NAME > outputs/name; exit 5")
    result = made.finish()
    assert result["error"]["exit"]["code"] == 5
    assert made.run.read("user_logs/std_log.txt") == b"content"
    assert made.run.read("outputs/name") == b"trial\n"


def test_cancel_ends_everything_even_what_fled(node: Prepare) -> None:
    script = """
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
subprocess.Popen(['sleep', '600'], start_new_session=True)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execve('/bin/sleep', ['sleep', '601'], {})
    os._exit(0)
os.wait()
print('ready', os.getpid(), flush=True)
time.sleep(600)
"""
    made = node({"train.py": script}, plan={"grace_seconds": 0.3})
    runner = made.start()
    made.wait_for_output("ready")
    tree = processes.descendants([runner.pid], processes.table())
    assert len(tree) == 3
    runner.send_signal(signal.SIGTERM)
    error = made.wait()["error"]
    assert error["exit"]["words"] == "ended by SIGKILL because the run was cancelled"
    assert not tree & set(processes.table())


def test_cancel_lets_a_script_say_goodbye(node: Prepare) -> None:
    script = """
import signal, sys, time
def goodbye(*_):
    with open('outputs/saved', 'w') as f: f.write('yes')
    print('goodbye', flush=True)
    sys.exit(0)
signal.signal(signal.SIGTERM, goodbye)
print('ready', flush=True)
time.sleep(600)
"""
    made = node({"train.py": script})
    runner = made.start()
    made.wait_for_output("ready")
    runner.send_signal(signal.SIGTERM)
    result = made.wait()
    assert result["error"]["exit"]["code"] == 0
    assert made.run.read("outputs/saved") == b"yes"
    assert made.run.read("user_logs/std_log.txt") == b"ready\ngoodbye\n"


@pytest.mark.parametrize("distribution", [Distribution(), Distribution(processes=2), Distribution(nodes=2)])
def test_a_cluster_that_stops_a_run_signals_its_processes_too(
    gang: Callable[..., Gang], until: Until, distribution: Distribution
) -> None:
    """By the time a node runner looks, they may have died of it: the run is cancelled, it has not failed."""
    made = gang({"train.py": "import os\nopen(f'logs/{os.getpid()}', 'w').close()\n" + SLEEP}, distribution)
    made.start()
    logs = made.nodes[0].folder / "work" / "logs"  # which the nodes share
    until(lambda: logs.exists() and len(list(logs.iterdir())) == len(distribution.ranks()), "all processes")
    script = [int(path.name) for path in logs.iterdir()]
    runners = [node.runner.pid for node in made.nodes if node.runner is not None]
    for number, pids in ((signal.SIGSTOP, runners), (signal.SIGTERM, [*script, *runners])):
        for pid in pids:
            os.kill(pid, number)
    until(lambda: not set(script) & set(processes.table()), "the end of the processes")
    for pid in runners:
        os.kill(pid, signal.SIGCONT)
    error = made.wait()["error"]
    assert error["code"] == "Canceled"
    assert error["message"].endswith("because the run was cancelled.")


def test_a_time_limit(node: Prepare) -> None:
    result = node({"train.py": SLEEP}, max_run_duration_seconds=1).finish()
    assert result["status"] == "Failed"
    assert result["error"]["code"] == "MaxRunDurationExceeded"
    assert "ran longer than max_run_duration_seconds (1 s)" in result["error"]["message"]
    assert result["error"]["exit"]["words"].endswith("because its time was up"), "the sentence of the message, once"


def test_what_a_script_leaves_behind_is_ended(node: Prepare) -> None:
    made = node({"train.py": "import subprocess\nsubprocess.Popen(['sleep', '600'], start_new_session=True)\n"})
    result = made.finish()
    assert result["status"] == "Completed"
    assert made.processes() == []
    assert "that the script has left" in made.run.read("system_logs/runner.log").decode()


def test_a_server_that_is_away_for_the_whole_script(node: Prepare, own_server: Server, until: Until) -> None:
    script = """
import os, sys
from runyard.contracts import journal
path = os.environ['RUNYARD_TELEMETRY'] + '/journal/' + journal.file_name(os.environ['AZUREML_RUN_ID'], '1')
os.makedirs(os.path.dirname(path), exist_ok=True)
with open(path, 'wb') as f:
    for step in range(20000):
        print('step', step, 'ä', flush=False)
        f.write(journal.line('v', 'loss', float(step), 1.0, step))
with open('outputs/model', 'wb') as f: f.write(b'x' * 1000)
print('done', flush=True)
"""
    made = node({"train.py": script}, server=own_server)
    own_server.kill()
    made.start()
    made.wait_for_output("done")
    until(lambda: (left := state.load(made.folder)) is not None and left.phase == "ended", "the end of the script")
    expected = made.log.read_bytes()
    own_server.start()
    assert made.wait()["status"] == "Completed"
    assert made.run.read("user_logs/std_log.txt") == expected
    assert made.run.metric("loss") == [float(step) for step in range(20000)]
    assert made.run.read("outputs/model") == b"x" * 1000


def test_a_server_killed_in_the_middle(node: Prepare, own_server: Server, tmp_path: Path, until: Until) -> None:
    script = """
import os, sys, time
n = 0
while not os.path.exists(sys.argv[1]):
    print('line', n)
    n += 1
    time.sleep(0.001)
print('done', n)
"""
    made = node({"train.py": script}, server=own_server, arguments=[str(tmp_path / "stop")])
    made.start()
    for _ in range(2):
        until(lambda: made.run.files().get("user_logs/std_log.txt", 0) > 1000, "the log to arrive")
        own_server.kill()
        own_server.start()
    (tmp_path / "stop").touch()
    assert made.wait()["status"] == "Completed"
    lines = made.run.read("user_logs/std_log.txt").decode().splitlines()
    count = len(lines) - 1
    assert lines == [*(f"line {number}" for number in range(count)), f"done {count}"]


def test_a_burst_of_ten_megabytes(node: Prepare) -> None:
    script = "import sys\nline = 'x' * 99 + '\\n'\nfor _ in range(100): sys.stdout.write(line * 1000)\n"
    made = node({"train.py": script})
    assert made.finish()["status"] == "Completed"
    assert made.run.read("user_logs/std_log.txt") == b"x" * 99 + (b"\n" + b"x" * 99) * 99_999 + b"\n"


def test_logs_arrive_while_the_script_runs(node: Prepare, until: Until) -> None:
    made = node({"train.py": "open('logs/a', 'w').write('early')\n" + SLEEP})
    runner = made.start()
    until(lambda: made.run.files().get("logs/a") == 5, "the file in logs")
    until(lambda: made.run.files().get("user_logs/std_log.txt") == 6, "the standard output")
    runner.send_signal(signal.SIGTERM)
    made.wait()


def test_a_folder_that_vanishes_takes_its_processes_with_it(node: Prepare, until: Until) -> None:
    made = node({"train.py": SLEEP})
    runner = made.start()
    made.wait_for_output("ready")
    tree = processes.descendants([runner.pid], processes.table())
    shutil.rmtree(made.folder)
    assert runner.wait(60) == 0
    assert not tree & set(processes.table())


def test_a_run_that_is_deleted_takes_its_processes_with_it(node: Prepare) -> None:
    made = node({"train.py": SLEEP})
    runner = made.start()
    made.wait_for_output("ready")
    client = made.run.server.client
    client.post(f"/api/runs/{made.run.id}/facts", {"fact": "ended", "outcome": "completed"})
    client.delete(f"/api/runs/{made.run.id}")
    assert runner.wait(60) == 0
    assert not made.folder.exists()


def test_a_stop_that_comes_first_of_all(node: Prepare, tmp_path: Path) -> None:
    made = node({"train.py": READY, **{f"{number}.txt": str(number) for number in range(3000)}})
    runner = made.start()
    os.kill(runner.pid, signal.SIGSTOP)
    os.kill(runner.pid, signal.SIGTERM)
    os.kill(runner.pid, signal.SIGCONT)
    code = runner.wait(60)
    # Python itself may not have begun yet; the engine then finds a runner that died, and sends a rescue.
    assert code in (0, -signal.SIGTERM)
    if code:
        assert made.finish("--rescue")["error"]["code"] == "NodeRunnerLost"
    else:
        assert made.run.get()["error"]["code"] == "Canceled"


def test_nothing_is_uploaded_when_the_user_does_not_want_it(node: Prepare) -> None:
    script = "open('outputs/a', 'w').close()\nimport os\nos.makedirs('tb/x')\nopen('tb/x/events', 'w').write('e')\n"
    made = node({"train.py": script}, output_collection=False, directories_to_watch=["tb", "../up"])
    result = made.finish()
    assert "outputs/a" not in made.run.files()
    assert made.run.read("tb/x/events") == b"e"
    [warning] = result["warnings"]
    assert "../up" in warning["message"]


def test_a_second_runner_leaves_the_folder_alone(node: Prepare) -> None:
    made = node({"train.py": SLEEP})
    first = made.start()
    made.wait_for_output("ready")
    assert made.start("--rescue").wait(60) == 0
    assert made.folder.exists()
    first.send_signal(signal.SIGTERM)
    first.wait(60)


def test_files_that_the_script_made_read_only_go_too(node: Prepare) -> None:
    script = "import os\nos.makedirs('outputs/a')\nopen('outputs/a/b', 'w').write('x')\nos.chmod('outputs/a', 0o555)\n"
    made = node({"train.py": script})
    assert made.finish()["status"] == "Completed"
    assert made.run.files()["outputs/a/b"] == 1


def test_what_a_script_does_to_its_telemetry_never_changes_how_it_ended(node: Prepare) -> None:
    ruin = """
        import os, shutil
        journals = os.path.join(os.environ["RUNYARD_TELEMETRY"], "journal")
        shutil.rmtree(journals, ignore_errors=True)
        os.makedirs(os.path.dirname(journals), exist_ok=True)
        open(journals, "w").close()
        with open("outputs/model", "w") as file:
            file.write("kept")
    """
    trial = node({"train.py": textwrap.dedent(ruin)})
    ended = trial.finish()
    assert ended["status"] == "Completed"
    assert trial.run.read("outputs/model") == b"kept"
    assert "could not be read" in ended["warnings"][0]["message"]
