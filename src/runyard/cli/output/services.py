"""Services as the commands see and show them: requests to their routes, their state in words, progress."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from runyard.cli.output import formatting, screen
from runyard.client.http import quote
from runyard.contracts.services.states import FAILED

if TYPE_CHECKING:
    from runyard.cli.api import Api
    from runyard.sdk.workspace.workspace import Workspace

Json = dict[str, Any]

AGAIN_AFTER = 1.0
"""Seconds between two looks at a log that is followed."""

WAIT = 20
CALL_SECONDS = 3600.0


class Services:
    """The services of the workspace that is at hand."""

    def __init__(self, server: Api, workspace: Workspace) -> None:
        self._client, self.workspace = server.client, workspace
        self._base = f"/api/workspaces/{quote(workspace.name)}/services"

    @staticmethod
    def connect() -> Services:
        from runyard.cli import api
        from runyard.sdk.workspace.workspace import Workspace

        workspace = Workspace.from_config()
        return Services(api.Api(workspace.service), workspace)

    def all(self) -> list[Json]:
        found: list[Json] = self._client.get(self._base)["services"]
        return found

    def get(self, name: str, wait: int = 0) -> Json:
        found: Json = self._client.get(f"{self._base}/{quote(name)}", {"wait": wait} if wait else None)
        return found

    def post(self, path: str, body: Json | None = None) -> Json:
        return self._sent("POST", f"{self._base}{path}", body)

    def patch(self, name: str, body: Json) -> Json:
        return self._sent("PATCH", f"{self._base}/{quote(name)}", body)

    def _sent(self, method: str, target: str, body: Json | None) -> Json:
        """With the folder of its code, where the request has one."""
        from runyard.sdk.webservice import wire

        return wire.asked(self.workspace, method, target, body)

    def delete(self, name: str) -> None:
        self._client.delete(f"{self._base}/{quote(name)}", timeout=120)

    def keys(self, name: str) -> Json:
        found: Json = self._client.get(f"{self._base}/{quote(name)}/keys")
        return found

    def logs(self, name: str, tail: int, revision: int | None = None, build: bool = False) -> str:
        asked: Json = {"tail": tail, "revision": revision, "init": build or None}
        with self._client.stream(f"{self._base}/{quote(name)}/logs", asked) as answer:
            return answer.read().decode("utf-8", "replace")

    def more_logs(self, name: str, before: str, tail: int, revision: int | None, build: bool) -> str:
        """Wait a moment, and print what has been added since."""
        time.sleep(AGAIN_AFTER)
        now = self.logs(name, tail, revision, build)
        sys.stdout.write(added(before, now))
        return now

    def _as_owner(self, name: str) -> dict[str, str]:
        """What has a service tell its errors in full."""
        from runyard.contracts.services.access import hash_of, owner_token
        from runyard.contracts.services.worker import USER_TOKEN_HEADER

        token = self._client.locator.token
        return {USER_TOKEN_HEADER: owner_token(hash_of(token), name)} if token else {}

    def call(self, name: str, path: str, body: bytes) -> tuple[int, str, bytes]:
        """Ask a service, with what it needs to be asked; the status, the type and the bytes of its answer."""
        import http.client

        service = self.get(name)
        address = urlsplit(service["scoring_uri"])
        headers = {"Content-Type": "application/json", **self._as_owner(name)}
        mode = service["settings"]["authentication"]
        if mode == "key":
            headers["Authorization"] = f"Bearer {self.keys(name)['primary']}"
        elif mode == "token":
            headers["Authorization"] = f"Bearer {self.post(f'/{quote(name)}/token')['token']}"
        connection = http.client.HTTPConnection(str(address.hostname), address.port, timeout=CALL_SECONDS)
        try:
            connection.request("POST" if path == address.path or body else "GET", path, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.getheader("Content-Type") or "", answer.read()
        except OSError as error:
            from runyard.cli import errors

            raise errors.CommandError(
                f"{name} does not answer at {service['scoring_uri']}: {error}.",
                f"It is {service['state']}: `{formatting.program()} services show {name}` says why.",
                code="service_unreachable",
            ) from None
        finally:
            connection.close()


def added(before: str, now: str) -> str:
    """What a log has at its end that it did not have; all of it when it is another one.

    >>> added("a\\nb\\n", "a\\nb\\nc\\n"), added("a\\nb\\n", "b\\nc\\n")
    ('c\\n', 'c\\n')
    """
    if now.startswith(before):
        return now[len(before) :]
    last = before[-2000:]
    while last:
        at = now.find(last)
        if at >= 0:
            return now[at + len(last) :]
        last = last.partition("\n")[2]
    return now


def rows(found: Sequence[Json]) -> list[tuple[str, ...]]:
    return [
        (
            each["name"],
            each["state"],
            each["kind"],
            str(each["revision"] or ""),
            replicas(each),
            ", ".join(current(each).get("models", ())) or current(each).get("entry_script") or "",
            each["scoring_uri"],
        )
        for each in found
    ]


def replicas(service: Json) -> str:
    workers = [each for each in service["replicas"] if each["role"] == "worker"]
    return f"{sum(each['state'] == 'ready' for each in workers)}/{len(workers)} ready"


def current(service: Json) -> Json:
    """The revision that serves."""
    return next((each for each in service["revisions"] if each["number"] == service["revision"]), {})


def show_service(service: Json) -> None:
    print(f"{screen.heading(service['name'])}  {screen.status(service['state'])}  {service['kind']}")
    print(f"  {service['scoring_uri']}  (swagger: {service['swagger_uri']})")
    settings = service["settings"]
    scale = settings["autoscale"]
    many = f"{scale['min']} to {scale['max']} by load" if scale["enabled"] else str(settings["replicas"])
    print(f"  replicas: {many}; authentication: {settings['authentication']}")
    _show_error(service["error"])
    operation = service["operation"]
    if operation["state"] != "Succeeded":
        last = operation["steps"][-1]["text"]
        if last != operation["state"]:
            print(f"  {operation['state']}: {last}")
        _show_error(operation["error"] if operation["error"] != service["error"] else None)
    shown = [
        (
            str(each["number"]),
            each["state"],
            each.get("version_name") or "",
            "" if each.get("traffic") is None else f"{each['traffic']:g} %",
            ", ".join(each["models"]),
            each["entry_script"] or "no code",
            formatting.ago(formatting.moment(each["created_at"])),
        )
        for each in service["revisions"]
    ]
    screen.table(("REVISION", "STATE", "VERSION", "TRAFFIC", "MODELS", "SCRIPT", "MADE"), shown, 1)
    if service["replicas"]:
        print()
        screen.table(
            ("REPLICA", "STATE", "REVISION", "RESTARTS", "PID", "MEMORY"),
            [
                (
                    each["run_id"],
                    each["state"],
                    str(each["revision"]),
                    str(each["restarts"]),
                    str(each["pid"] or ""),
                    formatting.size(each["memory"]) if each["memory"] else "",
                )
                for each in service["replicas"]
            ],
            1,
        )


def _show_error(error: Json | None) -> None:
    if error:
        print(f"  {error.get('message')}")
        for name in ("traceback", "help"):
            for line in str(error.get(name) or "").splitlines():
                print(f"    {line}")


def progress(server: Services, service: Json, quiet: bool) -> Json:
    """Wait until what is being done to a service has ended, and print its steps as they come."""
    shown = 0
    while True:
        steps = service["operation"]["steps"]
        for step in [] if quiet else steps[shown:]:
            print(f"{formatting.local(formatting.moment(step['time']))} {step['text']}", flush=True)
        shown = len(steps)
        if service["operation"]["state"] != "Running":
            return service
        service = server.get(service["name"], WAIT if quiet else 1)


def tell_next(service: Json) -> None:
    print(f"{screen.heading(service['name'])}  {screen.status(service['state'])}  {service['scoring_uri']}")
    print("Next:")
    name, program = service["name"], formatting.program()
    if service["state"] == FAILED:
        commands = [f"show {name}", f"logs {name}", f"rm {name}"]
    else:
        sample = "[1, 2]" if current(service).get("entry_script") else "[[1, 2]]"  # a model is given rows
        commands = [f"call {name} '{{\"data\": {sample}}}'", f"logs -f {name}", f"show {name}"]
        if service["settings"]["authentication"] == "key":
            commands.append(f"keys {name}")
    for command in commands:
        print(f"  {program} services {command}")
