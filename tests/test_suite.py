"""The suite itself ends, however it was started: what hangs is a failure with a name, and Ctrl-C is never ignored."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import textwrap
import uuid
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml
from sqlalchemy import select, text
from tests.support.used_database import UsedDatabase

from runyard.store import tables
from runyard.store.database import Database
from runyard.store.runs import workspaces

if TYPE_CHECKING:
    from tests.support.postgresql import PostgreSQL

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent

CAN_BE_INTERRUPTED = """
    import signal, subprocess, sys

    def test_here():
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler

    def test_in_a_process():
        code = "import signal; print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)"
        assert subprocess.check_output([sys.executable, "-c", code]).strip() == b"True"
"""

HANGS = """
    import threading

    def test_that_hangs():
        threading.Thread(target=threading.Event().wait, name="the-other-thread", daemon=True).start()
        threading.Event().wait()
"""

TELLS_MARKS = """
    def pytest_collection_modifyitems(items):
        for item in items:
            kinds = {mark.name for mark in item.iter_markers()} & {"cluster", "container", "framework", "slow"}
            print(item.name, "is marked", *sorted(kinds))
"""

NEEDS = """
    import pytest
    from tests.support.frameworks import environment

    def test_with_a_cluster(slurm): ...

    @pytest.mark.parametrize("on", [pytest.param("ray", marks=pytest.mark.xdist_group("ray")), "here"])
    def test_in_places(on): ...
"""


def test_an_interrupt_arrives_though_the_suite_was_started_with_it_ignored(tmp_path: Path) -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        done = run_tests(tmp_path, CAN_BE_INTERRUPTED, "-n", "1")
    finally:
        signal.signal(signal.SIGINT, before)
    assert "2 passed" in done.stdout, done.stdout


def test_a_test_that_hangs_is_named_with_what_its_threads_do(tmp_path: Path) -> None:
    done = run_tests(tmp_path, HANGS, "--timeout=1")
    assert done.returncode == 1
    assert "test_that_hangs" in done.stdout
    assert "Timeout" in done.stdout
    assert "the-other-thread" in done.stdout + done.stderr


def test_every_test_has_a_time_limit(pytestconfig: pytest.Config) -> None:
    assert float(pytestconfig.getini("timeout")) > 0


def test_a_test_is_marked_by_what_it_uses(tmp_path: Path) -> None:
    """If this fails, `make quick` starts clusters, or leaves out what it could run."""
    done = run_tests(tmp_path, NEEDS, "--collect-only", "-q", "-m", "cluster", plugin=TELLS_MARKS)
    chosen = set(re.findall(r"::(\S+)", done.stdout))
    assert chosen == {"test_with_a_cluster", "test_in_places[ray]"}, done.stdout + done.stderr
    marks = dict(re.findall(r"^(\S+) is marked (.*)$", done.stdout, re.MULTILINE))
    assert marks == {
        "test_with_a_cluster": "cluster framework",
        "test_in_places[ray]": "cluster framework",
        "test_in_places[here]": "framework",
    }


def test_what_is_checked_before_a_commit_is_what_make_checks() -> None:
    (recipe,) = re.findall(r"^check:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))["repos"][0]["hooks"]
    assert [f"\t{hook['entry']}".replace(".venv/bin", "$(BIN)") for hook in hooks] == recipe.splitlines()


def run_tests(folder: Path, source: str, *options: str, plugin: str = "") -> subprocess.CompletedProcess[str]:
    """Run these tests with the suite's own settings, in a pytest of their own."""
    file = folder / "test_it.py"
    file.write_text(textwrap.dedent(source))
    (folder / "of_this_test.py").write_text(textwrap.dedent(plugin))
    settings = ["-c", str(ROOT / "pyproject.toml"), "--rootdir", str(ROOT), "-p", "no:cacheprovider"]
    unused = ["-p", "no:schemathesis", "-p", "no:hypothesispytest"]  # they take a second to load
    command = [sys.executable, "-m", "pytest", *settings, *unused, "--confcutdir", str(ROOT), *options]
    return subprocess.run(
        [*command, "-p", "of_this_test", "-p", "tests.conftest", str(file)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(folder)},
        timeout=120,
    )


def test_a_database_that_was_used_comes_back_empty_or_not_at_all(postgresql: PostgreSQL) -> None:
    """Otherwise a test would see what the one before it has stored."""
    name = "used_" + uuid.uuid4().hex
    postgresql.execute(f"CREATE DATABASE {name} TEMPLATE migrated")
    used = UsedDatabase(postgresql.url(name), name)

    def one_more() -> int:
        with closing(Database.open(used.url)) as database, database.write() as connection:
            workspaces.ensure_default(connection)
            return int(connection.execute(select(tables.workspaces.c.serial)).scalar_one())

    first = one_more()
    assert used.emptied()
    assert one_more() == first, "numbers begin anew too"
    with closing(Database.open(used.url)) as database, database.write() as connection:
        connection.execute(text("ALTER TABLE runs ADD COLUMN more TEXT"))
    assert not used.emptied()
    postgresql.execute(f"DROP DATABASE {name} WITH (FORCE)")
