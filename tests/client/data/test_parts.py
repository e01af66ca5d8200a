"""Whether a file that has come is the one that was listed."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path
from typing import Any

import pytest

from runyard.client.data.parts import check, pieces_of
from runyard.client.data.problem import Changed

CONTENT = b"some bytes"


def listed(**more: Any) -> dict[str, Any]:
    return {"source": "https://data.example/a", "size": len(CONTENT), **more}


@pytest.fixture
def part(tmp_path: Path) -> Path:
    path = tmp_path / "a.part"
    path.write_bytes(CONTENT)
    return path


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"size": None},
        {"sha256": hashlib.sha256(CONTENT).hexdigest().upper()},
        {"md5": hashlib.md5(CONTENT).hexdigest()},
        {"md5": base64.b64encode(hashlib.md5(CONTENT).digest()).decode()},
    ],
)
def test_one_that_is_as_listed_stays(part: Path, more: dict[str, Any]) -> None:
    check(listed(**more), part)
    assert part.read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("more", "how"),
    [
        ({"size": 3}, "came with 10 bytes, and was listed with 3"),
        ({"sha256": "0" * 64}, "SHA-256"),
        ({"md5": "0" * 32}, "MD5"),
    ],
)
def test_one_that_is_another_is_removed_so_that_nobody_takes_it_up(part: Path, more: dict[str, Any], how: str) -> None:
    with pytest.raises(Changed, match=how):
        check(listed(**more), part)
    assert not part.exists()


def test_the_list_of_pieces_lies_beside_it(part: Path) -> None:
    assert pieces_of(part) == part.with_name("a.part.pieces")
