"""What lies beside the store becomes part of it only if it is the user's own, whole, and named as it lies there."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from runyard.store.content import handed
from runyard.store.content.objects import Objects
from runyard.store.errors import Refused

TOKEN = "0123456789abcdef" * 2
HELLO = hashlib.sha256(b"hello").hexdigest()


@pytest.fixture
def objects(tmp_path: Path) -> Objects:
    return Objects(tmp_path / "objects")


def lay(objects: Objects, content: bytes = b"hello") -> Path:
    path = objects.handed / f"{TOKEN}.{HELLO}"
    path.write_bytes(content)
    return path


def test_an_object_is_moved_in_and_waits_for_its_name(objects: Objects) -> None:
    lay(objects)
    assert handed.take(objects, TOKEN, {HELLO: 5}) == 1
    assert objects.open(HELLO).read() == b"hello"
    assert list(objects.handed.iterdir()) == []
    assert objects.discard(HELLO) is None, "it has just come in"
    assert handed.take(objects, TOKEN, {HELLO: 5}) == 0, "a repeated request does no harm"


def test_what_is_torn_linked_or_no_file_is_refused(objects: Objects, tmp_path: Path) -> None:
    path = lay(objects, b"hell")
    with pytest.raises(Refused):
        handed.take(objects, TOKEN, {HELLO: 5})
    path.write_bytes(b"hello")
    os.link(path, tmp_path / "still mine")
    with pytest.raises(Refused):
        handed.take(objects, TOKEN, {HELLO: 5})
    path.unlink()
    path.symlink_to(tmp_path / "still mine")
    with pytest.raises(Refused):
        handed.take(objects, TOKEN, {HELLO: 5})
    assert not objects.has(HELLO)


@pytest.mark.parametrize("token", ["", "../incoming/x", TOKEN + "0", "x" * 32])
def test_a_token_leads_nowhere_else(objects: Objects, token: str) -> None:
    with pytest.raises(Refused):
        handed.take(objects, token, {HELLO: 5})


def test_a_hash_leads_nowhere_else(objects: Objects) -> None:
    with pytest.raises(Refused):
        handed.take(objects, TOKEN, {"../../secret": 5})


def test_what_a_client_that_died_has_left_is_found_as_a_leftover(objects: Objects) -> None:
    path = lay(objects)
    assert [(found.path, found.digest) for found in objects.walk()] == [(path, None)]
