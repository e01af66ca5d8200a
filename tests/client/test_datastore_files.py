"""Transfers to a folder: directly where it is seen, through the server where it is not, resumed where they broke."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.server.conftest import serve

from runyard.client import datastore_files
from runyard.client.data.problem import TransferProblem
from runyard.client.datastore_files import Remote, Upload
from runyard.client.http import Client, Locator, Unreachable
from runyard.server.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def remote(home: Path, migrated_sqlite: Path) -> Iterator[Remote]:
    shutil.copy(migrated_sqlite, home / "runyard.db")
    with serve(Settings(home=home, token="a-token-of-16-characters", secret="s3cret")) as served:
        client = Client(Locator(served.client.url, served.client.token), patience=1.0)
        yield Remote(client, "local", "workspaceblobstore")


def put(remote: Remote, *files: Upload) -> list[str]:
    done: list[str] = []
    remote.put(files, lambda moved: None, lambda each: done.append(each.path))
    return done


def uploads(folder: Path, **files: bytes) -> list[Upload]:
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return [Upload(folder / name, f"up/{name}") for name in files]


def test_a_folder_that_is_seen_is_written_to_directly(
    remote: Remote, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Remote, "_put_through_server", None)
    assert sorted(put(remote, *uploads(tmp_path, a=b"1", b=b"22"))) == ["up/a", "up/b"]
    assert [(each["path"], each["size"]) for each in remote.files()] == [("up/a", 1), ("up/b", 2)], "and no probe"
    assert remote.existing(["up/a", "up/c"]) == {"up/a"}


def test_what_is_not_seen_goes_through_the_server_in_pieces_and_goes_on(
    remote: Remote, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Remote, "_try_folder", lambda self: None)
    monkeypatch.setattr(datastore_files, "SENT_AT_ONCE", 4)
    sent: list[int] = []
    whole = Client.request

    def breaking(self: Client, method: str, path: str, *rest: Any, **options: Any) -> Any:
        if method == "PUT":
            sent.append(options["params"]["offset"])
            if len(sent) == 3:
                raise Unreachable(self.url, OSError("cut"), True, "")
        return whole(self, method, path, *rest, **options)

    monkeypatch.setattr(Client, "request", breaking)
    (file,) = uploads(tmp_path, big=b"0123456789")
    with pytest.raises(TransferProblem, match="big cannot be uploaded"):
        put(remote, file)
    assert list(remote.files()) == [], "nothing half made"
    put(remote, file)
    assert sent == [0, 4, 8, 8], "what had come is not sent again"
    remote.get(list(remote.files()), tmp_path / "here", lambda moved: None, lambda path: None)
    assert (tmp_path / "here/up/big").read_bytes() == b"0123456789"


def test_one_file_that_fails_does_not_keep_the_others_from_going(remote: Remote, tmp_path: Path) -> None:
    good = uploads(tmp_path, a=b"1", b=b"2")
    with pytest.raises(TransferProblem, match="nowhere"):
        put(remote, Upload(tmp_path / "nowhere", "up/x"), *good)
    assert [each["path"] for each in remote.files()] == ["up/a", "up/b"]
