"""If these fail, a user who starts the server with the wrong database, or moves to another one, loses files."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

from runyard.cli import errors

if TYPE_CHECKING:
    from tests.cli.conftest import Shell

WRITES = """
import os
os.makedirs("outputs", exist_ok=True)
open("outputs/model.bin", "wb").write(b"weights" * 1000)
print("log")
"""


def checks(report: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {check["name"]: check for check in report}


def test_the_wrong_database_is_refused_with_words_and_the_right_one_has_everything(fresh_shell: Shell) -> None:
    shell = fresh_shell
    run_id = shell.completed(WRITES)["id"]
    shell.call("down")
    other = f"sqlite:///{shell.folder}/other.db"
    refused = shell.refusal("serve", "--database-url", other, expect=errors.UNREACHABLE)
    assert "There is no database at" in refused["title"]
    assert not (shell.folder / "other.db").exists()

    (shell.home / "runyard.db").rename(shell.folder / "mislaid.db")
    refused = shell.refusal("up", expect=errors.UNREACHABLE)
    assert str(shell.home / "runyard.db") in refused["title"] + refused["help"]
    assert "runyard database join" in refused["title"] + refused["help"]
    (shell.folder / "mislaid.db").rename(shell.home / "runyard.db")
    shell.call("get", run_id)
    assert (shell.folder / run_id / "outputs/model.bin").read_bytes() == b"weights" * 1000


def test_a_home_is_joined_with_a_new_database_and_with_the_old_one_again(fresh_shell: Shell) -> None:
    shell = fresh_shell
    run_id = shell.completed(WRITES)["id"]
    running = shell.refusal("database", "join", expect=errors.FAILED)
    assert running["code"] == "server_running"
    shell.call("down")
    other = f"sqlite:///{shell.folder}/other.db"
    assert "it does not know" in shell.call("database", "join", "--database-url", other).stdout
    assert "came free" in shell.call("database", "sweep", "--database-url", other).stdout
    long_ago = time.time() - 2 * 86400
    for path in (shell.home / "objects").rglob("*"):
        os.utime(path, (long_ago, long_ago))
    swept = shell.json("database", "sweep", "--database-url", other)
    assert swept["files_aside"] > 0
    assert swept["bytes_freed"] == 0
    told = checks(shell.json("doctor"))["moved aside"]
    assert told["verdict"] == "ok"
    assert str(swept["files_aside"]) in told["message"]
    assert shell.refusal("serve", expect=errors.UNREACHABLE)["title"].startswith("The database")

    shell.call("database", "join")
    shell.call("get", run_id)
    assert (shell.folder / run_id / "outputs/model.bin").read_bytes() == b"weights" * 1000
    assert "moved aside" not in checks(shell.json("doctor"))


def test_what_is_held_back_is_told_and_goes_when_the_operator_says_so(fresh_shell: Shell) -> None:
    shell = fresh_shell
    shell.json("up")
    shell.call("down")
    for number in range(30):
        folder = shell.home / "objects" / f"{number:02x}"
        folder.mkdir()
        (folder / ("0" * 62)).write_bytes(b"strange")
        os.utime(folder / ("0" * 62), (0, 0))
    from datetime import timedelta

    from runyard.store.content import sweeping
    from runyard.store.store import Store

    shell.call("database", "join")
    store = Store.open(shell.home)
    assert sweeping.sweep(store, timedelta(days=1)).held is not None
    store.close()
    told = checks(shell.json("doctor"))["objects"]
    assert told["verdict"] == "warn"
    assert "30 of 30 files" in told["message"]
    assert "runyard database sweep" in told["help"]
    assert shell.json("database", "sweep", "--now") == {
        "files_aside": 30,
        "bytes_aside": 210,
        "bytes_freed": 210,
        "held": None,
    }
    assert "objects" not in checks(shell.json("doctor"))


def test_from_sqlite_to_postgresql_and_back(fresh_shell: Shell, empty_postgresql_url: str) -> None:
    shell = fresh_shell
    run_id = shell.completed(WRITES + "\nfrom azureml.core import Run\nRun.get_context().log('loss', 0.25)\n")["id"]
    before = shell.json("show", run_id)
    shell.call("down")
    copied = shell.call("database", "copy", empty_postgresql_url).stdout
    assert "RUNYARD_DATABASE_URL" in copied
    again = shell.refusal("database", "copy", empty_postgresql_url, expect=errors.FAILED)
    assert again["code"] == "database_mismatch", "the rows are in PostgreSQL now"

    assert shell.refusal("up", expect=errors.UNREACHABLE), "a server without the address does not begin afresh"
    shell.call("up", "--database-url", empty_postgresql_url)
    after = shell.json("show", run_id)
    for changing in ("web_url",):
        before.pop(changing)
        after.pop(changing)
    assert after == before
    shell.call("get", run_id)
    assert (shell.folder / run_id / "outputs/model.bin").read_bytes() == b"weights" * 1000
    second = shell.completed()["id"]
    shell.call("rm", run_id, "--yes")
    shell.call("down")

    back = f"sqlite:///{shell.folder}/back.db"
    shell.call("database", "copy", back, "--database-url", empty_postgresql_url)
    shell.call("up", "--database-url", back)
    assert [run["id"] for run in shell.json("ls")] == [second]


def test_the_file_is_made_smaller_while_no_server_runs(fresh_shell: Shell) -> None:
    shell = fresh_shell
    run_id = shell.completed(WRITES)["id"]
    assert shell.refusal("database", "compact", expect=errors.FAILED)["code"] == "server_running"
    shell.call("down")
    done = shell.json("database", "compact")
    assert done["after"] == (shell.home / "runyard.db").stat().st_size
    assert "came free" in shell.call("database", "compact").stdout
    assert shell.json("show", run_id)["status"] == "Completed"
