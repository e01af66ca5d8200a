"""Deliveries to the server (`runyard.contracts.delivery`): retried until they are answered, each part with its answer,
and the wait for the server to ask for the next one.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any, Union

from runyard.client.held import Held
from runyard.client.http import ClientProblem, quote
from runyard.client.problems import of_document
from runyard.contracts.delivery import COME, PATIENCE, Delivery, Fact, encode
from runyard.node.delivery.retrying_client import TRIES_AT_A_FAULT, Refused, RetryingClient, is_final
from runyard.node.log import log_line
from runyard.node.problem import Unwanted

_NO_ROUTE = frozenset({"not_found", "method_not_allowed"})
_OLDER = ("not_ready", "The server takes no deliveries.", "It must be as new as its node runners.")

Answer = Union[int, Refused]
"""How many bytes of it the server has, or why it did not take it."""


@dataclass(frozen=True)
class Receipt:
    parts: list[Answer]
    complete: bool  # all parts were taken, and so the facts that come after them
    pace: float
    held: float  # seconds for which the server may ask for the next delivery; 0: it will not


class Reporter:
    """The deliveries of one run, from one thread."""

    def __init__(self, client: RetryingClient) -> None:
        self._client = client
        self._held = Held(client.http)
        self._target = f"/api/runs/{quote(client.run_id)}/deliveries"
        self._may_hold = True
        self._receipt_times = (0.0, 0.0, 0.0)  # how long the last one took, when it came, and how long it was held
        self.too_large = False  # a delivery of many parts was: something on the way takes less than the server does

    @property
    def held(self) -> bool:
        """Whether the server may still ask for the next delivery."""
        return self._held.open

    @property
    def broken(self) -> bool:
        """Whether the connection broke while the server held its response."""
        return self._held.broken

    def deliver(self, delivery: Delivery) -> Receipt:
        """Deliver until it is answered. What may be taken later is sent again; an answer is final."""
        delivery = replace(
            delivery, attempt=self._client.attempt, hold=delivery.hold and self._may_hold, patience=PATIENCE
        )
        try:
            return self._until_answered(delivery)
        except Refused as refusal:
            if refusal.code == "run_not_found":
                raise Unwanted(f"run {self._client.run_id} was deleted on the server") from refusal
            return self._apart(delivery, refusal)

    def wait(self, seconds: float, wake: int) -> bool:
        """Wait until the server asks for the next delivery, which is True; until it will not any more, until `wake` can
        be read, or for `seconds`."""
        held = self.held
        come = bool(self._held.wait(seconds, wake) == COME)
        if held and not self.held and not come and not self.broken:
            self._judge_hold()
        return come

    def _judge_hold(self) -> None:
        """A receipt that comes late, and with it the end of a response that was to be held, was held back on the way:
        by a proxy that waits for whole responses."""
        took, at, held = self._receipt_times
        if took > held / 2 and time.monotonic() - at < held / 4:
            log_line("something on the way to the server delays its responses: it is not asked to hold them any more")
            self._may_hold = False

    def close(self) -> None:
        self._held.close()

    def _until_answered(self, delivery: Delivery) -> Receipt:
        body = encode(delivery)
        faults = 0

        def once() -> Receipt:
            nonlocal faults
            began = time.monotonic()
            try:
                value = self._held.post(self._target, body)
            except ClientProblem as refusal:
                if refusal.code in _NO_ROUTE:
                    raise ClientProblem(*_OLDER) from refusal
                raise
            if not isinstance(value, dict) or len(value.get("parts", ())) != len(delivery.parts):
                raise ConnectionError(f"{self._client.http.url} answers a delivery with something else than a receipt")
            facts = [_answer(each) for name in ("before", "after") for each in value.get(name, ())]
            parts = [_answer(each) for each in value.get("parts", ())]
            for problem in (*facts, *parts):
                if isinstance(problem, ClientProblem) and not is_final(problem):
                    faults += problem.code == "internal" and problem in parts
                    if problem.code != "internal" or problem in facts or faults < TRIES_AT_A_FAULT:
                        raise problem
            receipt = self._receipt(delivery, value, facts, parts)
            now = time.monotonic()
            self._receipt_times = (now - began, now, receipt.held)
            if receipt.held and not self.held:
                self._judge_hold()
            return receipt

        return self._client.until_answered(once, insist=not delivery.parts)

    def _receipt(self, delivery: Delivery, value: dict[str, Any], facts: list[Any], parts: list[Any]) -> Receipt:
        for fact, answer in zip((*delivery.before, *delivery.after), facts):
            if isinstance(answer, ClientProblem):
                self._refused(fact, Refused(answer))
        self._client.superseded = self._client.superseded or bool(value.get("over"))
        answers = [Refused(each) if isinstance(each, ClientProblem) else int(each) for each in parts]
        complete = not any(isinstance(answer, Refused) for answer in answers)
        return Receipt(answers, complete, float(value.get("pace", 0.0)), float(value.get("held", 0.0)))

    def _apart(self, delivery: Delivery, refusal: Refused) -> Receipt:
        """What one thing in a delivery is refused for must not harm the others: each is delivered by itself."""
        if not delivery.parts:
            for fact in (*delivery.before, *delivery.after):
                self._refused(fact, refusal)
            return Receipt([], True, 0.0, 0.0)
        alone = replace(delivery, before=[], after=[], hold=False)
        if len(delivery.parts) == 1 and not delivery.before and not delivery.after:
            return Receipt([refusal], False, 0.0, 0.0)
        self.too_large = self.too_large or refusal.status == 413
        receipts = [self.deliver(replace(alone, parts=[], before=delivery.before))] if delivery.before else []
        receipts += [self.deliver(replace(alone, parts=[part])) for part in delivery.parts]
        answers = [answer for receipt in receipts for answer in receipt.parts]
        taken = not any(isinstance(answer, Refused) for answer in answers)
        if taken and delivery.after:
            receipts.append(self.deliver(replace(alone, parts=[], after=delivery.after)))
        return Receipt(answers, taken, receipts[-1].pace, 0.0)

    def _refused(self, fact: Fact, refusal: Refused) -> None:
        if refusal.code == "run_not_found":
            raise Unwanted(f"run {self._client.run_id} was deleted on the server") from refusal
        log_line(f"the server refused the fact {fact.get('fact')!r} of {self._client.run_id}: {refusal}")


def _answer(answer: dict[str, Any]) -> int | ClientProblem:
    """How many bytes the server has; 0 for a fact, which has no size."""
    problem = answer.get("problem")
    if problem is None:
        return int(answer.get("size", answer.get("offset", 0)))
    return of_document(problem, int(problem.get("status", 400)))
