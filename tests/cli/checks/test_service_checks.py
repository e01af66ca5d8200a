"""What `runyard doctor` says of services; the server is a stand-in with two of them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from runyard.cli.api import Api
from runyard.cli.checks.service_checks import services


def test_those_that_do_not_answer_are_named_with_the_cause() -> None:
    found = [
        {"name": "good", "state": "Healthy", "error": None},
        {"name": "bad", "state": "Failed", "error": {"message": "no init", "help": "Write one."}},
    ]

    def get(path: str) -> Any:
        return {"workspaces": [{"name": "local"}]} if path == "/api/workspaces" else {"services": found}

    checks = list(services(cast(Api, SimpleNamespace(client=SimpleNamespace(get=get)))))
    assert [(each.name, each.verdict) for each in checks] == [("services", "ok"), ("service bad", "fail")]
    assert "no init" in checks[1].message
    assert "Write one." in checks[1].help
    found.clear()
    assert list(services(cast(Api, SimpleNamespace(client=SimpleNamespace(get=get))))) == []
