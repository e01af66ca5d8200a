"""A run that is started again finds its outputs where it left them, wherever they come from."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from runyard.contracts.distribution import Distribution
from runyard.store.database import Database
from runyard.store.runs import attempts

if TYPE_CHECKING:
    from tests.node.conftest import Gang, Node, RunOnServer, Server

ALONE = "from runyard.node.gang import link; link.WITNESS = 'hidden'"


def store(run: RunOnServer, tmp_path: Path, **files: bytes) -> None:
    """What a former attempt has left in the history of the run."""
    client = run.client(tmp_path)
    for name, content in files.items():
        digest = hashlib.sha256(content).hexdigest()
        client.put(name.replace("__", "/"), content, len(content), digest)


def begin_next_attempt(run: RunOnServer) -> None:
    """The server brings the nodes of the attempt under way together, and of no other."""
    database = Database.open(f"sqlite:///{run.server.home / 'runyard.db'}")
    try:
        with database.write() as connection:
            attempts.begin_next(connection, run.id)
    finally:
        database.close()


@pytest.mark.parametrize("shared", [True, False])
def test_outputs_come_back(gang: Callable[..., Gang], shared_server: Server, tmp_path: Path, shared: bool) -> None:
    run = shared_server.make_run()
    store(run, tmp_path, outputs__a__model=b"half", outputs__b=b"", logs__old=b"x")
    begin_next_attempt(run)
    plan: dict[str, Any] = {"attempt": 2, "snapshot_id": None}
    plan["objects"] = str(shared_server.home / "objects") if shared else None
    command = "cat outputs/a/model; ls outputs logs; echo whole > outputs/a/model"
    result = gang({}, Distribution(), run=run, plan=plan, command=command).nodes[0].finish()
    assert result["status"] == "Completed"
    assert run.read("user_logs/std_log.txt") == b"halflogs:\n\noutputs:\na\nb\n"
    assert run.read("outputs/a/model") == b"whole\n"


@pytest.mark.parametrize("shared", [True, False])
def test_a_damaged_checkpoint_is_not_given_back_as_good(
    gang: Callable[..., Gang], shared_server: Server, tmp_path: Path, shared: bool
) -> None:
    run = shared_server.make_run()
    content = f"checkpoint {shared}".encode()
    store(run, tmp_path, outputs__model=content)
    digest = hashlib.sha256(content).hexdigest()
    (shared_server.home / "objects" / digest[:2] / digest[2:]).write_bytes(b"C" + content[1:])
    begin_next_attempt(run)
    plan: dict[str, Any] = {"attempt": 2, "snapshot_id": None}
    plan["objects"] = str(shared_server.home / "objects") if shared else None
    result = gang({}, Distribution(), run=run, plan=plan, command="cat outputs/model").nodes[0].finish()
    assert result["status"] == "Failed"
    assert result["error"]["code"] == "OutputsNotReturned"
    assert "outputs/model" in result["error"]["message"]


def test_the_first_attempt_begins_with_nothing(node: Callable[..., Node], tmp_path: Path) -> None:
    made = node({}, command="ls outputs; echo done")
    store(made.run, tmp_path, outputs__a=b"x")
    made.finish()
    assert made.run.read("user_logs/std_log.txt") == b"done\n"


def test_what_came_back_replaces_what_the_snapshot_has(gang: Callable[..., Gang], tmp_path: Path) -> None:
    made = gang({"outputs/a": "of the snapshot"}, Distribution(), plan={"attempt": 3}, command="cat outputs/a")
    store(made.run, tmp_path, outputs__a=b"of the run")
    made.finish()
    assert made.run.read("user_logs/std_log.txt") == b"of the run"


@pytest.mark.parametrize(
    ("alone", "seen"),
    [
        ({1: ALONE}, {0: "outputs/a\n", 1: "outputs/a\noutputs/b\n"}),
        ({}, {0: "outputs/a\noutputs/node_1/a\noutputs/node_1/b\n"}),
    ],
)
def test_a_node_with_a_disk_of_its_own_gets_its_own_back(
    gang: Callable[..., Gang], tmp_path: Path, alone: dict[int, str], seen: dict[int, str]
) -> None:
    made = gang({}, Distribution(nodes=2), plan={"attempt": 2}, command="find outputs -type f | sort")
    store(made.run, tmp_path, outputs__a=b"0", outputs__node_1__a=b"1", outputs__node_1__b=b"1")
    begin_next_attempt(made.run)
    assert made.finish(but=alone)["status"] == "Completed"
    for rank, listed in seen.items():
        assert made.std_log(rank) == listed
    assert made.run.read("outputs/node_1/a") == b"1"


@pytest.mark.parametrize("shared", [True, False])
def test_outputs_of_a_run_that_is_resumed_come_beside_those_of_the_run(
    gang: Callable[..., Gang], shared_server: Server, tmp_path: Path, shared: bool
) -> None:
    former, run = shared_server.make_run(), shared_server.make_run()
    store(former, tmp_path, outputs__a__model=b"half", outputs__node_1__b=b"", logs__old=b"x")
    plan: dict[str, Any] = {"snapshot_id": None, "resumes": former.id}
    plan["objects"] = str(shared_server.home / "objects") if shared else None
    command = "cat resumed_outputs/a/model; ls resumed_outputs outputs"
    result = gang({}, Distribution(), run=run, plan=plan, command=command).nodes[0].finish()
    assert result["status"] == "Completed"
    assert run.read("user_logs/std_log.txt") == b"halfoutputs:\n\nresumed_outputs:\na\nnode_1\n"


def test_a_run_that_is_resumed_and_gone_ends_it_in_words(gang: Callable[..., Gang], shared_server: Server) -> None:
    run = shared_server.make_run()
    result = gang({}, Distribution(), run=run, plan={"resumes": "nowhere"}, command="true").nodes[0].finish()
    assert result["status"] == "Failed"
    assert "outputs of the run nowhere could not be had" in result["error"]["message"]
