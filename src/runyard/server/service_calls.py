"""Calls from the server to the services that it keeps up: their numbers, their description, a request to try one.

Only ever to the port of a service that the database knows, on the address on which it listens, so nobody can have the
server call something else.
"""

from __future__ import annotations

import http.client
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass

from runyard.contracts.services.settings import KEY, TOKEN
from runyard.server.context import ServerContext
from runyard.server.middleware.problems import Problem
from runyard.server.requests import service_keys
from runyard.store.assets.services import Service

LOCAL = "127.0.0.1"
EVERYWHERE = ("0.0.0.0", "::", "localhost", "")
PATIENCE = 60.0
LARGEST = 4 << 20
"""Bytes of an answer that are passed on."""

_NOT_COUNTED = ("/", "/ready", "/metrics", "/swagger.json")
_SAMPLE = re.compile(r"runyard_service_(\w+?)(?:\{([^}]*)\})? ([-+0-9.eE]+|NaN)$")
_LABEL = re.compile(r'\b(\w+)="((?:[^"\\]|\\.)*)"')


@dataclass(frozen=True)
class Answer:
    status: int
    content_type: str
    body: bytes
    seconds: float
    cut: bool = False  # there was more than `LARGEST`


def call(
    context: ServerContext,
    service: Service,
    path: str,
    body: bytes | None = None,
    content_type: str = "application/json",
    patience: float = PATIENCE,
) -> Answer:
    """One request, with the key or a token of the service; `service_away` where nobody answers."""
    host = service.settings.host
    address = LOCAL if host in EVERYWHERE else host
    connection = http.client.HTTPConnection(address, service.port, timeout=patience)
    headers = {**_credentials(context, service), **({"Content-Type": content_type} if body is not None else {})}
    began = time.monotonic()
    try:
        connection.request("GET" if body is None else "POST", path, body=body, headers=headers)
        response = connection.getresponse()
        content = response.read(LARGEST + 1)
        seconds = time.monotonic() - began
        kind = response.getheader("Content-Type") or ""
        return Answer(response.status, kind, content[:LARGEST], seconds, len(content) > LARGEST)
    except (OSError, http.client.HTTPException) as error:
        raise Problem(
            "service_away",
            f"The service {service.name!r} does not answer: {error or type(error).__name__}.",
            "Its state and its log say why.",
        ) from None
    finally:
        connection.close()


def numbers(text: str) -> dict[str, float]:
    """What a service counts, summed over its workers, with the histogram of its answers by upper edge.

    >>> numbers('runyard_service_requests_total{route="/score",status="200"} 3')["requests"]
    3.0
    """
    found: dict[str, float] = {"requests": 0.0, "errors": 0.0, "seconds": 0.0, "answers": 0.0}
    for line in text.splitlines():
        matched = _SAMPLE.match(line)
        if matched is None:
            continue
        name, labels, value = matched[1], dict(_LABEL.findall(matched[2] or "")), float(matched[3])
        if labels.get("route") in _NOT_COUNTED:
            continue
        if name == "requests_total":
            found["requests"] += value
            found["errors"] += value if labels.get("status", "").startswith("5") else 0.0
        elif name == "request_seconds_sum":
            found["seconds"] += value
        elif name == "request_seconds_count":
            found["answers"] += value
        elif name == "request_seconds_bucket":
            key = f"le {labels.get('le', '')}"
            found[key] = found.get(key, 0.0) + value
        elif name in ("calls_running", "calls_waiting", "connections", "memory_bytes", "cpu_seconds_total"):
            found[name] = found.get(name, 0.0) + value
    return found


def _credentials(context: ServerContext, service: Service) -> Mapping[str, str]:
    if service.settings.authentication == KEY:
        return {"Authorization": f"Bearer {context.secrets.value(service.keys['primary'])}"}
    if service.settings.authentication == TOKEN:
        made = service_keys.token(context, service.workspace, service.name)
        return {"Authorization": f"Bearer {made['token']}"}
    return {}
