"""What can be wrong with Runyard on this machine: one function per subject. Nothing is changed."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from runyard import __version__
from runyard.cli import api
from runyard.cli.checks import engine_checks, run_folders, service_checks, store_checks
from runyard.cli.checks.check import FAIL, OK, WARN, Check
from runyard.cli.output import formatting
from runyard.client.http import ClientProblem, healthy
from runyard.contracts import home as homes
from runyard.contracts.installation import installation
from runyard.system import processes
from runyard.system.folders import walk

LITTLE_SPACE = 2_000_000_000
NO_SPACE = 100_000_000
SQLITE_HEADER = b"SQLite format 3\x00"
LEFTOVER_SECONDS = 3600


def all_checks(home: Path, deep: bool = False) -> Iterator[Check]:
    yield python_version()
    yield runyard_itself()
    yield from home_folder(home)
    yield from secrets(home)
    remote = "RUNYARD_SERVER" in os.environ
    here = [] if remote else list(server_here(home))
    yield from here
    server = api.connect_if_running(home, timeout=5.0) if not here else None
    if server is not None:
        yield from server_answers(server)
        yield from service_checks.services(server)
    yield from database(home)
    yield from git()
    yield from builders()
    yield from environments(home)
    yield from engine_checks.engines(server, here=not remote)
    if not remote:
        yield from run_folders.run_folders(home, server)
    yield from telemetry(home)
    yield from half_uploads(home)
    yield from store_checks.waiting(home)
    if deep:
        yield from store_checks.objects(home)


def python_version() -> Check:
    return Check("Python", OK, f"{'.'.join(map(str, sys.version_info[:3]))} at {sys.executable}")


def runyard_itself() -> Check:
    own = installation()
    return Check("Runyard", OK, f"{__version__} {own.source()}; to upgrade it: {own.upgrade()}")


def home_folder(home: Path) -> Iterator[Check]:
    if not home.exists():
        parent = next(folder for folder in home.parents if folder.exists())
        if not os.access(parent, os.W_OK | os.X_OK):
            yield Check(
                "home", FAIL, f"{home} is not there and cannot be made", f"Make {parent} writable, or set RUNYARD_HOME."
            )
        else:
            yield Check("home", OK, f"{home} is not there yet; the first server makes it")
        return
    if not home.is_dir() or not os.access(home, os.R_OK | os.W_OK | os.X_OK):
        yield Check(
            "home", FAIL, f"{home} is no folder that you can write to", "Change its rights, or set RUNYARD_HOME."
        )
        return
    mode = home.stat().st_mode & 0o777
    if mode & 0o077:
        yield Check("home", WARN, f"{home} is open to other users (mode {mode:o})", f"chmod 700 {home}")
    else:
        yield Check("home", OK, f"{home}, mode {mode:o}")
    free = shutil.disk_usage(home).free
    verdict = FAIL if free < NO_SPACE else WARN if free < LITTLE_SPACE else OK
    yield Check("space", verdict, f"{formatting.size(free)} free", "`runyard du` shows what takes it.")


def secrets(home: Path) -> Iterator[Check]:
    for name in ("token", "secret"):
        path = home / name
        try:
            mode = path.stat().st_mode & 0o777
        except FileNotFoundError:
            continue
        if mode & 0o077:
            yield Check(
                name,
                FAIL,
                f"{path} can be read by other users (mode {mode:o})",
                f"chmod 600 {path}; then `runyard down`, delete it, `runyard up`",
            )
        else:
            yield Check(name, OK, f"only you can read {path}")


def server_here(home: Path) -> Iterator[Check]:
    """The server of this home, as a process."""
    running = homes.read_server(home)
    if running is None:
        yield Check("server", OK, "not running; it starts when it is needed")
        yield from default_port()
    elif not processes.alive(running.pid):
        message = f"process {running.pid} is gone without having said so"
        yield Check("server", WARN, message, f"`runyard up` starts it again; see {home / 'server.log'}")
    elif not healthy(running.url):
        message = f"process {running.pid} does not answer at {running.url}"
        yield Check("server", FAIL, message, f"See {home / 'server.log'}.")


def default_port() -> Iterator[Check]:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", homes.DEFAULT_PORT))
        except OSError as error:
            message = f"{homes.DEFAULT_PORT} cannot be had: {error.strerror}"
            yield Check("port", WARN, message, "The server will take another one, unless `--port` names one.")
        else:
            yield Check("port", OK, f"{homes.DEFAULT_PORT} is free")


def server_answers(server: api.Api) -> Iterator[Check]:
    """The server, as it answers: its version, and whether it reaches what it needs."""
    url = server.client.url
    try:
        version = str(server.client.get("/api/server")["version"])
        server.client.get("/ready")
    except ClientProblem as problem:
        yield Check("server", FAIL, problem.title, problem.help)
        return
    if version == __version__:
        yield Check("server", OK, f"version {version} at {url}, ready")
    else:
        message = f"version {version} runs at {url}, this command is {__version__}"
        yield Check("server", WARN, message, "Where it runs: `runyard down`, then `runyard up`. Runs go on meanwhile.")


def database(home: Path) -> Iterator[Check]:
    path = home / "runyard.db"
    if not path.exists():
        return
    with path.open("rb") as file:
        header = file.read(len(SQLITE_HEADER))
    if header and header != SQLITE_HEADER:
        yield Check(
            "database",
            FAIL,
            f"{path} is not a database",
            f"Put a backup in its place. To begin afresh, move all of {home} away: its files belong to this database.",
        )
        return
    size = sum(part.stat().st_size for part in home.glob("runyard.db*"))
    yield Check("database", OK, f"{path}, {formatting.size(size)}")


def git() -> Iterator[Check]:
    found = shutil.which("git")
    if found:
        yield Check("git", OK, found)
    else:
        yield Check("git", WARN, "not found", "Without git, runs do not note the commit they were started from.")


def builders() -> Iterator[Check]:
    """The tools that build environments. A missing one matters only to those whose environments need it."""
    from runyard.environments import tools

    uv = tools.find("uv")
    if uv is None:
        help = f"Install it: {sys.executable} -m pip install uv"
        yield Check("uv", WARN, "not found: environments of pip packages cannot be built", help)
    else:
        yield Check("uv", OK, f"{_version(uv)} at {uv}")
    conda = tools.find_conda()
    if conda is None:
        yield Check("conda", OK, "none; only environments with conda packages or channels of their own need it")
    else:
        yield Check("conda", OK, f"{conda.name} {_version(conda)} at {conda}")
    yield Check("containers", OK, _engine())


def _version(program: Path) -> str:
    """The version that a program prints, without its name."""
    try:
        output = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=20, check=False).stdout
    except (OSError, subprocess.SubprocessError) as error:
        return f"(does not say its version: {error})"
    lines = output.strip().splitlines()
    return lines[0].removeprefix(program.name).strip() if lines else "(does not say its version)"


def _engine() -> str:
    from runyard.environments.containers import engine
    from runyard.environments.problem import EnvironmentProblem

    if not engine.in_sight():
        return "no engine answers; only environments with an image of their own need one"
    try:
        client = engine.open_engine()
        try:
            about = client.version()
        finally:
            client.close()
    except (EnvironmentProblem, OSError) as problem:
        return f"the engine cannot be used: {problem}"
    name = (about.get("Platform") or {}).get("Name") or "engine"
    return f"{name}, version {about.get('Version')}"


def environments(home: Path) -> Iterator[Check]:
    """The built environments, and leftovers of builds that were killed."""
    from runyard.environments.cache import Cache

    cache = Cache(home / "environments")
    built = cache.entries()
    if built:
        size = formatting.size(sum(entry.size for entry in built))
        yield Check("environments", OK, f"{formatting.count(len(built), 'environment')}, {size}, in {cache.folder}")
    left = [folder for folder in cache.leftovers() if _age(folder) > LEFTOVER_SECONDS]
    if left:
        size = formatting.size(sum(_size(folder) for folder in left))
        message = f"builds that were killed have left {formatting.count(len(left), 'folder')}, {size}"
        yield Check("environments", WARN, message, "`runyard env gc` removes them.")


def telemetry(home: Path) -> Iterator[Check]:
    """Journals of interactive runs that the server has not confirmed."""
    waiting = 0
    for journal in (home / "telemetry").glob("**/*.jsonl"):
        try:
            confirmed = int(journal.with_suffix(".ack").read_text("ascii") or 0)
        except (FileNotFoundError, ValueError):
            confirmed = 0
        waiting += max(journal.stat().st_size - confirmed, 0)
    if waiting:
        yield Check(
            "telemetry",
            WARN,
            f"{formatting.size(waiting)} wait to be delivered",
            "They are delivered while a server runs: `runyard up`.",
        )


def half_uploads(home: Path) -> Iterator[Check]:
    """Leftovers of uploads that broke off."""
    files = [path for path in _files(home / "objects" / "incoming") if _age(path) > LEFTOVER_SECONDS]
    if files:
        size = formatting.size(sum(path.stat().st_size for path in files))
        yield Check(
            "objects",
            WARN,
            f"{size} of uploads that broke off in {home / 'objects' / 'incoming'}",
            "They are safe to delete.",
        )


def _files(parent: Path) -> list[Path]:
    return sorted(path for path in parent.iterdir() if path.is_file()) if parent.is_dir() else []


def _age(path: Path) -> float:
    return time.time() - path.stat().st_mtime


def _size(folder: Path) -> int:
    files = (os.path.join(place, name) for place, _, names in walk(str(folder)) for name in names)
    return sum(os.lstat(path).st_size for path in files)
