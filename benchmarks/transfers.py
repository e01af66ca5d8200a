"""A gigabyte out of an S3 server: fetched (beside `rclone copy` and s3fs), and read through a lazy mount (beside
`rclone mount`). The server is moto, on this machine: what is compared is who asks for more at
once and does less with it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks import measure, notebooks, object_server, venvs
from benchmarks.children.use_data import read_all
from benchmarks.measure import Conversation, Failed, Measure
from benchmarks.object_server import Bucket
from benchmarks.submitting import Pipe
from benchmarks.table import NOTHING, Table, durations, not_measured, rows
from benchmarks.venvs import NotInstalled, Say

FILES = 100
S3FS = ("s3fs==2026.9.0",)
AT_ONCE = "8"
FETCHED = ("1 GB of an S3 server to this disk", "time", "MB/s")
MOUNTED = ("1 GB of an S3 server, mounted", "first byte", "all of it", "MB/s")


def run(quick: bool, say: Say) -> list[Table]:
    rounds, size = (1, 1_000_000) if quick else (3, 10_000_000)
    with contextlib.ExitStack() as stack:
        try:
            folder, notebook = stack.enter_context(notebooks.opened("transfers-benchmark-", say))
            bucket = stack.enter_context(object_server.bucket(folder, FILES, size, say))
        except (NotInstalled, TimeoutError) as error:
            return [
                Table("Fetching from S3", FETCHED, (not_measured("Runyard", str(error), len(FETCHED)),)),
                Table("Reading through a lazy mount", MOUNTED, (not_measured("Runyard", str(error), len(MOUNTED)),)),
            ]
        notebook.ask("store", "bucket", "s3", bucket.settings, {"secret_access_key": bucket.secret})
        return [_fetched(bucket, notebook, folder, rounds, say), _mounted(bucket, notebook, folder, rounds, say)]


def _fetched(bucket: Bucket, notebook: Conversation, folder: Path, rounds: int, say: Say) -> Table:
    notebook.ask("lazy-above", "none")
    contenders: dict[str, Measure[float]] = {
        "Runyard, a run until its first line, cold": lambda: _started(notebook, "bucket", cold=True),
        "Runyard, the next run": lambda: _started(notebook, "bucket"),
        "Runyard, a run without data": lambda: _started(notebook),
        "Runyard, dataset.download, cold": lambda: _downloaded(notebook, folder),
    }
    missing: dict[str, str] = {}
    if shutil.which("rclone"):
        contenders[f"rclone {_version()} copy"] = lambda: _copied(bucket, folder)
    else:
        missing["rclone copy"] = "rclone is not installed (apt install rclone)"
    try:
        s3fs = venvs.peers(S3FS, say)
        contenders[f"s3fs {s3fs.version('s3fs')} of fsspec"] = lambda: _with_s3fs(s3fs, bucket, folder)
    except NotInstalled as error:
        missing["s3fs"] = str(error)
    outcomes = measure.in_turn(contenders, rounds, say)

    def row(name: str, samples: list[float]) -> tuple[str, ...]:
        small = name in ("Runyard, the next run", "Runyard, a run without data")
        return name, durations(samples), NOTHING if small else _rate(bucket, samples)

    each = f"{bucket.files} files of {bucket.bytes / bucket.files / 1e6:g} MB"
    notes = (f"{each}; rclone with --transfers {AT_ONCE}, as many as Runyard takes at once.",)
    return Table("Fetching from S3", FETCHED, rows(outcomes, len(FETCHED), row, missing), notes)


def _mounted(bucket: Bucket, notebook: Conversation, folder: Path, rounds: int, say: Say) -> Table:
    notebook.ask("lazy-above", "1MB")

    def ours() -> tuple[float, float]:
        notebook.ask("forget")
        found = notebook.ask("mount", "bucket", timeout=240)
        return _whole(bucket, found["bytes"], found["first"], found["seconds"])

    contenders: dict[str, Measure[tuple[float, float]]] = {"Runyard, dataset.mount": ours}
    missing: dict[str, str] = {}
    if shutil.which("rclone") and shutil.which("fusermount3"):
        contenders[f"rclone {_version()} mount"] = lambda: _with_rclone_mount(bucket, folder)
    else:
        missing["rclone mount"] = "rclone or fuse3 is not installed"
    outcomes = measure.in_turn(contenders, rounds, say)

    def row(name: str, samples: list[tuple[float, float]]) -> tuple[str, ...]:
        first, all_of_it = zip(*samples, strict=True)
        return name, durations(first), durations(all_of_it), _rate(bucket, all_of_it)

    note = "From before the mount, one file after the other. Runyard keeps what was read, rclone does not."
    return Table("Reading through a lazy mount", MOUNTED, rows(outcomes, len(MOUNTED), row, missing), (note,))


def _started(notebook: Conversation, name: str = "", cold: bool = False) -> float:
    if cold:
        notebook.ask("forget")
    with Pipe() as pipe:
        submitted = notebook.ask("submit", pipe.path, *([name] if name else []))["at"]
        began = pipe.read(240)
        notebook.ask("wait")
    return float(began - submitted)


def _downloaded(notebook: Conversation, folder: Path) -> float:
    notebook.ask("forget")
    with _target(folder) as target:
        return float(notebook.ask("download", "bucket", str(target), timeout=240)["seconds"])


def _copied(bucket: Bucket, folder: Path) -> float:
    with _target(folder) as target:
        command = ["rclone", "copy", "--transfers", AT_ONCE, f"s3:{bucket.name}", str(target)]
        begin = time.perf_counter()
        done = subprocess.run(command, env=bucket.rclone, capture_output=True, text=True, timeout=240)
        took = time.perf_counter() - begin
        if done.returncode:
            raise Failed(measure.last_words(done.stderr))
        _must_be_whole(bucket, target)
    return took


def _with_s3fs(environment: venvs.Environment, bucket: Bucket, folder: Path) -> float:
    with _target(folder) as target:
        said = [bucket.endpoint, bucket.key, bucket.secret, bucket.name, str(target)]
        hidden = [f"--unset={name}" for name in os.environ if name.startswith("AWS_")]
        command = ["env", *hidden, environment.python, measure.script("fetch_s3fs.py"), *said]
        took = float(measure.answer(command, timeout=240))
        _must_be_whole(bucket, target)
    return took


def _with_rclone_mount(bucket: Bucket, folder: Path) -> tuple[float, float]:
    place = folder / "mounted"
    place.mkdir(exist_ok=True)
    begin = time.perf_counter()
    process = subprocess.Popen(
        ["rclone", "mount", "--read-only", f"s3:{bucket.name}", str(place)],
        env=bucket.rclone,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        measure.wait_until(lambda: os.path.ismount(place), "the mount of rclone", interval=0.002)
        found = read_all(place, begin)
        return _whole(bucket, found["bytes"], found["first"], found["seconds"])
    finally:
        measure.end_tree(process)
        if os.path.ismount(place):
            subprocess.run(["fusermount3", "-u", "-z", str(place)], check=False)


def _whole(bucket: Bucket, count: float, first: float, seconds: float) -> tuple[float, float]:
    if count != bucket.bytes:
        raise Failed(f"{count:,.0f} of {bucket.bytes:,} bytes were read")
    return float(first), float(seconds)


def _must_be_whole(bucket: Bucket, folder: Path) -> None:
    found = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    if found != bucket.bytes:
        raise Failed(f"{found:,} of {bucket.bytes:,} bytes came")


@contextlib.contextmanager
def _target(folder: Path) -> Iterator[Path]:
    target = folder / "target"
    target.mkdir()
    try:
        yield target
    finally:
        shutil.rmtree(target)


def _rate(bucket: Bucket, samples: tuple[float, ...] | list[float]) -> str:
    return f"{bucket.bytes / 1e6 / sorted(samples)[len(samples) // 2]:,.0f}"


def _version() -> str:
    done = subprocess.run(["rclone", "version"], capture_output=True, text=True, check=False)
    return done.stdout.split("\n")[0].removeprefix("rclone v").removesuffix("-DEV")


if __name__ == "__main__":
    for table in run("--quick" in sys.argv, lambda said: print(said, file=sys.stderr)):
        from benchmarks.table import text

        print(f"\n{text(table)}")
