"""If these fail, `runyard doctor` is silent of a service that does not answer, or cannot say why."""

from __future__ import annotations

from typing import Any

from runyard.cli.checks import service_checks


def checks(found: list[dict[str, Any]]) -> list[tuple[str, str, str, str]]:
    """Of services as a server would tell them: in states that pass too soon to be met."""

    class Told:
        client: Any

        def get(self, path: str) -> Any:
            return {"workspaces": [{"name": "local"}]} if path == "/api/workspaces" else {"services": found}

    told: Any = Told()
    told.client = told
    return [(each.name, each.verdict, each.message, each.help) for each in service_checks.services(told)]


def test_each_service_that_does_not_answer_is_named_with_the_cause() -> None:
    fine = [{"name": name, "state": state, "error": None} for name, state in (("b", "Healthy"), ("a", "Stopped"))]
    sick = {"name": "sick", "state": "Unhealthy", "error": {"message": "it hangs\nfor long", "help": "Look."}}
    failed = {"name": "failed", "state": "Failed", "error": None}
    all_in_order, first, second = checks([*fine, sick, failed])
    assert all_in_order[:3] == ("services", "ok", "2 of 4 are in order: a, b")
    assert first == (
        "service sick",
        "warn",
        "Unhealthy: it hangs",
        "Look. `runyard services logs sick` shows what it wrote.",
    )
    assert second[:3] == ("service failed", "fail", "Failed: it does not answer")
    assert checks([]) == [], "who has no services is told nothing of them"
