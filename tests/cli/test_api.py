"""If these fail, a command works on another run than the one that its user meant."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from runyard.cli import api, errors
from runyard.client.http import ClientProblem

if TYPE_CHECKING:
    from tests.cli.conftest import Shell


@pytest.fixture
def server(shell: Shell) -> api.Api:
    shell.json("up")
    found = api.connect_if_running(shell.home, timeout=60)
    assert found is not None
    return found


def make(server: api.Api, run_id: str) -> None:
    server.client.post(
        "/api/runs",
        {"run_id": run_id, "workspace": "local", "experiment": "api", "kind": "interactive"},
        idempotent=True,
    )


def test_no_server_is_started_by_looking_for_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RUNYARD_SERVER", raising=False)
    assert api.connect_if_running(tmp_path, timeout=1) is None
    assert list(tmp_path.iterdir()) == []


def test_a_server_that_is_named_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUNYARD_SERVER", "http://elsewhere:8700/")
    found = api.connect_if_running(tmp_path, timeout=1)
    assert found is not None
    assert found.client.url == "http://elsewhere:8700"


def test_a_run_is_found_by_an_unambiguous_part_of_its_id(server: api.Api) -> None:
    for run_id in ("apitest_1763235000_aaaa1111", "apitest_1763235000_bbbb2222"):
        make(server, run_id)
    assert server.find("apitest_1763235000_aaaa1111")["id"] == "apitest_1763235000_aaaa1111"
    assert server.find("bbbb2222")["id"] == "apitest_1763235000_bbbb2222"
    assert server.find("aaa1")["id"] == "apitest_1763235000_aaaa1111"
    with pytest.raises(errors.CommandError) as ambiguous:
        server.find("apitest_")
    assert ambiguous.value.code == "run_ambiguous"


@pytest.mark.parametrize(
    ("text", "code", "exit_code"),
    [("no-such-run", "run_not_found", errors.NOT_FOUND), ("  ", "usage", errors.USAGE)],
)
def test_a_run_that_is_not_there(server: api.Api, text: str, code: str, exit_code: int) -> None:
    with pytest.raises(errors.CommandError) as refused:
        server.find(text)
    assert (refused.value.code, refused.value.exit_code) == (code, exit_code)


def test_the_rest_of_a_file_is_read_from_an_offset(server: api.Api) -> None:
    make(server, "apifiles_1763235000_cccc3333")
    server.client.put("/api/runs/apifiles_1763235000_cccc3333/files/logs/a.txt", body=b"0123456789")
    assert b"".join(server.read("apifiles_1763235000_cccc3333", "logs/a.txt", 4)) == b"456789"
    with pytest.raises(ClientProblem) as refused:
        list(server.read("apifiles_1763235000_cccc3333", "logs/none.txt"))
    assert refused.value.code == "file_not_found"


def test_an_experiment_that_nobody_has_is_refused(server: api.Api) -> None:
    with pytest.raises(errors.CommandError) as refused:
        server.experiment("nobody-has-this")
    assert (refused.value.code, refused.value.exit_code) == ("experiment_not_found", errors.NOT_FOUND)
