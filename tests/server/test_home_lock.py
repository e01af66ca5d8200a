"""If these fail, a server does not come back to its home, or two work in one."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.bad_json import every_bad_text

from runyard.server.home_lock import HomeLock, Taken


@every_bad_text
def test_whatever_the_file_holds_the_lock_is_had(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "server.lock").write_bytes(text)
    with HomeLock(tmp_path) as lock:
        assert (lock.last_host, lock.last_port) == (None, None)
        with pytest.raises(Taken, match="is starting for"):
            HomeLock(tmp_path)
        lock.record("127.0.0.1", 7420)
    with HomeLock(tmp_path) as again:
        assert (again.last_host, again.last_port) == ("127.0.0.1", 7420)


@pytest.mark.parametrize("port", ["0", "-1", "65536", "1e3", "true", '"7420"', "9" * 400])
def test_a_port_that_is_none_is_forgotten(tmp_path: Path, port: str) -> None:
    (tmp_path / "server.lock").write_text(f'{{"pid": 1, "host": null, "port": {port}}}')
    with HomeLock(tmp_path) as lock:
        assert lock.last_port is None


@every_bad_text
def test_a_lock_that_another_holds_is_taken_whatever_it_says(tmp_path: Path, text: bytes) -> None:
    with HomeLock(tmp_path):
        (tmp_path / "server.lock").write_bytes(text)
        with pytest.raises(Taken, match="is starting for"):
            HomeLock(tmp_path)
