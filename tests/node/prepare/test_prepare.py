from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from runyard.contracts.manifest import Manifest
from runyard.contracts.plan import Launch, Plan
from runyard.node.prepare.prepare import prepare
from runyard.node.problem import RunProblem, Stopped

if TYPE_CHECKING:
    from tests.node.conftest import Server

FILES: dict[str, str | bytes] = {"train.py": "print()", "data/ü.bin": b"\x00" * 100_000, "copy.py": "print()"}


def nothing() -> None:
    pass


def make_plan(server: Server, run_id: str, token: str, snapshot_id: str | None, objects: Path | None) -> Plan:
    return Plan(
        run_id=run_id,
        root_run_id=run_id,
        experiment="trial",
        experiment_id="e",
        workspace="local",
        subscription_id="s",
        resource_group="g",
        target="local",
        token=token,
        server_url=server.client.url,
        launch=Launch(script="train.py"),
        snapshot_id=snapshot_id,
        objects=None if objects is None else str(objects),
    )


@pytest.fixture
def stored(on_server: Callable[[Mapping[str, str | bytes]], Manifest]) -> Manifest:
    """A snapshot that the server has."""
    return on_server(FILES)


def check_work(work: Path) -> None:
    for name, content in FILES.items():
        assert (work / name).read_bytes() == (content.encode() if isinstance(content, str) else content)
    assert (work / "outputs").is_dir()
    assert (work / "logs").is_dir()


@pytest.mark.parametrize("shared", [True, False])
def test_what_is_not_at_hand_is_fetched(shared_server: Server, stored: Manifest, tmp_path: Path, shared: bool) -> None:
    run = shared_server.make_run(snapshot_id=stored.id)
    folder = tmp_path / "run"
    folder.mkdir()
    objects = shared_server.home / "objects" if shared else None
    prepare(make_plan(shared_server, run.id, run.token, stored.id, objects), folder, nothing)
    check_work(folder / "work")
    assert sorted(path.name for path in folder.iterdir()) == ["streams", "temp", "work"]


def test_a_snapshot_out_of_reach(shared_server: Server, stored: Manifest, tmp_path: Path) -> None:
    elsewhere = {"name": "elsewhere", "subscription_id": "s", "resource_group": "g", "exist_ok": True}
    shared_server.client.post("/api/workspaces", elsewhere)
    run = shared_server.make_run(workspace="elsewhere")
    with pytest.raises(RunProblem, match="could not be fetched"):
        prepare(make_plan(shared_server, run.id, run.token, stored.id, None), tmp_path, nothing)


def test_without_a_snapshot_the_folder_is_empty(shared_server: Server, tmp_path: Path) -> None:
    run = shared_server.make_run()
    prepare(make_plan(shared_server, run.id, run.token, None, None), tmp_path, nothing)
    assert sorted(path.name for path in (tmp_path / "work").iterdir()) == ["logs", "outputs"]


def test_a_manifest_that_is_not_that_of_the_snapshot(shared_server: Server, stored: Manifest, tmp_path: Path) -> None:
    run = shared_server.make_run(snapshot_id=stored.id)
    (tmp_path / "manifest").write_bytes(b"")
    with pytest.raises(RunProblem, match="not that of snapshot"):
        prepare(make_plan(shared_server, run.id, run.token, stored.id, tmp_path), tmp_path, nothing)


def test_a_stop_while_the_server_is_away(shared_server: Server, stored: Manifest, tmp_path: Path) -> None:
    run = shared_server.make_run(snapshot_id=stored.id)
    plan = make_plan(shared_server, run.id, run.token, stored.id, None)
    calls: list[int] = []

    def check() -> None:
        calls.append(1)
        if len(calls) > 3:
            raise Stopped

    away = Plan(**{**plan.__dict__, "server_url": "http://127.0.0.1:9"})
    with pytest.raises(Stopped):
        prepare(away, tmp_path, check)


def test_outputs_that_are_a_file_in_the_snapshot(
    shared_server: Server, snapshot: Callable[[Mapping[str, str | bytes], Path], Manifest], tmp_path: Path
) -> None:
    manifest = snapshot({"outputs": "a file"}, tmp_path / "objects")
    (tmp_path / "manifest").write_bytes(manifest.text)
    prepare(make_plan(shared_server, "r", "t", manifest.id, tmp_path / "objects"), tmp_path, nothing)
    assert (tmp_path / "work" / "outputs").read_text() == "a file"
