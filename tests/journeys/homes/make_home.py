"""Makes the home folder that a version of Runyard leaves to the next one, as an archive for test_upgrade.py.

    <a venv with that version>/bin/python tests/journeys/homes/make_home.py <archive>.tar.xz

It works through what users call, so it fits every version. Server, node runners and scripts are killed as a power cut
would; processes cannot be packed, so the run that shall be found alive gets its folder back as its node runner found
it, and the test starts that node runner again, with the code of that version (`sdk/` in the home).
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import textwrap
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

PLACE = Path("/tmp/yard")  # no path of anybody's machine; the test replaces it
HOME = PLACE / "home"
MINIMAL = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LOGNAME": "ana", "HOME": str(PLACE), "RUNYARD_HOME": str(HOME)}

SCRIPTS = {
    "train.py": """
        import os
        from azureml.core import Run

        run = Run.get_context()
        for step in range(20):
            run.log("loss", 1 / (step + 1), step=step)
        run.log_list("rates", [0.1, 0.01])
        run.log_row("scores", fold=1, accuracy=0.5)
        run.log_row("scores", fold=2, accuracy=0.75)
        run.log_table("history", {"epoch": [1, 2], "accuracy": [0.5, 0.75]})
        run.log("note", "a text")
        run.tag("stage", "done")
        run.add_properties({"data": "digits"})
        child = run.child_run("fold")
        child.log("accuracy", 0.75)
        child.complete()
        os.makedirs("outputs/deep", exist_ok=True)
        open("outputs/deep/model.txt", "w").write("weights " * 1000)
        os.makedirs("logs", exist_ok=True)
        open("logs/notes.txt", "w").write("a note")
        print("trained")
    """,
    "fail.py": "raise ValueError('no such digit')\n",
    "wait.py": """
        import os, sys, time
        from azureml.core import Run

        def wait_for(name):
            while not os.path.exists(name):
                time.sleep(0.02)

        run = Run.get_context()
        folder = sys.argv[1]
        wait_for(folder + "/go")
        for step in range(50):
            run.log("loss", float(step))
            print("step", step, flush=True)
        wait_for(folder + "/more")
        for step in range(50, 100):
            run.log("loss", float(step))
            print("step", step, flush=True)
        os.makedirs("outputs", exist_ok=True)
        open("outputs/model.txt", "w").write("weights")
        open(folder + "/written", "w").close()
        wait_for(folder + "/end")
    """,
    "lead.py": """
        import sys, time
        from azureml.core import Experiment, Workspace

        run = Experiment(Workspace.from_config(), "notebook").start_logging(snapshot_directory=None)
        run.log("loss", 1.0)
        run.flush()
        print(run.id, flush=True)
        sys.stdin.readline()
        run.log("loss", 2.0)
        print("written", flush=True)
        time.sleep(600)
    """,
}


def main(archive: Path) -> None:
    if os.environ.get("RUNYARD_HOME") != str(HOME):  # nothing of the maker's shell shall be stored
        os.execve(sys.executable, [sys.executable, os.path.abspath(__file__), str(archive.absolute())], MINIMAL)
    PLACE.mkdir()
    try:
        for name, script in SCRIPTS.items():
            (PLACE / "project").mkdir(exist_ok=True)
            (PLACE / "project" / name).write_text(textwrap.dedent(script))
        os.chdir(PLACE / "project")
        made = fill()
        (HOME / "made.json").write_text(json.dumps(made, indent=1))
        pack(archive)
    finally:
        kill_all()
        shutil.rmtree(PLACE)


def fill() -> dict[str, Any]:
    """Everything a home can hold; returns what the test cannot know: ids, and the place where it was made."""
    import runyard
    from azureml.core import Environment, Experiment, Workspace
    from azureml.core.compute import AmlCompute, ComputeTarget

    workspace = Workspace.from_config()
    server = json.loads((HOME / "server.json").read_text())["pid"]
    made = {"version": runyard.__version__, "place": str(PLACE)}
    experiment = Experiment(workspace, "digits")
    for key, script in (("completed", "train.py"), ("failed", "fail.py")):
        run = experiment.submit(config(script))
        run.wait_for_completion(raise_on_error=False)
        made[key] = run.id
    environment = Environment("trees")
    environment.python.conda_dependencies.add_pip_package("scikit-learn==1.5.0")
    environment.register(workspace)
    environment.python.conda_dependencies.set_pip_option("--extra-index-url https://ana:word@index.example.org/simple")
    environment.register(workspace)
    target = AmlCompute.provisioning_configuration(vm_size="STANDARD_D2_V2", max_nodes=4)
    ComputeTarget.create(workspace, "cpu-cluster", target).wait_for_completion()
    with experiment.start_logging(snapshot_directory=None) as run:
        run.log("accuracy", 0.5)
        run.upload_file("outputs/report.txt", str(PLACE / "project" / "fail.py"))
    made["interactive"] = run.id

    signs = PLACE / "rescued"
    signs.mkdir()
    (signs / "go").touch()
    rescued = experiment.submit(config("wait.py", signs))
    wait(lambda: len(rescued.get_metrics("loss").get("loss", [])) == 50)
    alive = experiment.submit(config("wait.py", PLACE / "alive"))
    wait(lambda: alive.get_status() == "Running")
    made.update(rescued=rescued.id, alive=alive.id)
    leader = subprocess.Popen(
        [sys.executable, "lead.py"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    )
    assert leader.stdin is not None
    assert leader.stdout is not None
    made["led"] = leader.stdout.readline().strip()

    os.kill(server, signal.SIGKILL)  # from here on nothing is delivered
    (signs / "more").touch()
    wait((signs / "written").exists)
    leader.stdin.write("\n")
    assert leader.stdout.readline() == "written\n"
    kill_all()
    leader.wait()
    folder = HOME / "runs" / str(alive.id)
    for path in folder.iterdir():
        if path.name not in ("plan.json", "manifest"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    return made


def config(script: str, *arguments: Path) -> Any:
    from azureml.core import Environment, ScriptRunConfig

    environment = Environment("user-managed-env")
    environment.python.user_managed_dependencies = True
    environment.python.interpreter_path = "python3"
    return ScriptRunConfig(
        ".", script, [str(each) for each in arguments], compute_target="local", environment=environment
    )


def wait(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 300
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError("this version does not do what it should")
        time.sleep(0.05)


def kill_all() -> None:
    """Every process that has to do with the home, at once: nobody may see another's death and act on it."""
    ours = [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid() and of_home(name)]
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for pid in ours:
            with suppress(ProcessLookupError):
                os.kill(pid, number)
    wait(lambda: not any(of_home(str(pid)) for pid in ours))


def of_home(pid: str) -> bool:
    try:
        seen = Path(f"/proc/{pid}/cmdline").read_bytes() + Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return False
    return str(HOME).encode() in seen


def pack(archive: Path) -> None:
    """Without what another machine cannot use or would make anew, and without what tells of this one."""
    for path in (*HOME.glob("runs/*/state.json"), *HOME.glob("runs/*/runner.lock")):
        told = json.loads(path.read_text().splitlines()[-1])
        if "machine" in told:
            path.write_text(json.dumps({**told, "machine": "another machine"}))
    for name in ("server.log", "server.lock", "start.lock", "cache"):
        path = HOME / name
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)

    def plain(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
        member.uid = member.gid = 0
        member.uname = member.gname = ""
        return None if member.name.endswith("__pycache__") else member

    with tarfile.open(archive, "w:xz", preset=9) as file:
        file.add(HOME, "home", filter=plain)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
