"""`runyard studio`: a link that signs in, and signing out."""

from __future__ import annotations

import urllib.request
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.cli.conftest import Shell


def test_a_link_and_its_end(shell: Shell) -> None:
    link = shell.call("studio", "--no-browser").stdout.strip()
    assert "/studio/enter?code=" in link
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(link, timeout=20) as page:
        assert "HttpOnly" in page.headers["set-cookie"]
    assert shell.json("studio")["expires_at"]
    assert shell.json("studio", "--sign-out")["ended"] >= 1
    assert "0 browsers" in shell.call("studio", "--sign-out").stdout
