"""MLflow's own client at work against MLflow's own server and against Runyard: time of calls, and CPU of the servers.

Both servers have SQLite, proxy artifacts, and run with what they do by default. They are up one after the other, so
that neither takes from the other's time. `RUNYARD_BENCHMARK_ONLY=mlflow|runyard` measures one of them.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import psutil

from benchmarks import measure, venvs
from benchmarks.measure import Conversation, Failed
from benchmarks.table import NOTHING, Table, duration, durations, not_measured, ratio
from benchmarks.venvs import Environment, NotInstalled, Say, variables

TITLE = "MLflow's client, by the server that it talks to"
PEER, OURS, NO_SERVER = "mlflow server", "Runyard", "nothing"
COLUMNS = ("call", PEER, OURS, "times as fast", "a server that does nothing", f"CPU of {PEER}", f"CPU of {OURS}")
CLIENTS = 8
IN_A_RUN = "log_metric in a run"


@dataclass(frozen=True)
class Amounts:
    """How much is done. The whole is some two minutes for each server on two cores."""

    calls: int
    batches: int
    runs: int
    size: int


FULL, QUICK = Amounts(200, 100, 100_000, 1 << 30), Amounts(20, 5, 1000, 50 << 20)


@dataclass(frozen=True)
class Sample:
    """The seconds of calls, and what the server has used of a processor for each; None where that is not known."""

    seconds: list[float]
    cpu: float | None


@dataclass(frozen=True)
class Server:
    address: str
    process: psutil.Process
    more: dict[str, str]
    fill: tuple[str, ...]
    """The command that fills its database; the number of runs is to follow."""


def run(quick: bool, say: Say) -> list[Table]:
    amounts, only = QUICK if quick else FULL, os.environ.get("RUNYARD_BENCHMARK_ONLY", "")
    taken: dict[str, dict[str, Sample]] = {PEER: {}, OURS: {}, NO_SERVER: {}}
    missing = {}
    versions = ""
    with tempfile.TemporaryDirectory(prefix="mlflow-benchmark-", ignore_cleanup_errors=True) as name:
        for title, server in ((PEER, _mlflow), (OURS, _runyard)):
            if only and only != ("mlflow" if title == PEER else "runyard"):
                missing[title] = f"RUNYARD_BENCHMARK_ONLY is {only}"
                continue
            folder = Path(name) / title.partition(" ")[0]
            folder.mkdir()
            try:
                client = venvs.peers(venvs.TRACKERS, say)
                versions = client.version("mlflow")
                say(f"{title}: starting")
                with server(folder, say) as started:
                    told = partial(_say_of, say, title)
                    taken[title], nothing = _measured(started, client, folder, amounts, told)
                    taken[NO_SERVER].update(nothing)
            except (NotInstalled, Failed, TimeoutError) as error:
                missing[title] = str(error)
            shutil.rmtree(folder, ignore_errors=True)
    rows = [_row(call, taken) for call in dict.fromkeys([*taken[OURS], *taken[PEER]])]
    rows += [not_measured(title, reason, len(COLUMNS)) for title, reason in missing.items()]
    notes = (
        f"MLflow {versions}, both ways over HTTP on loopback, SQLite; CPU is that of the server by call. A server that "
        "does nothing sends bytes that it has ready: what the client takes with it, it takes with any. Searches give "
        f"100 of {amounts.runs:,} runs; the history has {amounts.batches * 1000:,} points; the file has "
        f"{amounts.size >> 20:,} MiB; eight clients log at once, and theirs is the time of all by the number of calls.",
        "In a run: a submitted script, whose node runner keeps what is logged and answers; in the other column the "
        "same script alone, with the server's address.",
    )
    return [Table(TITLE, COLUMNS, tuple(rows), notes)]


def _say_of(say: Say, title: str, said: str) -> None:
    say(f"{title}: {said}")


Samples = dict[str, Sample]


def _measured(server: Server, client: Environment, folder: Path, amounts: Amounts, say: Say) -> tuple[Samples, Samples]:
    """The samples of a server, and those of one that does nothing but say the same as ours."""
    found = {IN_A_RUN: _in_a_run(server, client, folder, amounts.calls)}
    say(f"filling with {amounts.runs:,} runs")
    measure.answer([*server.fill, str(amounts.runs)], {"PYTHONPATH": str(venvs.CHECKOUT)})
    address = {"MLFLOW_TRACKING_URI": server.address, **server.more, "TMPDIR": str(folder)}
    conversation = Conversation([client.python, measure.script("ask_mlflow.py")], folder / "client.log", **address)
    with contextlib.closing(conversation):
        conversation.answer(timeout=120)
        found.update(_asked(conversation, server.process, amounts, say))
        if "RUNYARD_HOME" not in server.more:
            return found, {}
        with _nothing(server, folder) as prepared:
            conversation.ask("through", prepared.address)
            return found, _asked(conversation, prepared.process, amounts, lambda said: None)


def _asked(conversation: Conversation, server: psutil.Process, amounts: Amounts, say: Say) -> Samples:
    found = {}
    conversation.ask("log_metric", 3)  # what the first calls load
    many = CLIENTS * (amounts.calls // 4)
    steps: tuple[tuple[str, list[object], int], ...] = (
        ("log_metric", ["log_metric", amounts.calls], amounts.calls),
        ("log_batch(1000)", ["log_batch", amounts.batches], amounts.batches),
        ("get_metric_history", ["history"], 1),
        ("log_artifact", ["upload", amounts.size], 1),
        ("download_artifacts", ["download"], 1),
        (f"log_metric, {CLIENTS} clients", ["clients", CLIENTS, amounts.calls // 4], many),
        ("search_runs, filtered", ["search", 3], 3),
        ("search_runs, ordered by a metric", ["ordered", 1], 1),
    )
    for call, words, count in steps:
        say(call)
        before = _cpu(server)
        try:
            said = conversation.ask(*words, timeout=120)
        except Failed as error:  # as a search that takes minutes: the rows before it are worth having
            say(f"{call} is not measured: {error}")
            break
        found[call] = Sample(said["seconds"], (_cpu(server) - before) / count)
    return found


def _in_a_run(server: Server, client: Environment, folder: Path, calls: int) -> Sample:
    """A script that logs: submitted to Runyard, or by itself."""
    told = folder / "seconds.json"
    script = measure.script("ask_mlflow.py")
    before = _cpu(server.process)
    if "RUNYARD_HOME" in server.more:
        project = folder / "project"
        project.mkdir()
        shutil.copy(script, project)
        ours = venvs.runyard(lambda said: None)
        command = [ours.python, measure.script("submit_mlflow.py"), str(project), client.python, str(told), str(calls)]
        stored = measure.answer(command, server.more, timeout=120)["stored"]
        if stored != calls + 1:
            raise Failed(f"{stored} of {calls + 1} points of the run are stored")
        return Sample(json.loads(told.read_text()), None)
    command = [client.python, script, str(told), str(calls)]
    more = {"MLFLOW_TRACKING_URI": server.address}
    done = subprocess.run(command, env=variables(**more), cwd=folder, capture_output=True, text=True, timeout=120)
    if done.returncode:
        raise Failed(measure.last_words(done.stderr))
    return Sample(json.loads(told.read_text()), (_cpu(server.process) - before) / calls)


def _row(call: str, taken: dict[str, Samples]) -> tuple[str, ...]:
    peer, ours, nothing = (taken[title].get(call) for title in (PEER, OURS, NO_SERVER))
    ahead = ratio(peer.seconds, ours.seconds) if peer and ours else NOTHING
    times = [durations(each.seconds) if each else NOTHING for each in (peer, ours, nothing)]
    cpu = [duration(each.cpu) if each and each.cpu is not None else NOTHING for each in (peer, ours)]
    return (call, *times[:2], ahead, times[2], *cpu)


@contextlib.contextmanager
def _mlflow(folder: Path, say: Say) -> Iterator[Server]:
    trackers, port = venvs.peers(venvs.TRACKERS, say), measure.free_port()
    command = [trackers.command("mlflow"), "server", "--host", "127.0.0.1", "--port", str(port)]
    command += [
        "--backend-store-uri",
        f"sqlite:///{folder}/mlflow.db",
        "--artifacts-destination",
        f"{folder}/artifacts",
    ]
    fill = (trackers.python, measure.script("fill_searched_mlflow.py"), f"{folder}/mlflow.db")
    with _up(command, port, folder, {"TMPDIR": str(folder)}) as process:
        yield Server(f"http://127.0.0.1:{port}", process, {}, fill)


@contextlib.contextmanager
def _runyard(folder: Path, say: Say) -> Iterator[Server]:
    ours, home, port = venvs.runyard(say), folder / "home", measure.free_port()
    more = {"RUNYARD_HOME": str(home)}
    with _up([ours.command("runyard"), "serve", "--port", str(port)], port, folder, more) as process:
        token = (home / "token").read_text("utf-8").strip()
        fill = (ours.python, measure.script("fill_searched_runyard.py"), str(home))
        address = f"http://127.0.0.1:{port}/mlflow/local"
        yield Server(address, process, {**more, "MLFLOW_TRACKING_TOKEN": token}, fill)


@contextlib.contextmanager
def _nothing(server: Server, folder: Path) -> Iterator[Server]:
    port, at = measure.free_port(), urlsplit(server.address)
    command = [sys.executable, measure.script("answer_prepared.py"), str(port), f"{at.scheme}://{at.netloc}"]
    with _up(command, port, folder, server.more) as process:
        yield Server(f"http://127.0.0.1:{port}{at.path}", process, server.more, ())


@contextlib.contextmanager
def _up(command: list[str], port: int, folder: Path, more: dict[str, str]) -> Iterator[psutil.Process]:
    log = folder / "server.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, stdout=output, stderr=output, cwd=folder, env=variables(**more), start_new_session=True
        )
    try:
        measure.wait_until(_healthy(process, port, log), "a healthy server", timeout=120, interval=0.1)
        yield psutil.Process(process.pid)
    finally:
        measure.end_tree(process)


def _healthy(process: subprocess.Popen[bytes], port: int, log: Path) -> Callable[[], bool]:
    def asked() -> bool:
        if process.poll() is not None:
            raise Failed("the server ended: " + measure.last_words(log.read_text("utf-8", "replace")))
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False

    return asked


def _cpu(server: psutil.Process) -> float:
    """Seconds that the server's processes have used so far."""
    total = 0.0
    for each in [server, *server.children(recursive=True)]:
        with contextlib.suppress(psutil.NoSuchProcess):
            times = each.cpu_times()
            total += times.user + times.system + times.children_user + times.children_system
    return total


if __name__ == "__main__":
    from benchmarks.__main__ import main

    main(["mlflow", *sys.argv[1:]])
