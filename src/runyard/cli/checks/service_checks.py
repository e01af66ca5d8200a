"""Checks of services: whether each answers, and why one does not."""

from __future__ import annotations

from collections.abc import Iterator

from runyard.cli.api import Api
from runyard.cli.checks.check import FAIL, OK, WARN, Check
from runyard.client.http import ClientProblem, quote

FINE = ("Healthy", "Transitioning", "Stopped", "Deleting")


def services(server: Api) -> Iterator[Check]:
    """The services of all workspaces; nothing where there are none."""
    try:
        workspaces = server.client.get("/api/workspaces")["workspaces"]
        found = [
            each
            for workspace in workspaces
            for each in server.client.get(f"/api/workspaces/{quote(workspace['name'])}/services")["services"]
        ]
    except ClientProblem as problem:
        yield Check("services", WARN, f"they could not be asked for: {problem}", "See the server's log.")
        return
    if not found:
        return
    well = [each["name"] for each in found if each["state"] in FINE]
    if well:
        yield Check("services", OK, f"{len(well)} of {len(found)} are in order: {', '.join(sorted(well))}")
    for each in found:
        if each["state"] not in FINE:
            error = each["error"] or {}
            message = str(error.get("message") or "it does not answer").splitlines()[0]
            verdict = FAIL if each["state"] == "Failed" else WARN
            help = f"{error.get('help') or ''} `runyard services logs {each['name']}` shows what it wrote.".strip()
            yield Check(f"service {each['name']}", verdict, f"{each['state']}: {message}", help)
