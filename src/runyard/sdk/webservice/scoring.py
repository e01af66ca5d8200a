"""Calling a service: one request to its scoring address, over the standard library."""

from __future__ import annotations

import json
from typing import Any, Mapping

from runyard.client.exchange import Connection
from runyard.sdk.exceptions import WebserviceException
from runyard.system.records import field, record

PATIENCE = 300.0
"""Seconds that an answer may take: longer than a service may (its scoring time-out is a minute, by default)."""

LONGEST_SHOWN = 2000


@record(frozen=True)
class Answer:
    """What a service answered."""

    status: int
    headers: dict[str, str] = field(default_factory=dict)
    content: bytes = b""

    @property
    def text(self) -> str:
        return self.content.decode("utf-8", "replace")


def body_of(input_data: object) -> bytes:
    """What is sent: the text or the bytes as they are."""
    if isinstance(input_data, str):
        return input_data.encode("utf-8")
    if isinstance(input_data, (bytes, bytearray, memoryview)):
        return bytes(input_data)
    raise WebserviceException(
        f"run takes a text or bytes, not a {type(input_data).__name__}: service.run(json.dumps({{'data': ...}}))."
    )


def called(uri: str, body: bytes, headers: Mapping[str, str], timeout: float = PATIENCE) -> Answer:
    """The answer of a service to one request; WebserviceException when nobody answers."""
    host, port, secure, target = parts_of(uri)
    connection = Connection(host, port, secure=secure, timeout=timeout)
    try:
        connection.request("POST", target, body, {"Connection": "close", **headers})
        response = connection.getresponse()
        return Answer(response.status, dict(response.headers.items()), response.read())
    except OSError as error:
        raise WebserviceException(
            f"The service at {uri} did not answer ({error}). service.update_deployment_state() and service.state say "
            "how it stands, service.get_logs() why.",
            inner_exception=error,
        ) from None
    finally:
        connection.close()


def parts_of(uri: str) -> tuple[str, int | None, bool, str]:
    """Host, port, whether TLS is spoken, and the target of an address.

    >>> parts_of("http://127.0.0.1:8890/score")
    ('127.0.0.1', 8890, False, '/score')
    """
    from urllib.parse import urlsplit

    parts = urlsplit(uri)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise WebserviceException(f"{uri!r} is no address of a service.")
    target = f"{parts.path or '/'}{f'?{parts.query}' if parts.query else ''}"
    return parts.hostname, parts.port, parts.scheme == "https", target


def result_of(answer: Answer, name: str) -> Any:
    """The JSON of an answer; WebserviceException with status, headers and body for anything but a 200 with JSON."""
    if answer.status != 200:
        raise WebserviceException(
            f"The service {name!r} answered with status {answer.status}. Headers: {answer.headers}. "
            f"Body: {answer.text[:LONGEST_SHOWN]}",
            status_code=answer.status,
        )
    try:
        return json.loads(answer.content)
    except ValueError as error:
        raise WebserviceException(
            f"The service {name!r} answered with something that is no JSON ({error}): {answer.text[:200]!r}. Post to "
            "service.scoring_uri yourself to get it as it is.",
            status_code=answer.status,
            inner_exception=error,
        ) from None
