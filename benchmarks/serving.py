"""What a request to a service costs, beside other servers of models: a trivial `run`, and an MNIST-sized ONNX model.

Each server has an environment and a process of its own; eight connections ask it as fast as they are answered, by wrk
where it is installed, otherwise by a generator of our own in another process.
"""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from benchmarks import measure, venvs
from benchmarks.measure import Failed, Measure
from benchmarks.table import Table, durations, rows, size
from benchmarks.venvs import NotInstalled, Say, variables

CONNECTIONS = 8
COLUMNS = ("a server, one worker", "requests per second", "p50", "p99", "CPU per request", "memory", "start → ready")
COLUMNS_SKLEARN = ("a model of scikit-learn", "time", "memory", "beyond the script's")
SKLEARN = ("scikit-learn", "joblib", "numpy", "pandas")
ONNX = ("numpy", "onnx", "onnxruntime")
TRIVIAL = '{"data": [[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]]}'


@dataclass(frozen=True)
class Contender:
    """How a server is started, and where and with what it is asked. `{port}` stands for its port."""

    requirements: tuple[str, ...]
    command: Callable[[venvs.Environment, int, Path], list[str]]
    path: str = "/score"
    body: str = TRIVIAL
    more: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Sample:
    rate: float
    p50: float
    p99: float
    cpu: float
    memory: int
    start: float


def run(quick: bool, say: Say) -> list[Table]:
    seconds, rounds = (2, 1) if quick else (8, 3)
    with tempfile.TemporaryDirectory(prefix="serving-benchmark-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        say(f"load is made by {'wrk' if shutil.which('wrk') else 'benchmarks/children/ask_steadily.py'}")
        trivial = _table("A service with a trivial `run`", _trivial(), folder, seconds, rounds, say)
        onnx = _table("A service with an MNIST-sized ONNX model", _onnx(folder, say), folder, seconds, rounds, say)
        return [trivial, onnx, _sklearn(folder, 3 * rounds, say)]


def _sklearn(folder: Path, rounds: int, say: Say) -> Table:
    """How soon a model is served whose framework takes its time, and what the server adds to its memory."""
    python, place = venvs.peers(SKLEARN, say).python, folder / "sklearn"
    place.mkdir()
    model = str(place / "model.pkl")
    subprocess.run([python, measure.script("fit_sklearn.py"), model], env=variables(), check=True)
    served = _runyard(models=[{"name": "iris", "version": 1, "path": str(place), "framework": "ScikitLearn"}])
    source = {"PYTHONPATH": str(venvs.CHECKOUT / "src")}
    contender = Contender(
        SKLEARN,
        lambda environment, port, where: [python, *served(environment, port, where)[1:]],
        body='{"data": [[5.1, 3.5, 1.4, 0.2]]}',
        more=source,
    )

    def loaded() -> tuple[float, int]:
        began = time.monotonic()
        told = measure.answer([python, measure.script("fit_sklearn.py"), "load", model], timeout=60)
        return time.monotonic() - began, told["memory"]

    def server() -> tuple[float, int]:
        sample = _sample(contender, folder, 1, say)
        return sample.start, sample.memory

    def deployed() -> tuple[float, int]:
        with tempfile.TemporaryDirectory(prefix="serving-home-", ignore_cleanup_errors=True) as home:
            environment = venvs.runyard(say)
            settings = {"RUNYARD_HOME": home}
            try:
                command = [environment.python, measure.script("deploy_sklearn.py"), python, str(place)]
                told = measure.answer(command, settings, timeout=120)
            finally:
                subprocess.run([environment.command("runyard"), "down"], env=variables(**settings), capture_output=True)
        return told["seconds"], told["memory"]

    ways = {
        "a script that loads it, and answers once": loaded,
        "Runyard's server, from its start to its first answer": server,
        "Runyard, from `Model.deploy` to its first answer": deployed,
    }
    outcomes = measure.in_turn(ways, rounds, say)
    bare = statistics.median([memory for _, memory in outcomes[next(iter(ways))].samples])

    def row(name: str, samples: list[tuple[float, int]]) -> tuple[str, ...]:
        memory = statistics.median([each for _, each in samples])
        beyond = "–" if name == next(iter(ways)) else f"+{size(int(memory - bare))}"
        return name, durations([seconds for seconds, _ in samples]), size(int(memory)), beyond

    notes = ("In an environment that is there, with all of scikit-learn imported. Memory: of all processes.",)
    return Table(
        "A service with a model of scikit-learn", COLUMNS_SKLEARN, rows(outcomes, len(COLUMNS_SKLEARN), row), notes
    )


def _table(title: str, contenders: dict[str, Contender], folder: Path, seconds: int, rounds: int, say: Say) -> Table:
    def measured(contender: Contender) -> Measure[Sample]:
        return lambda: _sample(contender, folder, seconds, say)

    outcomes = measure.in_turn({name: measured(each) for name, each in contenders.items()}, rounds, say)
    found = rows(outcomes, len(COLUMNS), _row)
    notes = (
        f"{CONNECTIONS} connections, {seconds} s in each of {rounds} rounds, in turn. Memory: resident, of all "
        "processes of the server, after the load. CPU: of all of them too.",
    )
    return Table(title, COLUMNS, found, notes)


def _row(name: str, samples: list[Sample]) -> tuple[str, ...]:
    def middle(values: list[float]) -> float:
        return statistics.median(values)

    return (
        name,
        f"{middle([each.rate for each in samples]):,.0f} (best {max(each.rate for each in samples):,.0f})",
        f"{middle([each.p50 for each in samples]) * 1000:.2f} ms",
        f"{middle([each.p99 for each in samples]) * 1000:.2f} ms",
        f"{middle([each.cpu for each in samples]) * 1e6:.0f} µs",
        size(int(middle([float(each.memory) for each in samples]))),
        durations([each.start for each in samples]),
    )


def _sample(contender: Contender, folder: Path, seconds: int, say: Say) -> Sample:
    environment = venvs.peers(contender.requirements, say) if contender.requirements else venvs.runyard(say)
    port = measure.free_port()
    body = contender.body.encode()
    address = f"http://127.0.0.1:{port}{contender.path}"
    with _started(contender, environment, port, folder) as (process, began):
        measure.wait_until(lambda: _answers(address, body, process), "the first answer", 120, 0.02)
        start = time.monotonic() - began
        _load(address, body, 1, folder)  # what is loaded lazily
        tree = [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]
        before = sum(_cpu(each) for each in tree)
        rate, p50, p99 = _load(address, body, seconds, folder)
        spent = sum(_cpu(each) for each in tree) - before
        memory = sum(_memory(each) for each in tree)
    return Sample(rate, p50, p99, spent / max(1, rate * seconds), memory, start)


@contextlib.contextmanager
def _started(
    contender: Contender, environment: venvs.Environment, port: int, folder: Path
) -> Iterator[tuple[subprocess.Popen[bytes], float]]:
    command = contender.command(environment, port, folder)
    with (folder / f"log-{port}.txt").open("wb") as log:
        began = time.monotonic()
        process = subprocess.Popen(
            command, env=variables(**contender.more), stdout=log, stderr=log, cwd=folder, start_new_session=True
        )
    try:
        yield process, began
    finally:
        measure.end_tree(process)


def _answers(address: str, body: bytes, process: subprocess.Popen[bytes]) -> bool:
    if process.poll() is not None:
        raise Failed(f"it ended with {process.returncode} before it answered")
    request = urllib.request.Request(address, body, {"content-type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def _load(address: str, body: bytes, seconds: int, folder: Path) -> tuple[float, float, float]:
    """Requests per second, and the middle and the 99th of a hundred of their times."""
    if shutil.which("wrk") is None:
        (folder / "body.json").write_bytes(body)
        command = [sys.executable, measure.script("ask_steadily.py"), address, str(folder / "body.json")]
        told = measure.answer([*command, str(CONNECTIONS), str(seconds)], timeout=seconds + 60)
        return told["rate"], told["p50"], told["p99"]
    script = folder / "post.lua"
    script.write_text(
        f'wrk.method = "POST"\nwrk.body = [==[{body.decode()}]==]\nwrk.headers["Content-Type"] = "application/json"\n'
    )
    command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}", "--latency", "-s", str(script), address]
    said = subprocess.run(command, capture_output=True, text=True, timeout=seconds + 60).stdout
    rate = re.search(r"Requests/sec:\s+([\d.]+)", said)
    times = dict(re.findall(r"(50|99)%\s+([\d.]+(?:us|ms|s))", said))
    if rate is None or len(times) < 2 or "Non-2xx" in said or "Socket errors" in said:
        raise Failed(f"not all requests were answered: {measure.last_words(said)}")
    return float(rate[1]), _seconds(times["50"]), _seconds(times["99"])


def _seconds(text: str) -> float:
    number, unit = re.fullmatch(r"([\d.]+)(us|ms|s)", text).groups()  # type: ignore[union-attr]
    return float(number) * {"us": 1e-6, "ms": 1e-3, "s": 1.0}[unit]


def _cpu(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.NoSuchProcess:
        return 0.0
    return float(times.user + times.system)


def _memory(process: psutil.Process) -> int:
    try:
        return int(process.memory_info().rss)
    except psutil.NoSuchProcess:
        return 0


def _script(name: str) -> Callable[[venvs.Environment, int, Path], list[str]]:
    return lambda environment, port, folder: [environment.python, measure.script(name), str(port)]


def _runyard(**settings: object) -> Callable[[venvs.Environment, int, Path], list[str]]:
    def command(environment: venvs.Environment, port: int, folder: Path) -> list[str]:
        path = folder / f"settings-{port}.json"
        given = {"service": "measured", "status": str(folder / f"status-{port}.json"), "port": port, **settings}
        path.write_text(json.dumps(given))
        return [environment.python, "-m", "runyard.serving", str(path)]

    return command


def _trivial() -> dict[str, Contender]:
    script = {"source_directory": str(measure.CHILDREN), "entry_script": "serve_score.py"}
    return {
        "starlette on uvicorn, uvloop (the floor)": Contender(
            ("starlette", "uvicorn[standard]", *ONNX), _script("serve_starlette.py")
        ),
        "Runyard": Contender((), _runyard(**script)),
        "Runyard, without access log": Contender((), _runyard(**script, log_requests=False)),
        "azureml-inference-server-http": Contender(("azureml-inference-server-http",), _azure),
        "MLServer": Contender(("mlserver", *ONNX), _mlserver, "/v2/models/trivial/infer", _V2_TRIVIAL),
        "LitServe": Contender(("litserve", *ONNX), _script("serve_litserve.py"), "/predict"),
        "BentoML": Contender(("bentoml",), _bento, "/score"),
        "Ray Serve": Contender(("ray[serve]==2.60.0",), _script("serve_ray.py"), "/"),
    }


_V2_TRIVIAL = json.dumps(
    {"inputs": [{"name": "data", "shape": [1, 10], "datatype": "FP64", "data": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]}]}
)


def _azure(environment: venvs.Environment, port: int, folder: Path) -> list[str]:
    script = measure.script("serve_score.py")
    return [environment.command("azmlinfsrv"), "--entry_script", script, "--port", str(port)]


def _mlserver(environment: venvs.Environment, port: int, folder: Path) -> list[str]:
    return [environment.python, measure.script("serve_mlserver.py"), str(port), str(folder)]


def _bento(environment: venvs.Environment, port: int, folder: Path) -> list[str]:
    module = "serve_bentoml:Scored"
    return [
        *(environment.command("bentoml"), "serve", module, "--port", str(port)),
        *("--working-dir", str(measure.CHILDREN)),
    ]


def _onnx(folder: Path, say: Say) -> dict[str, Contender]:
    """A model of 784 inputs, one hidden layer and ten outputs, asked with one row."""
    maker = ("starlette", "uvicorn[standard]", *ONNX)
    path = folder / "mnist" / "model.onnx"
    path.parent.mkdir()
    try:
        environment = venvs.peers(maker, say)
        made = subprocess.run([environment.python, measure.script("make_onnx.py"), str(path)], env=variables())
        python = environment.python
    except NotInstalled as error:
        raise Failed(str(error)) from error
    if made.returncode != 0:
        raise Failed("the ONNX model could not be made")
    row = [round(number / 784, 3) for number in range(784)]
    body = json.dumps({"inputs": [{"name": "x", "shape": [1, 784], "datatype": "FP32", "data": row}]})
    model = {"name": "mnist", "version": 1, "path": str(path.parent), "framework": "Onnx"}
    infer = "/v2/models/mnist/infer"
    source = {"PYTHONPATH": str(venvs.CHECKOUT / "src")}

    def ours(batch: dict[str, object]) -> Contender:
        serve = _runyard(models=[model], batch=batch)
        return Contender(
            maker,
            lambda environment, port, folder: [python, *serve(environment, port, folder)[1:]],
            infer,
            body,
            source,
        )

    at = {"ONNX_MODEL": str(path)}
    return {
        "starlette on uvicorn, onnxruntime": Contender(maker, _script("serve_starlette.py"), infer, body, at),
        "Runyard, batch off": ours({"size": 1}),
        "Runyard, batches of up to 8": ours({"size": 8}),
        "MLServer": Contender(("mlserver", *ONNX), _mlserver, infer, body, at),
        "LitServe": Contender(("litserve", *ONNX), _script("serve_litserve.py"), "/predict", body, at),
        "LitServe, batches of up to 8": Contender(
            ("litserve", *ONNX), _script("serve_litserve.py"), "/predict", body, {**at, "BATCH": "8"}
        ),
    }
