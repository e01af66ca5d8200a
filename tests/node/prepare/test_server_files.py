"""What an environment needs from the server is on this disk before it is built; what is missing is named."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from runyard.contracts.manifest import Manifest
from runyard.contracts.plan import Launch, Plan
from runyard.node.prepare.server_files import bring
from runyard.node.problem import RunProblem

if TYPE_CHECKING:
    from tests.node.conftest import RunOnServer, Server

FILES: dict[str, str | bytes] = {"Dockerfile": "FROM scratch\n", "etc/a": "b"}


@pytest.fixture
def stored(on_server: Callable[[Mapping[str, str | bytes]], Manifest]) -> Manifest:
    return on_server(FILES)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "run").mkdir()
    return tmp_path / "run"


def plan(run: RunOnServer, objects: Path | None) -> Plan:
    return Plan(
        *(run.id, run.id, "trial", "e", "local", "s", "g", "local", run.token, run.server.client.url),
        launch=Launch(script="train.py"),
        objects=str(objects) if objects is not None else None,
    )


def nothing() -> None:
    pass


@pytest.mark.parametrize("shared", [True, False])
def test_a_folder_to_build_an_image_in(shared_server: Server, stored: Manifest, folder: Path, shared: bool) -> None:
    run = shared_server.make_run(snapshot_id=stored.id)
    objects = shared_server.home / "objects" if shared else None
    place = bring(f"runyard://snapshots/{stored.id}", plan(run, objects), folder, nothing)
    assert {str(path.relative_to(place)): path.read_text() for path in place.rglob("*") if path.is_file()} == FILES


def test_a_wheel_has_its_own_name_also_after_a_build_that_was_broken_off(
    shared_server: Server, stored: Manifest, folder: Path
) -> None:
    run = shared_server.make_run(snapshot_id=stored.id)
    digest = hashlib.sha256(b"b").hexdigest()
    address = f"runyard://wheels/{digest}/mine-1.0-py3-none-any.whl"
    for _ in range(2):
        place = bring(address, plan(run, shared_server.home / "objects"), folder, nothing)
        assert place.name == "mine-1.0-py3-none-any.whl"
        assert place.read_bytes() == b"b"
        place.write_bytes(b"half")


@pytest.mark.parametrize(
    "address",
    [f"runyard://snapshots/{'0' * 64}", f"runyard://wheels/{'0' * 64}/a.whl", "runyard://wheels/../../etc/passwd"],
)
def test_what_the_server_does_not_have_is_named(
    shared_server: Server, stored: Manifest, folder: Path, address: str
) -> None:
    run = shared_server.make_run(snapshot_id=stored.id)
    with pytest.raises(RunProblem) as raised:
        bring(address, plan(run, shared_server.home / "objects"), folder, nothing)
    assert raised.value.code == "NotKept"
    assert address in raised.value.message
