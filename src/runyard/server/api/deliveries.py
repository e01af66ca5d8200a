"""The route by which the reporters of runs deliver: facts, logs and journals in one request, as
`runyard.contracts.delivery` describes it.

Thousands of runs use it every few seconds, and next to nothing else is asked that often. So it is plain ASGI: what
comes before it (authentication, protocol, limits, meters) and the refusals are those of all routes.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import orjson
from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from runyard import __version__
from runyard.contracts import delivery as deliveries
from runyard.contracts.delivery import BadDelivery, Delivery, JournalPart
from runyard.contracts.states import NOT_RESPONDING, TERMINAL
from runyard.scheduler import states
from runyard.scheduler.states import Fact
from runyard.server import connections
from runyard.server.api.description import PlainRoute
from runyard.server.context import ServerContext
from runyard.server.middleware import reach
from runyard.server.middleware.auth import Caller, caller_of
from runyard.server.middleware.meters import ANSWERED
from runyard.server.middleware.problems import Problem, body_of
from runyard.server.requests import facts
from runyard.server.requests.facts import FactReport
from runyard.server.threads import in_writer_thread
from runyard.store.errors import StoreError
from runyard.store.intake import Parcel, Taken
from runyard.store.runs.runs import Run

Json = dict[str, Any]

_LONG = 1 << 20
"""Bytes of a body that is taken apart in a thread."""

COME = orjson.dumps(deliveries.COME) + b"\n"
HEADERS = [(b"content-type", b"application/json"), (b"x-runyard-version", __version__.encode("ascii"))]
HELD = (b"x-accel-buffering", b"no")  # for a proxy: the receipt is not to wait for the end of the response


class Deliveries:
    """The ASGI application behind the route."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        context: ServerContext = scope["app"].state.context
        run_id = scope["path_params"]["run_id"]
        who = caller_of(scope, context)
        if who.run_id not in (None, run_id):
            await run_in_threadpool(reach.must_lead, context, who, run_id)
        held, receipt = await _answered(scope, context, who, run_id, await _body(receive))
        headers = [*HEADERS, HELD if held else (b"content-length", b"%d" % len(receipt))]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": receipt, "more_body": held > 0})
        if held:
            scope[ANSWERED] = time.perf_counter()
            come = await context.pace.hold(run_id, held, partial(_on_lost, scope, context, run_id))
            await send({"type": "http.response.body", "body": COME if come else b""})


def _on_lost(scope: Scope, context: ServerContext, run_id: str, end: Callable[[], None] | None) -> None:
    """Have the hold of a response end when its connection is lost; None: it has ended."""

    def lost() -> None:
        context.scheduler.cut(run_id)
        if end is not None:
            end()

    connections.on_lost(scope, lost if end is not None else None)


route = PlainRoute(
    "/api/runs/{run_id}/deliveries",
    Deliveries(),
    "POST",
    {
        "tags": ["runs"],
        "summary": "Deliver facts, logs and journals of a run in one request",
        "operationId": "deliver",
        "parameters": [{"name": "run_id", "in": "path", "required": True, "schema": {"type": "string"}}],
        "requestBody": {"required": True, "content": {"application/octet-stream": {}}},
        "responses": {"200": {"description": "The receipt", "content": {"application/json": {}}}},
    },
)


@dataclass
class Receipt:
    """What has become of a delivery so far. `run` is the run as the latest fact has left it, `status` and `attempt`
    are what is known of it without one."""

    parcel: Parcel
    run: Run | None = None
    before: list[Json] = field(default_factory=list)
    parts: list[Json] = field(default_factory=list)
    after: list[Json] = field(default_factory=list)

    @property
    def status(self) -> str:
        if self.run is not None:
            return self.run.status
        return self.parcel.state.status if self.parcel.state is not None else ""

    @property
    def over(self) -> bool:
        """Whether another attempt has followed the one that delivers."""
        known = self.run or self.parcel.state
        return known is not None and self.parcel.attempt is not None and self.parcel.attempt < known.attempt

    @property
    def live(self) -> bool:
        """Whether more is to come."""
        if self.run is not None:
            return not (self.run.ended or self.run.between_attempts or self.over)
        return self.parcel.state is not None and self.parcel.state.live and not self.over


async def _body(receive: Receive) -> bytes:
    message = await receive()
    if message["type"] == "http.request" and not message.get("more_body", False):
        return bytes(message.get("body", b""))
    pieces = []
    while message["type"] == "http.request":
        pieces.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(pieces)
        message = await receive()
    raise ClientDisconnect()


async def _answered(scope: Scope, context: ServerContext, who: Caller, run_id: str, body: bytes) -> tuple[float, bytes]:
    """Store a delivery; for how long its response is to be held, and the receipt."""
    delivery = await _decoded(body)
    receipt = await _stored(context, who, run_id, delivery)
    return written(context, receipt, delivery, connections.has_room(scope))


def written(context: ServerContext, receipt: Receipt, delivery: Delivery, room: bool) -> tuple[float, bytes]:
    """For how long the response to a delivery is to be held, if there is room for that, and the receipt."""
    run_id = receipt.parcel.run_id
    pace = context.pace.seconds(run_id)
    said: Json = {"status": receipt.status}
    if receipt.over:
        said["over"] = True
    said |= {"before": receipt.before, "parts": receipt.parts, "after": receipt.after, "pace": pace}
    held = 0.0
    if delivery.hold and pace and receipt.live and room:
        spoke = delivery.parts or delivery.before or delivery.after
        held = pace if spoke else context.pace.quiet_seconds(run_id, delivery.patience)
        said["held"] = held
        context.scheduler.held(run_id, held)
    return held, orjson.dumps(said, default=str) + b"\n"


async def _decoded(body: bytes) -> Delivery:
    try:
        delivery = deliveries.decode(body) if len(body) < _LONG else await run_in_threadpool(deliveries.decode, body)
    except BadDelivery as error:
        raise _bad_delivery(str(error)) from None
    if delivery.attempt == 0:
        raise _bad_delivery("attempts are counted from 1 on")
    return delivery


def _bad_delivery(fault: str) -> Problem:
    return Problem("bad_request", f"The body is no delivery: {fault}.", "docs/protocol.md describes its form.")


async def _stored(context: ServerContext, who: Caller, run_id: str, delivery: Delivery) -> Receipt:
    refused = await _refused(context, who, run_id, delivery)
    allowed = [part for at, part in enumerate(delivery.parts) if at not in refused] if refused else delivery.parts
    parcel = Parcel(run_id, allowed, delivery.attempt)
    receipt = Receipt(parcel)
    # The facts of a short life come with its end, and are stored with it: nobody has seen it in between.
    together = bool(delivery.before and delivery.after)
    if delivery.before and not together:
        receipt.before = await in_writer_thread(_report, context, receipt, delivery.before)
    if together and not refused:
        short = await in_writer_thread(_report_short_life, context, receipt, delivery)
        if short is not None:
            answer_parts(context, receipt, delivery, {})
            receipt.before, receipt.after = short[: len(delivery.before)], short[len(delivery.before) :]
            if receipt.status in TERMINAL:
                await context.ingest.ended(parcel)
            context.pace.delivered(run_id)
            return receipt
    # Facts are of moments that somebody waits for: a start, an end.
    at_once = bool(delivery.before or delivery.after) or context.pace.is_watched(run_id)
    if allowed:
        await _take(context, parcel, at_once)
    answer_parts(context, receipt, delivery, refused)
    all_taken = all("problem" not in answer for answer in receipt.parts)
    reported = [*(delivery.before if together else ()), *(delivery.after if all_taken else ())]
    answers = await in_writer_thread(_report, context, receipt, reported) if reported else []
    if together:
        receipt.before, answers = answers[: len(delivery.before)], answers[len(delivery.before) :]
    receipt.after = answers if all_taken else [{"skipped": True} for _ in delivery.after]
    if receipt.run is None:
        if parcel.state is None:
            await _take(context, parcel, at_once)
        await _sign_of_life(context, receipt)
    if receipt.status in TERMINAL:
        await context.ingest.ended(parcel)
    context.pace.delivered(run_id)
    return receipt


async def _take(context: ServerContext, parcel: Parcel, at_once: bool) -> None:
    try:
        await context.ingest.take(parcel, at_once)
    except asyncio.CancelledError:
        if not context.pace.closed:
            raise
        help = "Send the delivery again: whatever is stored already is skipped."
        raise Problem("not_ready", "The server stops.", help) from None


async def _refused(context: ServerContext, who: Caller, run_id: str, delivery: Delivery) -> dict[int, Json]:
    """The parts that the caller may not deliver, by their position, and why."""
    others = {
        part.run_id for part in delivery.parts if isinstance(part, JournalPart) and part.run_id not in (None, run_id)
    }
    if who.run_id is None or not others:
        return {}
    found = await run_in_threadpool(_out_of_reach, context, who, {str(other) for other in others})
    return {
        at: found[part.run_id]
        for at, part in enumerate(delivery.parts)
        if isinstance(part, JournalPart) and part.run_id in found
    }


def _out_of_reach(context: ServerContext, who: Caller, others: set[str]) -> dict[str, Json]:
    found = {}
    for other in others:
        try:
            reach.must_write(context, who, other)
        except Problem as problem:
            found[other] = _problem(problem)
    return found


def _report_short_life(context: ServerContext, receipt: Receipt, delivery: Delivery) -> list[Json] | None:
    """Store the facts and the logs of a short life in one transaction; the answers to the facts. None, and nothing is
    stored, where that is not all that there is to it."""
    answers, new = _facts(receipt, [*delivery.before, *delivery.after])
    logs = context.ingest.whole_logs(receipt.parcel) if new and not any(answers) else None
    if logs is not None:
        receipt.run = context.scheduler.report_short_life(receipt.parcel.run_id, new, logs)
    return answers if receipt.run is not None else None


def _report(context: ServerContext, receipt: Receipt, reported: Sequence[Json]) -> list[Json]:
    """Apply facts together; an answer to each. Raises what the whole delivery is to be repeated for."""
    answers, new = _facts(receipt, reported)
    if new:
        receipt.run = context.scheduler.report_all(receipt.parcel.run_id, new)
    return answers


def _facts(receipt: Receipt, reported: Sequence[Json]) -> tuple[list[Json], list[Fact]]:
    """Answers to what is reported, and the facts in it that are news."""
    answers: list[Json] = []
    taken: list[Fact] = []
    for each in reported:
        try:
            taken.append(facts.fact_of(FactReport.model_validate({"attempt": receipt.parcel.attempt, **each})))
            answers.append({})
        except ValidationError as error:
            answers.append({"problem": body_of("bad_request", f"This is no fact: {_faults(error)}.")})
        except Problem as problem:
            answers.append({"problem": _problem(problem)})
    return answers, [fact for fact in taken if fact.kind != states.HEARTBEAT]  # which every delivery is


async def _sign_of_life(context: ServerContext, receipt: Receipt) -> None:
    if not receipt.live:
        return
    run_id, attempt = receipt.parcel.run_id, receipt.parcel.attempt
    if receipt.status == NOT_RESPONDING:
        fact = Fact(states.HEARTBEAT, attempt=attempt)
        receipt.run = await in_writer_thread(context.scheduler.report, run_id, fact)
    else:
        context.scheduler.alive(run_id)


def answer_parts(context: ServerContext, receipt: Receipt, delivery: Delivery, refused: Mapping[int, Json]) -> None:
    """What has become of each part, now that the others are stored."""
    parcel = receipt.parcel
    answers = iter(parcel.answers)
    for at, part in enumerate(delivery.parts):
        answer = None if at in refused else next(answers)
        if answer is None:
            receipt.parts.append({"problem": refused[at]})
        elif not isinstance(answer, Taken):
            receipt.parts.append({"problem": _problem(answer)})
        elif isinstance(part, JournalPart):
            context.meters.recorded(part.data.count(b"\n"))
            context.meters.stored(len(part.data))
            receipt.parts.append({"offset": answer.size})
        else:
            context.meters.stored(len(part.data))
            context.live.file(parcel.run_id, str(answer.name), answer.size)
            receipt.parts.append({"size": answer.size})


def _problem(error: Problem | StoreError) -> Json:
    return body_of(error.code, error.title, error.help, error.detail)


def _faults(error: ValidationError) -> str:
    found = [f"{'.'.join(map(str, each['loc']))[:80]}: {each['msg'][:200]}" for each in error.errors()[:5]]
    return "; ".join(found)
