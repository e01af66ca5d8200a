"""What one server holds: live runs, real and simulated, short runs, long series, and the same work beside MLflow's."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psutil

from benchmarks import measure, snapshot, tree, venvs
from benchmarks.live import load, servers
from benchmarks.live.servers import Server
from benchmarks.measure import Failed
from benchmarks.table import NOTHING, Table, duration, not_measured, size
from benchmarks.venvs import Environment, NotInstalled, Say, variables

COLUMNS = ("one server, two cores", "measured", "aim")
UNWATCHED = 12
"""Seconds after which a run whose state somebody has asked for is not watched any more."""

WATCHED = 4
"""Real runs among the simulated ones that have followers."""

ONLY, LIVE, SECONDS = "RUNYARD_BENCHMARK_ONLY", "RUNYARD_BENCHMARK_LIVE", "RUNYARD_BENCHMARK_SECONDS"
"""Name some of the parts, as in `live_runs,silent_runs`; set the number of live runs, and for how long they live."""

SAME_WORK = ("CPU of the server", "one point", "1,000 points")


@dataclass(frozen=True)
class Amounts:
    """How much of everything."""

    real: int
    real_seconds: int
    live: int
    live_seconds: float
    silent: int
    short: int
    points: int
    rounds: int
    folder: tree.Shape


WHOLE = Amounts(
    real=20,
    real_seconds=40,
    live=5000,
    live_seconds=60,
    silent=2000,
    short=1000,
    points=1_000_000,
    rounds=15,
    folder=snapshot.FULL,
)
QUICK = Amounts(
    real=4,
    real_seconds=12,
    live=200,
    live_seconds=15,
    silent=100,
    short=40,
    points=50_000,
    rounds=3,
    folder=snapshot.QUICK,
)


def run(quick: bool, say: Say) -> list[Table]:
    amounts, ours = _asked(QUICK if quick else WHOLE), venvs.runyard(say)
    rows: list[tuple[str, ...]] = []
    only = [name for name in os.environ.get(ONLY, "").split(",") if name]
    for part in (_real_runs, _short_runs, _live_runs, _silent_runs, _long_series, _first_snapshot, _commands):
        if only and part.__name__.strip("_") not in only:
            continue
        say(part.__name__.strip("_").replace("_", " "))
        with servers.runyard(ours) as server:
            try:
                rows += part(server, ours, amounts)
            except (Failed, TimeoutError) as error:
                rows.append(not_measured(part.__name__.strip("_").replace("_", " "), str(error), len(COLUMNS)))
    notes = ("Simulated runs speak the protocol of a node runner from one process beside the server.",)
    held = Table("What one server holds", COLUMNS, tuple(rows), notes)
    return [held] if only else [held, _same_work(ours, say)]


def _asked(amounts: Amounts) -> Amounts:
    """The amounts with those that the environment asks for."""
    live, seconds = os.environ.get(LIVE), os.environ.get(SECONDS)
    return replace(
        amounts,
        live=int(live) if live else amounts.live,
        live_seconds=float(seconds) if seconds else amounts.live_seconds,
    )


# -- live runs ---------------------------------------------------------------------------------------------------------


def _real_runs(server: Server, ours: Environment, amounts: Amounts) -> list[tuple[str, ...]]:
    _submit_steady(server, ours, amounts.real, 20, amounts.real_seconds + UNWATCHED)
    time.sleep(UNWATCHED)
    runners = server.runners()
    if len(runners) != amounts.real:
        raise Failed(f"{len(runners)} of {amounts.real} runs are alive: the machine is too slow for this")
    before, began = (server.cpu(), _cpu(runners)), time.monotonic()
    time.sleep(amounts.real_seconds * 0.6)
    after, seconds = (server.cpu(), _cpu(runners)), time.monotonic() - began
    each = [(late - early) / seconds / amounts.real for late, early in zip(after, before, strict=True)]
    title = f"{amounts.real} real runs, 20 points and a line a second"
    return [
        (f"{title}: server, per run", _percent(each[0]), "0.05 %"),
        (f"{title}: node runner, per run", _percent(each[1]), "0.2 %"),
    ]


def _live_runs(server: Server, ours: Environment, amounts: Amounts) -> list[tuple[str, ...]]:
    seconds = int(amounts.live_seconds + load.STARTED_WITHIN)

    def watched() -> list[str]:
        return _submit_steady(server, ours, WATCHED, 5, seconds)

    held = load.put_under(server, ours, amounts.live, amounts.live_seconds, watched)
    title = f"{amounts.live:,} live runs, a line and 5 points a second each"
    return [
        (f"{title}: CPU", f"{held.cpu:.2f} of a core", NOTHING),
        (f"{title}: memory", size(held.memory), NOTHING),
        (f"{title}: age of a delivery, p99", _p99(held.deliveries), "5 s"),
        (f"{title}: from request to receipt, p99", _p99(held.round_trips), NOTHING),
        ("at that load: list of 100 runs, p99", _p99(held.lists), "100 ms"),
        ("at that load: page of a run, p99", _p99(held.pages), "100 ms"),
        ("at that load: a line to its follower, p99", _p99(held.followed), "500 ms"),
    ]


def _silent_runs(server: Server, ours: Environment, amounts: Amounts) -> list[tuple[str, ...]]:
    used = load.silent(server, ours, amounts.silent, amounts.live_seconds)
    return [(f"{amounts.silent:,} runs that write nothing", f"{used:.3f} of a core", "0.01 of a core")]


def _submit_steady(server: Server, ours: Environment, count: int, points: int, seconds: int) -> list[str]:
    command = [ours.python, measure.script("submit_steady.py"), str(count), str(points), str(seconds)]
    answer = measure.answer(command, {"RUNYARD_HOME": str(server.folder / "home")}, timeout=300)
    runs: list[str] = answer["runs"]
    return runs


# -- short runs --------------------------------------------------------------------------------------------------------


def _short_runs(server: Server, ours: Environment, amounts: Amounts) -> list[tuple[str, ...]]:
    command = [ours.python, measure.script("queue_runyard.py"), str(amounts.short), "8"]
    more = {"RUNYARD_HOME": str(server.folder / "home")}
    measure.answer([*command[:2], "8", "8"], more)  # what only the first runs cost
    before, of_runners = server.cpu(), _runners_cpu(server)
    answer = measure.answer(command, more, timeout=1200)
    used = (server.cpu() - before) / amounts.short
    runners = (_runners_cpu(server) - of_runners) / amounts.short
    return [
        ("a run that does nothing: server CPU", duration(used), "8 ms"),
        ("a run that does nothing: node runner CPU, its command included", duration(runners), "10 ms"),
        (f"{amounts.short:,} of them, per second", f"{amounts.short / float(answer['ended']):.0f}", "70"),
    ]


# -- long series -------------------------------------------------------------------------------------------------------


def _long_series(server: Server, ours: Environment, amounts: Amounts) -> list[tuple[str, ...]]:
    [(run_id, _)] = load.make_runs(server, 1)
    before = _stored(server)
    _log_series(server, run_id, amounts.points)
    per_point = (_stored(server) - before) / amounts.points
    server.call("GET", f"/api/runs/{run_id}/metrics?buckets=100")
    memory, waits, over = server.memory(), [0.0], threading.Event()
    other = threading.Thread(target=_knock, args=(server, waits, over))
    other.start()
    server.drain(f"/api/runs/{run_id}/metrics")
    over.set()
    other.join()
    time.sleep(2)
    title = f"a whole series of {amounts.points:,} points is read"
    return [
        ("bytes on disk per point of a typical series", f"{per_point:.1f}", "8"),
        (f"{title}: others' longest wait", duration(max(waits)), "50 ms"),
        (f"{title}: memory afterwards", f"{(server.memory() - memory) / 1e6:+.0f} MB", "+10 MB"),
    ]


def _log_series(server: Server, run_id: str, points: int) -> None:
    """A loss that was computed in single precision, at a step each 0.1 s, as `run.log` writes it."""
    import struct

    offset, began = 0, 1_790_000_000.0
    connection = server.connect()
    for first in range(0, points, 10_000):
        lines = []
        for step in range(first, min(first + 10_000, points)):
            value = struct.unpack("f", struct.pack("f", 1 / (1 + step / 1000) + (step * 2654435761 % 1000) / 1e5))[0]
            at = began + step * 0.1 + (step * 40503 % 997) / 1e6
            lines.append(f'["v","loss",{value!r},{at:.6f},{step}]\n')
        body = "".join(lines).encode()
        path = f"/api/runs/{run_id}/journals/1-main?offset={offset}"
        offset = server.call("POST", path, body=body, connection=connection)["offset"]
    connection.close()


def _knock(server: Server, waits: list[float], over: threading.Event) -> None:
    connection = server.connect()
    while not over.wait(0.005):
        began = time.monotonic()
        server.call("GET", "/api/server", connection=connection)
        waits.append(time.monotonic() - began)
    connection.close()


def _stored(server: Server) -> int:
    return sum(path.stat().st_size for path in (server.folder / "home").glob("runyard.db*"))


# -- a snapshot --------------------------------------------------------------------------------------------------------


def _first_snapshot(server: Server, ours: Environment, amounts: Amounts) -> list[tuple[str, ...]]:
    found = snapshot.first_over_floor(ours, amounts.folder, min(amounts.rounds, 3), _quiet)
    return [(f"first snapshot of {amounts.folder.words()}, over hash, copy_file_range and rename", found, "1.5×")]


# -- the command -------------------------------------------------------------------------------------------------------


def _commands(server: Server, ours: Environment, amounts: Amounts) -> list[tuple[str, ...]]:
    script = server.folder / "train" / "train.py"
    script.parent.mkdir()
    script.write_text("print('hello')\n", "utf-8")
    [(run_id, _)] = load.make_runs(server, 1)
    runyard = ours.command("runyard")
    calls = {
        "bare": [ours.python, "-c", "pass"],
        "ls": [runyard, "ls"],
        "show": [runyard, "show", run_id],
        "submit": [runyard, "submit", str(script)],
    }
    contenders = {name: _timed(command, server.folder) for name, command in calls.items()}
    samples = {name: outcome.samples for name, outcome in measure.in_turn(contenders, amounts.rounds, _quiet).items()}
    bare = statistics.median(samples["bare"])
    aims = {"ls": "6×", "show": "6×", "submit": "8×"}
    return [
        (f"`runyard {name}` over `python -c pass`", f"{statistics.median(samples[name]) / bare:.1f}×", aim)
        for name, aim in aims.items()
    ]


def _timed(command: Sequence[str], folder: Path) -> Callable[[], float]:
    def measured() -> float:
        began = time.perf_counter()
        done = subprocess.run(
            command, env=variables(RUNYARD_HOME=str(folder / "home")), capture_output=True, cwd=folder
        )
        if done.returncode != 0:
            raise Failed(measure.last_words(done.stderr.decode("utf-8", "replace")))
        return time.perf_counter() - began

    return measured


def _quiet(said: str) -> None:
    return None


# -- the same work -----------------------------------------------------------------------------------------------------


def _same_work(ours: Environment, say: Say) -> Table:
    rows: list[tuple[str, ...]] = []
    with servers.runyard(ours) as server:
        [(run_id, _)] = load.make_runs(server, 1)
        rows.append(("Runyard", *_costs(server, _runyard_points(server, run_id))))
    try:
        with servers.mlflow(say) as server:
            rows.append(("mlflow server", *_costs(server, _mlflow_points(server))))
    except (NotInstalled, Failed) as error:
        rows.append(not_measured("mlflow server", str(error), len(SAME_WORK)))
    notes = ("One request each: a delivery here; log-metric and log-batch there.",)
    return Table("The same work", SAME_WORK, tuple(rows), notes)


Send = Callable[[http.client.HTTPConnection, int], None]


def _costs(server: Server, send: Send) -> list[str]:
    costs = []
    connection = server.connect()
    for points, times in ((1, 300), (1000, 30)):
        for _ in range(5):
            send(connection, points)
        before = server.cpu_of_all()
        for _ in range(times):
            send(connection, points)
        costs.append(duration((server.cpu_of_all() - before) / times))
    connection.close()
    return costs


def _runyard_points(server: Server, run_id: str) -> Send:
    state = {"offset": 0, "step": 0}

    def send(connection: http.client.HTTPConnection, points: int) -> None:
        lines = b"".join(
            b'["v","loss",%.6f,%.3f,%d]\n'
            % (1 / (state["step"] + k + 1), 1.79e9 + state["step"] + k, state["step"] + k)
            for k in range(points)
        )
        part = {"journal": "1-main", "offset": state["offset"], "length": len(lines)}
        body = json.dumps({"parts": [part]}).encode() + b"\n" + lines
        receipt = server.call("POST", f"/api/runs/{run_id}/deliveries", body=body, connection=connection)
        state["offset"], state["step"] = receipt["parts"][0]["offset"], state["step"] + points

    return send


def _mlflow_points(server: Server) -> Send:
    api = "/api/2.0/mlflow"
    experiment = server.call("POST", f"{api}/experiments/create", {"name": "scale"})["experiment_id"]
    made: Any = server.call("POST", f"{api}/runs/create", {"experiment_id": experiment, "start_time": 0})
    run_id, state = made["run"]["info"]["run_id"], {"step": 0}

    def send(connection: http.client.HTTPConnection, points: int) -> None:
        metrics = [
            {"key": "loss", "value": 1 / (step + 1), "timestamp": 1_790_000_000_000 + step, "step": step}
            for step in range(state["step"], state["step"] + points)
        ]
        state["step"] += points
        if points == 1:
            server.call("POST", f"{api}/runs/log-metric", {"run_id": run_id, **metrics[0]}, connection=connection)
        else:
            server.call("POST", f"{api}/runs/log-batch", {"run_id": run_id, "metrics": metrics}, connection=connection)

    return send


# -- figures -----------------------------------------------------------------------------------------------------------


def _cpu(processes: Sequence[Any]) -> float:
    return float(sum(each.user + each.system for each in (process.cpu_times() for process in processes)))


def _runners_cpu(server: Server) -> float:
    """What the node runners used, with all that they had started: those that have ended, and those that rest."""
    total = 0.0
    for nursery in server.process.children():
        for runner in nursery.children():
            with contextlib.suppress(psutil.NoSuchProcess):
                times = runner.cpu_times()
                total += sum(times[:4])  # its own, and that of its children
        times = nursery.cpu_times()
        total += times.children_user + times.children_system
    return total


def _percent(part: float) -> str:
    return f"{part * 100:.3f} %"


def _p99(samples: Sequence[float]) -> str:
    if len(samples) < 2:
        raise Failed("there were too few samples")
    return duration(statistics.quantiles(samples, n=100, method="inclusive")[98])


if __name__ == "__main__":
    from benchmarks.__main__ import main

    main(["scale", *sys.argv[1:]])
