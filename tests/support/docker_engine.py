"""A real Docker engine for tests, with a base image made from the packages of this machine: no registry is needed.

The engine lives in a folder of its own, listens on a socket there and touches no network; all of it ends with the
tests. Tests that use it are marked `xdist_group("docker")`, so that one worker starts one engine for all of them.
"""

from __future__ import annotations

import contextlib
import fcntl
import glob
import io
import os
import re
import shutil
import signal
import subprocess
import tarfile
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from runyard.system.processes import prctl

if TYPE_CHECKING:
    from docker import DockerClient
    from docker.models.containers import Container

BASE = "yard-base:1"
"""The image: Debian's Python with pip, a shell and the usual commands."""

DEADLINE = 120.0

_PACKAGES = ("python3-venv", "ca-certificates", "dash", "coreutils", "tar", "grep")
_NOT_NEEDED = ("debconf", "dpkg", "perl-base", "openssl", "debianutils", "media-types", "python3-setuptools")
_LEFT_OUT = re.compile(r"/usr/share/(doc|man|locale|info|lintian|bug)/|/__pycache__/|/python3[^/]*/(test|idlelib)/")


@dataclass(frozen=True)
class DockerEngine:
    """An engine that runs, and the address at which DOCKER_HOST finds it."""

    folder: Path

    @property
    def address(self) -> str:
        return f"unix://{self.folder}/s.sock"


@pytest.fixture(scope="session")
def docker_engine() -> Iterator[DockerEngine]:
    """An engine with the base image in it; one for all tests of this process. Skips where there can be none."""
    with _started() as engine:
        yield engine


@pytest.fixture
def engine_address(docker_engine: DockerEngine, monkeypatch: pytest.MonkeyPatch) -> str:
    """The engine of the tests, as the one of this machine."""
    monkeypatch.setenv("DOCKER_HOST", docker_engine.address)
    return docker_engine.address


@contextlib.contextmanager
def client_of(engine: DockerEngine) -> Iterator[DockerClient]:
    """A client for one test, and the certainty that no container of it is left."""
    import docker

    with contextlib.closing(docker.DockerClient(base_url=engine.address)) as client:
        yield client
        left = containers_of(client)
        for each in left:
            each.remove(force=True)
        assert not left, f"containers were left: {left}"


def containers_of(client: DockerClient) -> list[Container]:
    """Every container of an engine, also those that were made and not started, or that have ended."""
    found: list[Container] = client.containers.list(all=True, ignore_removed=True)
    return found


@contextlib.contextmanager
def _started() -> Iterator[DockerEngine]:
    dockerd = _installed()
    folder = Path(tempfile.mkdtemp(prefix="yd", dir="/tmp"))  # short: the path of a socket has at most 107 bytes
    try:
        engine = DockerEngine(folder)
        with _running(dockerd, engine):
            _import_base(engine)
            yield engine
    finally:
        _remove(folder)


def _installed() -> str:
    """The path of dockerd, which is installed from Debian's packages if it can be."""
    if os.geteuid() != 0:
        pytest.skip("a Docker engine of its own needs root")
    with open("/tmp/.runyard-tests-docker.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        found = shutil.which("dockerd")
        if found is None:
            if shutil.which("apt-get") is None:
                pytest.skip("dockerd is not installed, and there is no apt-get to install it with")
            _apt_get()
            found = shutil.which("dockerd")
    if found is None:
        pytest.skip("dockerd is not installed, and `apt-get install docker.io` did not bring it")
    return found


def _apt_get() -> None:
    variables = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    install = ["apt-get", "install", "-y", "--no-install-recommends", "docker.io"]
    for command in (install, ["apt-get", "update"], install):
        if (
            subprocess.run(command, env=variables, capture_output=True, check=False).returncode == 0
            and command is install
        ):
            return


@contextlib.contextmanager
def _running(dockerd: str, engine: DockerEngine) -> Iterator[None]:
    folder = engine.folder
    places: list[str | Path] = [
        "--data-root",
        folder / "data",
        "--exec-root",
        folder / "exec",
        "--pidfile",
        folder / "pid",
    ]
    network = ["--iptables=false", "--ip6tables=false", "--bridge=none", "--ip-forward=false"]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [dockerd, *places, "-H", engine.address, *network],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            preexec_fn=_end_politely_with_parent(),
        )
    try:
        _wait(engine, process)
        yield
    finally:
        _end_containers(engine)
        process.terminate()
        try:
            process.wait(timeout=DEADLINE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _end_politely_with_parent() -> Callable[[], object] | None:
    """A worker that is killed takes its engine along: by SIGTERM, so that the engine ends what it has started."""
    call = prctl()
    return None if call is None else lambda: call(1, signal.SIGTERM.value)


def _wait(engine: DockerEngine, process: subprocess.Popen[bytes]) -> None:
    import docker

    deadline = time.monotonic() + DEADLINE
    while True:
        try:
            docker.DockerClient(base_url=engine.address).close()
            return
        except docker.errors.DockerException as error:
            said = (engine.folder / "log").read_text("utf-8", "replace")[-3000:]
            if process.poll() is not None:
                pytest.skip(f"dockerd cannot run on this machine: {said}")
            if time.monotonic() > deadline:
                raise RuntimeError(f"dockerd did not answer: {error}\n{said}") from error
            time.sleep(0.05)


def _end_containers(engine: DockerEngine) -> None:
    import docker

    with contextlib.suppress(docker.errors.DockerException):
        client = docker.DockerClient(base_url=engine.address)
        for container in client.containers.list(all=True, ignore_removed=True):
            with contextlib.suppress(docker.errors.APIError):
                container.remove(force=True, v=True)
        client.close()


def _remove(folder: Path) -> None:
    """Remove the engine's folder, once nothing is mounted below it any more."""
    deadline = time.monotonic() + 20
    while True:
        for path in sorted(_mounted(folder), reverse=True):
            subprocess.run(["umount", path], capture_output=True, check=False)
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists() or time.monotonic() > deadline:
            return
        time.sleep(0.1)


def _mounted(folder: Path) -> list[str]:
    lines = Path("/proc/mounts").read_text().splitlines()
    return [line.split()[1] for line in lines if line.split()[1].startswith(f"{folder}/")]


# -- the base image -------------------------------------------------------------------------------------------------


def _import_base(engine: DockerEngine) -> None:
    import docker

    archive = engine.folder / "base.tar"
    with tarfile.open(archive, "w") as tar:
        _write_base(tar)
    client = docker.DockerClient(base_url=engine.address)
    name, _, tag = BASE.partition(":")
    changes = ["ENV PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", 'CMD ["python3"]']
    client.api.import_image_from_file(str(archive), repository=name, tag=tag, changes=changes)
    client.close()
    archive.unlink()


def _write_base(tar: tarfile.TarFile) -> None:
    for name in ("bin", "sbin", "lib", "lib64"):
        _link(tar, name, f"usr/{name}")
    for name, mode in (("tmp", 0o1777), ("mnt", 0o755), ("root", 0o700), ("proc", 0o755), ("dev", 0o755)):
        entry = tarfile.TarInfo(name)
        entry.type, entry.mode = tarfile.DIRTYPE, mode
        tar.addfile(entry)
    _link(tar, "usr/bin/sh", "dash")
    seen = {"/usr/bin/sh", "/bin", "/sbin", "/lib", "/lib64"}
    for path in _files():
        real = re.sub(r"^/(bin|sbin|lib|lib64)/", r"/usr/\1/", path)
        if real not in seen and not _LEFT_OUT.search(path) and (os.path.islink(real) or os.path.isfile(real)):
            seen.add(real)
            tar.add(real, real.lstrip("/"), recursive=False)
    tar.add("/etc/ssl/certs/ca-certificates.crt", "etc/ssl/certs/ca-certificates.crt")
    _write_pip(tar)


def _write_pip(tar: tarfile.TarFile) -> None:
    """The pip that Debian keeps for new virtual environments, for the Python of the image itself."""
    (wheel, *_) = sorted(glob.glob("/usr/share/python-wheels/pip-*.whl"))
    with zipfile.ZipFile(wheel) as held:
        for name in held.namelist():
            entry = tarfile.TarInfo(f"usr/lib/python3/dist-packages/{name}")
            content = held.read(name)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))


def _link(tar: tarfile.TarFile, name: str, target: str) -> None:
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname, entry.mode = tarfile.SYMTYPE, target, 0o777
    tar.addfile(entry)


def _files() -> list[str]:
    """Every file of the packages, and of those that they depend on."""
    wanted, known = list(_PACKAGES), set()
    while wanted:
        name = wanted.pop()
        if name in known or name in _NOT_NEEDED:
            continue
        asked = subprocess.run(
            ["dpkg-query", "-W", "-f", "${Pre-Depends}, ${Depends}", name],
            capture_output=True,
            text=True,
            check=False,
        )
        if asked.returncode != 0:
            continue  # a virtual package, or the other side of an "or"
        known.add(name)
        wanted += re.findall(r"(?:^|[,|])\s*([a-z0-9][a-z0-9.+-]+)", asked.stdout)
    # Names that only other packages provide are refused, and the rest is listed all the same.
    listed = subprocess.run(["dpkg", "-L", *sorted(known)], capture_output=True, text=True, check=False).stdout
    return [line for line in listed.splitlines() if line.startswith("/")]
