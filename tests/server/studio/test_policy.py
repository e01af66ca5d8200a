"""Which names are this server's own, and which requests another site has caused."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.datastructures import Headers

from runyard.server.settings import Settings
from runyard.server.studio.policy import foreign, is_own_name

SETTINGS = Settings(home=Path("/"), host="gpu-box.lan", url="http://127.0.0.1:7420")


@pytest.mark.parametrize("host", ["127.0.0.1:7420", "localhost:1", "[::1]:7420", "192.168.1.5", "gpu-box.lan:7420"])
def test_own_names(host: str) -> None:
    assert is_own_name(host, SETTINGS)


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example:7420", "", "localhost@evil.example", "x" * 9000, "[", "[::1"]
)
def test_names_of_others(host: str) -> None:
    assert not is_own_name(host, SETTINGS)


def test_requests_of_other_sites() -> None:
    def asked(method: str = "GET", **headers: str) -> str | None:
        return foreign(method, Headers({"host": "a:1", **{k.replace("_", "-"): v for k, v in headers.items()}}))

    assert asked() is None
    assert asked(origin="http://a:1", sec_fetch_site="same-origin") is None
    assert asked(origin="http://a:2") is not None
    assert asked(origin="null") is not None
    assert asked(origin="http://[") is not None
    assert asked(sec_fetch_site="cross-site") is not None
    assert asked("POST") is not None
    assert asked("POST", x_runyard_studio="1") is None
