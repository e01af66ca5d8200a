"""Secrets over HTTP: a value is in its own answer and in a private file, and nowhere else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.server.conftest import on_both_databases

if TYPE_CHECKING:
    from tests.server.conftest import Client, Served

PATH = "/api/workspaces/local/secrets"
VALUE = "s3cret-of-the-vault"


@on_both_databases
def test_a_secret_is_set_read_replaced_and_forgotten(served: Served) -> None:
    client = served.client
    made = client.ok("PUT", f"{PATH}/db-password", {"value": "first", "content_type": "text"})
    assert made["name"] == "db-password"
    client.ok("PUT", f"{PATH}/db-password", {"value": VALUE})
    assert client.ok("GET", f"{PATH}/db-password")["value"] == VALUE
    listed = client.get(PATH)
    assert [each["name"] for each in listed.json["secrets"]] == ["db-password"]
    assert VALUE not in listed.body.decode()
    files = list((served.settings.home / "secrets").iterdir())
    assert [(file.read_text(), file.stat().st_mode & 0o777) for file in files] == [(VALUE, 0o600)]
    client.ok("DELETE", f"{PATH}/db-password")
    assert list((served.settings.home / "secrets").iterdir()) == []
    assert client.get(f"{PATH}/db-password").code == "secret_not_found"


def test_the_database_does_not_have_the_value(served_on_sqlite: Served) -> None:
    served_on_sqlite.client.ok("PUT", f"{PATH}/mine", {"value": VALUE})
    for file in served_on_sqlite.settings.home.glob("runyard.db*"):
        assert VALUE.encode() not in file.read_bytes()


def test_what_is_refused_does_not_repeat_the_value(client: Client) -> None:
    for path, body in (("bad_name", VALUE), ("mine", VALUE * 2000)):
        answer = client.call("PUT", f"{PATH}/{path}", {"value": body})
        assert answer.status == 400
        assert VALUE not in answer.body.decode()
    assert client.call("PUT", "/api/workspaces/nowhere/secrets/mine", {"value": "x"}).code == "workspace_not_found"


def test_a_run_reads_and_does_not_write(client: Client) -> None:
    client.ok("PUT", f"{PATH}/mine", {"value": VALUE})
    run = client.as_run(client.make_run())
    assert run.ok("GET", f"{PATH}/mine")["value"] == VALUE
    assert run.call("PUT", f"{PATH}/mine", {"value": "x"}).code == "not_allowed"
    assert run.call("DELETE", f"{PATH}/mine").code == "not_allowed"
    client.ok("PUT", "/api/workspaces/local/settings/runs.scope", {"value": "run"})
    assert run.get(f"{PATH}/mine").code == "not_allowed"


def test_a_value_whose_file_is_gone_is_said(served_on_sqlite: Served) -> None:
    client = served_on_sqlite.client
    client.ok("PUT", f"{PATH}/mine", {"value": VALUE})
    for file in (served_on_sqlite.settings.home / "secrets").iterdir():
        file.unlink()
    answer = client.get(f"{PATH}/mine")
    assert answer.code == "secret_not_found"
    assert "secret set mine" in answer.json["help"]
