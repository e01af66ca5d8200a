"""A delivery: all that the reporter of a run has for its history at one moment, in one request.

    POST /api/runs/{run}/deliveries
    <header: one line of JSON>\n<the bytes of the parts, one after the other>

    header = {"attempt"?: n, "before"?: [fact], "parts"?: [part], "after"?: [fact], "hold"?: true,
              "patience"?: seconds}
    part   = {"log": name, "offset": n, "length": n, "restart"?: true}
           | {"journal": writer, "run"?: id, "offset": n, "length": n}

Facts of `before` are applied first, then the parts, then those of `after`, which are skipped when a part was not taken:
an end is reported after everything else. A delivery with nothing in it is a heartbeat.

The response is one line or two. The receipt comes when everything is stored:

    {"status": ..., "over"?: true, "before": [answer], "parts": [answer], "after": [answer], "pace": seconds,
     "held"?: seconds}
    answer = {} for a fact | {"skipped": true} | {"size": n} for a log | {"offset": n} for a journal
           | {"problem": problem document}

`pace` is how long the reporter may let new bytes wait before it delivers again; 0 is as soon as they are there, because
somebody watches the run. With `hold`, the server may leave the response open for up to `held` seconds and end it with a
second line, `{"come": true}`: deliver now, on this connection. A reporter that cannot wait for that line closes the
connection and uses another one. Where nothing new comes, the server waits `held` seconds for a sign of life: at most
the `patience` of the reporter, or what reporters without one agree to.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Dict, Union

HEADER_LIMIT = 1 << 20
"""Bytes that a header has at most."""

PARTS_LIMIT = 1000
"""Parts that a delivery has at most, and facts."""

PATIENCE = 264
"""Seconds for which reporters of this version wait for the end of a held response."""

COME = {"come": True}
"""The second line of a held response."""

Fact = Dict[str, Any]


class BadDelivery(ValueError):
    """The body does not follow the form."""


@dataclass(frozen=True)
class LogPart:
    """Bytes of a growing file of the run, as `POST .../appends/{name}` takes them."""

    name: str
    offset: int
    data: bytes
    restart: bool = False


@dataclass(frozen=True)
class JournalPart:
    """Whole lines of a journal, as `POST .../journals/{writer}` takes them; `run_id` None is the run itself."""

    writer: str
    offset: int
    data: bytes
    run_id: str | None = None


Part = Union[LogPart, JournalPart]


@dataclass
class Delivery:
    before: list[Fact] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)
    after: list[Fact] = field(default_factory=list)
    attempt: int | None = None
    hold: bool = False
    patience: int = 0  # seconds for which the reporter agrees to wait; 0: it is too old to say so


def encode(delivery: Delivery) -> bytes:
    """The body of the request."""
    header: dict[str, Any] = {"parts": [_described(part) for part in delivery.parts]}
    for name in ("before", "after"):
        if getattr(delivery, name):
            header[name] = getattr(delivery, name)
    if delivery.attempt is not None:
        header["attempt"] = delivery.attempt
    if delivery.hold:
        header["hold"] = True
        if delivery.patience:
            header["patience"] = delivery.patience
    line = json.dumps(header, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode("ascii")
    return b"".join([line, b"\n", *(part.data for part in delivery.parts)])


def decode(body: bytes) -> Delivery:
    """What a body says; BadDelivery when it does not follow the form. Names are not checked, nor are facts."""
    end = body.find(b"\n", 0, HEADER_LIMIT)
    if end < 0:
        raise BadDelivery("it does not begin with a header: one line of JSON")
    try:
        header = json.loads(body[:end])
    except (ValueError, RecursionError) as error:
        raise BadDelivery(f"its header is no JSON: {error}") from None
    if not isinstance(header, dict):
        raise BadDelivery("its header is no object")
    parts: list[Part] = []
    position = end + 1
    for described in _list(header, "parts"):
        after = position + _number(described, "length")
        if after > len(body):
            raise BadDelivery("it has fewer bytes than its header says")
        parts.append(_part(described, body[position:after]))
        position = after
    if position != len(body):
        raise BadDelivery("it has more bytes than its header says")
    attempt = None if header.get("attempt") is None else _number(header, "attempt")
    hold, patience = header.get("hold") is True, _number(header, "patience") if "patience" in header else 0
    return Delivery(_list(header, "before"), parts, _list(header, "after"), attempt, hold, patience)


def _described(part: Part) -> dict[str, Any]:
    described: dict[str, Any] = {"offset": part.offset, "length": len(part.data)}
    if isinstance(part, LogPart):
        described["log"] = part.name
        if part.restart:
            described["restart"] = True
        return described
    described["journal"] = part.writer
    if part.run_id is not None:
        described["run"] = part.run_id
    return described


def _part(described: dict[str, Any], data: bytes) -> Part:
    offset = _number(described, "offset")
    name, writer, run_id = described.get("log"), described.get("journal"), described.get("run")
    if isinstance(name, str) and writer is None:
        return LogPart(name, offset, data, described.get("restart") is True)
    if isinstance(writer, str) and name is None and (run_id is None or isinstance(run_id, str)):
        return JournalPart(writer, offset, data, run_id)
    raise BadDelivery("one of its parts is neither a log nor a journal")


def _list(header: dict[str, Any], name: str) -> list[dict[str, Any]]:
    found = header.get(name)
    if found is None and name not in header:
        return []
    if not isinstance(found, list) or len(found) > PARTS_LIMIT or not all(isinstance(each, dict) for each in found):
        raise BadDelivery(f"'{name}' in its header is no list of at most {PARTS_LIMIT} objects")
    return found


def _number(described: dict[str, Any], name: str) -> int:
    value = described.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 1 << 53:
        raise BadDelivery(f"'{name}' is no whole number from 0 on")
    return value
