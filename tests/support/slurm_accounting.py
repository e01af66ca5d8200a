"""A Slurm cluster that keeps account of its jobs, for tests: a database, slurmdbd, and accounts and QOS whose limits
hold.

The database is MariaDB, in the cluster's folder, on a socket alone and not as root. Tests that use the cluster are
marked `xdist_group("slurm-accounting")`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.ports import free_ports
from tests.support.slurm_cluster import DEADLINE, SlurmCluster, settled, started
from tests.support.waiting import wait_until

ACCOUNT = "physics"
OTHER_USER = "daemon"
"""A user of every machine, who may use the account but not each QOS. Root may use them all."""

_QOS = {
    "one-job": ["MaxJobsPerUser=1"],
    "one-node": ["GrpTRES=node=1"],
    "small": ["MaxTRESPerJob=node=1"],
    "brief": ["MaxWall=10"],
    "strict": ["MaxWall=10", "MaxTRESPerJob=node=1", "Flags=DenyOnLimit"],
    "few": ["GrpSubmitJobs=1"],
}
"""What each QOS allows, as sacctmgr is told."""

_PROGRAMS = ("mariadbd", "slurmdbd", "sacct", "sacctmgr")
_NOBODY = 65534


@pytest.fixture(scope="session")
def accounted_cluster() -> Iterator[SlurmCluster]:
    """A cluster with accounting; one for all tests of this process. Skips where there can be none."""
    missing = [program for program in _PROGRAMS if shutil.which(program) is None]
    if missing:
        pytest.skip(f"{', '.join(missing)} not installed: apt-get install slurmdbd mariadb-server-core")
    with started(_keep_accounts) as cluster:
        yield cluster


@pytest.fixture
def accounted(accounted_cluster: SlurmCluster) -> Iterator[SlurmCluster]:
    """The cluster with all nodes idle and nothing in its queue, before the test and after it."""
    yield from settled(accounted_cluster)


def start_accounting(cluster: SlurmCluster) -> None:
    socket = cluster.folder / "database" / "socket"
    cluster.start_daemon("slurmdbd", ["env", f"MYSQL_UNIX_PORT={socket}", "slurmdbd", "-D"])


def stop_accounting(cluster: SlurmCluster) -> None:
    cluster.stop_daemon("slurmdbd")


def _keep_accounts(cluster: SlurmCluster) -> None:
    [port] = free_ports(1)
    munge = cluster.folder / "munge" / "socket"
    lines = [
        "AccountingStorageType=accounting_storage/slurmdbd",
        "AccountingStorageHost=127.0.0.1",
        f"AccountingStoragePort={port}",
        f"AccountingStoragePass={munge}",
        "AccountingStorageEnforce=associations,limits,qos",
        "MinJobAge=2",  # squeue forgets jobs that have ended as soon as Slurm can: within ten seconds
    ]
    with cluster.conf.open("a") as file:
        file.writelines(f"{line}\n" for line in lines)
    lines = [
        "DbdHost=localhost",
        "DbdAddr=127.0.0.1",
        f"DbdPort={port}",
        "SlurmUser=root",
        "AuthType=auth/munge",
        f"AuthInfo=socket={munge}",
        f"PidFile={cluster.folder}/slurmdbd.pid",
        "StorageType=accounting_storage/mysql",
        "StorageHost=localhost",
        "StorageUser=root",
        "StorageLoc=accounts",
    ]
    conf = cluster.folder / "slurmdbd.conf"
    conf.touch(0o600)
    conf.write_text("\n".join(lines) + "\n")
    _start_database(cluster.folder / "database", cluster)
    start_accounting(cluster)
    wait_until(lambda: _asked(cluster, "show", "cluster"))
    _add(cluster, "cluster", cluster.tag)
    for name, limits in _QOS.items():
        _add(cluster, "qos", name, *limits)
    _add(cluster, "account", ACCOUNT, f"qos=normal,{','.join(_QOS)}")
    _add(cluster, "user", "root", f"account={ACCOUNT}", f"DefaultAccount={ACCOUNT}")
    _add(cluster, "user", OTHER_USER, f"account={ACCOUNT}", "qos=normal")


def _add(cluster: SlurmCluster, *what: str) -> None:
    cluster.run("sacctmgr", "--immediate", "--quiet", "add", *what)


def _asked(cluster: SlurmCluster, *question: str) -> bool:
    try:
        cluster.run("sacctmgr", *question)
    except RuntimeError:
        return False
    return True


def _start_database(folder: Path, cluster: SlurmCluster) -> None:
    """Make a database that asks for no password, and start it: its folder is closed to all but nobody and root."""
    folder.mkdir(0o700)
    os.chown(folder, _NOBODY, _NOBODY)
    # setpriv, because a change of user takes the order away to end with the parent.
    server = [
        *("setpriv", f"--reuid={_NOBODY}", f"--regid={_NOBODY}", "--clear-groups", "--pdeathsig=TERM", "mariadbd"),
        *("--no-defaults", f"--datadir={folder}", "--innodb-log-file-size=4M", "--innodb-buffer-pool-size=16M"),
        *("--innodb-flush-log-at-trx-commit=0", "--innodb-flush-method=nosync"),
    ]
    [system_tables] = Path("/usr/share").glob("m*/m*_system_tables.sql")  # mysql's or mariadb's, by its release
    tables = f"create database mysql;\nuse mysql;\n{system_tables.read_text()}"
    made = subprocess.run(
        [*server, "--bootstrap"], input=tables, capture_output=True, text=True, timeout=DEADLINE, check=False
    )
    if made.returncode:
        raise RuntimeError(f"the database could not be made: {made.stderr[-2000:]}")
    cluster.start_daemon(
        "mariadbd",
        [*server, "--skip-networking", "--skip-grant-tables", f"--socket={folder}/socket", f"--pid-file={folder}/pid"],
    )
    wait_until((folder / "socket").exists)
