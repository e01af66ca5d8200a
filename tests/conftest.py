"""Fixtures that every test may use: a fresh home folder, and a fresh database of either kind."""

from __future__ import annotations

import glob
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.support.used_database import UsedDatabase

from runyard.client.server_process import stop_server
from runyard.engines.sdk_folder import sdk_folder

# For all folders of tests; started when asked for.
pytest_plugins = [
    "tests.support.needs",
    "tests.support.browser",
    "tests.support.mlflow_server",
    "tests.support.docker_engine",
    "tests.support.object_stores",
    "tests.support.ray_cluster",
    "tests.support.slurm_cluster",
    "tests.support.slurm_accounting",
]


def pytest_configure() -> None:
    """Whatever the caller's shell says: bytecode is written, and Ctrl-C works in tests and in what they start."""
    # Hundreds of servers, commands and scripts are started: each would compile all of its modules again.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    # `nohup make test &` has it ignored.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def laid_sdk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The code that runs use, as a home has it: hundreds of files, made once."""
    return sdk_folder(tmp_path_factory.mktemp("laid"))


def link_sdk(home: Path, laid_sdk: Path) -> None:
    """Give a home the code that runs use, so that its server need not lay it out."""
    (home / "sdk").mkdir(mode=0o700, parents=True)
    (home / "sdk" / laid_sdk.name).symlink_to(laid_sdk)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, laid_sdk: Path) -> Iterator[Path]:
    """A fresh RUNYARD_HOME. A server that the test leaves behind there is stopped."""
    folder = tmp_path / "home"
    folder.mkdir(mode=0o700)
    link_sdk(folder, laid_sdk)
    monkeypatch.setenv("RUNYARD_HOME", str(folder))
    yield folder
    stop_server(folder)


@pytest.fixture
def disk_of(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Makes real file systems of a size, such as "48m", so that a full disk is a full disk."""
    mounted: list[Path] = []

    def mount(size: str) -> Path:
        folder = tmp_path / f"disk-of-{size}-{len(mounted)}"
        folder.mkdir()
        if os.geteuid() != 0 or shutil.which("mount") is None:
            pytest.skip("mounting a small file system needs root")
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", folder], capture_output=True)
        if done.returncode:
            pytest.skip(f"this machine does not let a small file system be mounted: {done.stderr.decode().strip()}")
        mounted.append(folder)
        return folder

    yield mount
    for folder in mounted:
        subprocess.run(["umount", "-l", folder], check=True)


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest) -> str:
    """The address of a fresh database: the test runs once on each kind."""
    if request.param == "sqlite":
        folder: Path = request.getfixturevalue("tmp_path")
        shutil.copy(request.getfixturevalue("migrated_sqlite"), folder / "runyard.db")
        return f"sqlite:///{folder / 'runyard.db'}"
    url: str = request.getfixturevalue("postgresql_url")
    return url


@pytest.fixture(scope="session")
def migrated_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database whose tables are up to date and empty, to be copied: making one takes a tenth of a second."""
    file = tmp_path_factory.mktemp("migrated") / "runyard.db"
    _migrate(f"sqlite:///{file}")
    return file


@pytest.fixture
def postgresql_url(postgresql: PostgreSQL) -> Iterator[str]:
    """The address of a PostgreSQL database whose tables are up to date and empty."""
    if postgresql.used:
        database = postgresql.used.pop()
    else:
        name = f"test_{uuid.uuid4().hex}"
        postgresql.execute(f"CREATE DATABASE {name} TEMPLATE migrated")
        database = UsedDatabase(postgresql.url(name), name)
    yield database.url
    if database.emptied():
        postgresql.used.append(database)
    else:
        postgresql.execute(f"DROP DATABASE {database.name} WITH (FORCE)")


@pytest.fixture
def empty_postgresql_url(postgresql: PostgreSQL) -> Iterator[str]:
    """The address of a PostgreSQL database with nothing in it."""
    name = f"test_{uuid.uuid4().hex}"
    postgresql.execute(f"CREATE DATABASE {name}")
    yield postgresql.url(name)
    postgresql.execute(f"DROP DATABASE {name} WITH (FORCE)")


@dataclass(frozen=True)
class PostgreSQL:
    """A server that listens on a socket in a folder of its own, so that no two can meet."""

    folder: Path
    used: list[UsedDatabase] = field(default_factory=list)

    def url(self, database: str) -> str:
        return f"postgresql://postgres@/{database}?host={self.folder}"

    def execute(self, statement: str) -> None:
        import psycopg

        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(statement.encode())


@pytest.fixture(scope="session")
def postgresql() -> Iterator[PostgreSQL]:
    """A real PostgreSQL server, one per worker, that ends with the tests whatever happens to them."""
    binaries = _binaries()
    if binaries is None:
        pytest.skip("PostgreSQL is not installed: no initdb on PATH or in /usr/lib/postgresql")
    pytest.importorskip("psycopg", reason="psycopg is not installed: pip install '.[postgres]'")
    folder = Path(tempfile.mkdtemp(prefix="runyard-pg-"))
    try:
        as_user = _as_user(folder)
        options = ["--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C"]
        subprocess.run(
            [*as_user, binaries / "initdb", "-D", folder / "data", "-U", "postgres", *options],
            check=True,
            cwd=folder,
            capture_output=True,
        )
        settings = [
            f"unix_socket_directories={folder}",
            "unix_socket_permissions=0700",
            "listen_addresses=",
            "fsync=off",
            "synchronous_commit=off",
            "full_page_writes=off",
            "max_connections=100",
            "shared_buffers=32MB",
        ]
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(
                [*as_user, binaries / "postgres", "-D", folder / "data", *(f"--{setting}" for setting in settings)],
                stdout=log,
                stderr=log,
                cwd=folder,
            )
        try:
            server = PostgreSQL(folder)
            _wait(server, process)
            server.execute("CREATE DATABASE migrated")
            _migrate(server.url("migrated"))
            yield server
        finally:
            process.send_signal(signal.SIGQUIT)  # at once: nothing of it is kept
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _binaries() -> Path | None:
    found = shutil.which("initdb")
    folders = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda path: int(path.split("/")[4]), reverse=True)
    if found is not None:
        folders.insert(0, str(Path(found).resolve().parent))
    return next((Path(path) for path in folders if (Path(path) / "postgres").exists()), None)


def _as_user(folder: Path) -> list[str | Path]:
    """What to put before a command. PostgreSQL refuses to run as root; and it must not outlive a killed worker."""
    setpriv = shutil.which("setpriv")
    if os.geteuid() != 0:
        return [setpriv, "--pdeathsig", "QUIT"] if setpriv else []
    user = next(entry for name in ("postgres", "nobody") for entry in pwd.getpwall() if entry.pw_name == name)
    os.chown(folder, user.pw_uid, user.pw_gid)
    if setpriv is None:
        return ["runuser", "-u", user.pw_name, "--"]
    return [setpriv, f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--init-groups", "--pdeathsig", "QUIT"]


def _wait(server: PostgreSQL, process: subprocess.Popen[bytes]) -> None:
    import psycopg

    deadline = time.monotonic() + 60
    while True:
        try:
            server.execute("SELECT 1")
            return
        except psycopg.OperationalError as error:
            if process.poll() is not None or time.monotonic() > deadline:
                log = (server.folder / "log").read_text("utf-8", "replace")
                raise RuntimeError(f"PostgreSQL did not start: {error}\n{log}") from error
            time.sleep(0.02)


def _migrate(url: str) -> None:
    from runyard.store.database import Database

    Database.open(url).close()
