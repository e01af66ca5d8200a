from __future__ import annotations

import os
from pathlib import Path

import pytest

from runyard.system.files import content


@pytest.mark.parametrize("size", [0, 1, 1 << 16, (1 << 16) + 1, 300_000])
def test_all_of_a_file_is_read(tmp_path: Path, size: int) -> None:
    whole = os.urandom(size)
    (tmp_path / "file").write_bytes(whole)
    assert content(str(tmp_path / "file")) == whole


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        content(str(tmp_path / "file"))
