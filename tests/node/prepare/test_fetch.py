"""A snapshot comes whole from the server, or not at all: damaged bytes never reach a working folder."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from runyard.contracts import pack
from runyard.contracts.manifest import Manifest
from runyard.node.delivery.retrying_client import Refused, RetryingClient
from runyard.node.prepare import fetch
from runyard.node.prepare.layout import object_path
from runyard.node.problem import RunProblem, Stopped

if TYPE_CHECKING:
    from tests.node.conftest import Server

FILES: dict[str, str | bytes] = {"train.py": "print(1)", "data/big.bin": bytes(3 << 20), "empty": ""}
DIGESTS = {hashlib.sha256(each.encode() if isinstance(each, str) else each).hexdigest() for each in FILES.values()}


@pytest.fixture
def stored(on_server: Callable[[Mapping[str, str | bytes]], Manifest]) -> Manifest:
    return on_server(FILES)


@pytest.fixture
def client(shared_server: Server, stored: Manifest, tmp_path: Path) -> RetryingClient:
    return shared_server.make_run(snapshot_id=stored.id).client(tmp_path)


def nothing() -> None:
    pass


def found(objects: Path) -> set[str]:
    return {path.parent.name + path.name for path in objects.glob("*/*")}


def test_the_manifest_and_every_object_come(client: RetryingClient, stored: Manifest, tmp_path: Path) -> None:
    manifest = fetch.fetch_manifest(client, stored.id)
    assert manifest == stored
    fetch.fetch_objects(client, manifest, tmp_path / "objects", nothing)
    assert found(tmp_path / "objects") == DIGESTS
    big = hashlib.sha256(bytes(3 << 20)).hexdigest()
    assert object_path(tmp_path / "objects", big).read_bytes() == bytes(3 << 20)


def test_many_objects_come_in_several_requests(
    client: RetryingClient, stored: Manifest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetch, "OBJECTS_PER_REQUEST", 1)
    fetch.fetch_objects(client, stored, tmp_path / "objects", nothing)
    assert found(tmp_path / "objects") == DIGESTS


def test_a_snapshot_that_the_server_does_not_have_is_refused(client: RetryingClient) -> None:
    with pytest.raises(Refused):
        fetch.fetch_manifest(client, "0" * 64)


def test_a_stop_ends_it_between_two_objects(client: RetryingClient, stored: Manifest, tmp_path: Path) -> None:
    def stop() -> None:
        raise Stopped

    with pytest.raises(Stopped):
        fetch.fetch_objects(client, stored, tmp_path / "objects", stop)
    assert found(tmp_path / "objects") == set()


class Answers:
    """A client whose responses are given: no server sends a damaged one."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def stream(self, method: str, path: str, value: Any, read: Callable[[io.BytesIO], Any]) -> Any:
        return read(io.BytesIO(self._content))


def fetch_from(content: bytes, objects: Path) -> None:
    fetch.fetch_digests(cast(RetryingClient, Answers(content)), {"0" * 64}, objects, nothing)


def test_bytes_that_are_not_those_of_the_hash_are_not_put_in_place(tmp_path: Path) -> None:
    with pytest.raises(RunProblem, match="other bytes than its hash says"):
        fetch_from(pack.header("0" * 64, 3) + b"abc", tmp_path)
    assert not object_path(tmp_path, "0" * 64).exists()


@pytest.mark.parametrize("content", [b"nonsense\n", pack.header("0" * 64, 9) + b"abc"])
def test_a_response_that_is_cut_off_is_one_to_try_again(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(ConnectionError):
        fetch_from(content, tmp_path)
    assert not object_path(tmp_path, "0" * 64).exists()


def test_a_manifest_in_the_folder_is_checked(stored: Manifest, tmp_path: Path) -> None:
    assert fetch.local_manifest(tmp_path, stored.id) is None
    (tmp_path / "manifest").write_bytes(stored.text)
    assert fetch.local_manifest(tmp_path, stored.id) == stored
    with pytest.raises(RunProblem, match="not that of snapshot"):
        fetch.local_manifest(tmp_path, "0" * 64)
    assert fetch.local_manifest(tmp_path / "empty", stored.id, stored.text.decode()) == stored
    (tmp_path / "manifest").write_bytes(b"\xff")
    with pytest.raises(RunProblem, match="damaged"):
        fetch.local_manifest(tmp_path, stored.id)
