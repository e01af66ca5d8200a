"""What answers the requests of a service: an entry script, or a model without code. One small interface for both."""

from __future__ import annotations

import sys
import time
from typing import Protocol

from runyard.contracts.services.worker import WorkerError
from runyard.serving.failure import failure
from runyard.serving.http.head import BadRequest
from runyard.serving.http.message import Request, Response, json_response, message
from runyard.serving.scripts.answer import CannotEncode, answer
from runyard.serving.scripts.script import Script
from runyard.serving.swagger import Described
from runyard.system.records import asdict

FAILED = "The script of the service failed. Its log has the reason; so does the answer, for whoever shows their token."


class Asked(Protocol):
    """A request that waits for its answer. `prepared` is what the scorer made of it before."""

    request: Request
    prepared: object
    in_full: bool  # whether whoever asks may see the inside of errors


class Scorer(Protocol):
    """`routes` are the paths, or beginnings of paths that end in a slash, that it answers besides the scoring path."""

    routes: tuple[str, ...]
    batches: int  # calls that answered several requests
    batch_rows: int  # rows in them

    def at_once(self, request: Request) -> Response | None:
        """The answer to what needs no call of the model: metadata, readiness. None for everything else."""
        ...

    def prepare(self, asked: Asked) -> tuple[object | None, int]:
        """Read a request before it waits: what others must have in common with it to be answered together, and how
        many rows it has. (None, 1): it is answered alone."""
        ...

    def execute(self, asked: list[Asked]) -> list[Response]:
        """Answer requests that go together. Never raises."""
        ...

    def describe(self, described: Described) -> None: ...


class ScriptScorer:
    """Calls `run` of an entry script."""

    routes: tuple[str, ...] = ()
    batches = batch_rows = 0

    def __init__(self, script: Script, folder: str) -> None:
        self._script, self._folder = script, folder

    def at_once(self, request: Request) -> Response | None:
        return None

    def prepare(self, asked: Asked) -> tuple[object | None, int]:
        return None, 1

    def execute(self, asked: list[Asked]) -> list[Response]:
        return [self._answer(each) for each in asked]

    def _answer(self, asked: Asked) -> Response:
        began = time.perf_counter()
        try:
            result = self._script.run(asked.request)
            seconds = time.perf_counter() - began
            response = answer(result)
        except BadRequest as wrong:
            return message(wrong.status, wrong.message, failed=False)
        except CannotEncode as error:
            print(f"{error}", file=sys.stderr, flush=True)
            return failed(500, str(error), WorkerError("CannotEncode", str(error)) if asked.in_full else None)
        except (Exception, SystemExit, KeyboardInterrupt, GeneratorExit) as error:  # noqa: BLE001 - it is the user's
            told = failure(error, self._folder)
            print(told.traceback, file=sys.stderr, flush=True)
            return failed(500, FAILED, told if asked.in_full else None)
        response.seconds = seconds
        return response

    def describe(self, described: Described) -> None:
        schema = self._script.schema
        if schema is not None:
            described.input = schema["input"] or described.input
            described.output = schema["output"] or described.output


def failed(status: int, text: str, error: WorkerError | None) -> Response:
    """A failure of the user's code; `error` for whoever may see it."""
    if error is None:
        return message(status, text, failed=True)
    shown = f"{error.type}: {error.message}"
    return json_response({"message": shown, "error": asdict(error)}, status, failed=True)
