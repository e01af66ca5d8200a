"""Fixtures that every test may use: a fresh home folder, and a fresh database of either kind."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.support.postgresql import NotInstalled, PostgreSQL, started
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


@pytest.fixture(scope="session")
def used_databases() -> list[UsedDatabase]:
    """Those that tests on PostgreSQL have left empty for the next ones."""
    return []


@pytest.fixture
def postgresql_url(postgresql: PostgreSQL, used_databases: list[UsedDatabase]) -> Iterator[str]:
    """The address of a PostgreSQL database whose tables are up to date and empty."""
    if used_databases:
        database = used_databases.pop()
    else:
        name = f"test_{uuid.uuid4().hex}"
        postgresql.execute(f"CREATE DATABASE {name} TEMPLATE migrated")
        database = UsedDatabase(postgresql.url(name), name)
    yield database.url
    if database.emptied():
        used_databases.append(database)
    else:
        postgresql.execute(f"DROP DATABASE {database.name} WITH (FORCE)")


@pytest.fixture
def empty_postgresql_url(postgresql: PostgreSQL) -> Iterator[str]:
    """The address of a PostgreSQL database with nothing in it."""
    name = f"test_{uuid.uuid4().hex}"
    postgresql.execute(f"CREATE DATABASE {name}")
    yield postgresql.url(name)
    postgresql.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(scope="session")
def postgresql() -> Iterator[PostgreSQL]:
    """A real PostgreSQL server, one per worker, that ends with the tests whatever happens to them."""
    pytest.importorskip("psycopg", reason="psycopg is not installed: pip install '.[postgres]'")
    careless = ("fsync=off", "synchronous_commit=off", "full_page_writes=off")
    try:
        with started(*careless, "max_connections=100", "shared_buffers=32MB") as server:
            server.execute("CREATE DATABASE migrated")
            _migrate(server.url("migrated"))
            yield server
    except NotInstalled as error:
        pytest.skip(str(error))


def _migrate(url: str) -> None:
    from runyard.store.database import Database

    Database.open(url).close()
