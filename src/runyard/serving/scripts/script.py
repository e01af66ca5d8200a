"""The entry script of a service: loaded once, `init` called once, `run` called for each request.

It is called as on Azure: with the body as text; with named arguments from a JSON object where it has `@input_schema`;
with the whole request where it has `@rawhttp`. A parameter `request_headers` gets the headers in each case.
"""

from __future__ import annotations

import importlib.util
import inspect
import json
import os
import sys
from typing import Any, Callable
from urllib.parse import parse_qs

from runyard.serving.failure import CannotServe
from runyard.serving.http.head import BadRequest
from runyard.serving.http.message import Request
from runyard.serving.rawhttp import AMLRequest, Headers, is_raw
from runyard.serving.scripts import schemas

HEADERS = "request_headers"


class Script:
    """`run` takes a request and gives what the user's code returned. BadRequest for a request that it cannot take."""

    def __init__(self, run: Callable[..., Any], name: str = "the entry script") -> None:
        self.function = run
        self.schema = schemas.schema_of(run)
        raw = is_raw(run)
        if raw and self.schema is not None:
            raise CannotServe(
                f"run() in {name} has both @rawhttp and @input_schema.",
                "Keep one of them: a raw request has no schema.",
            )
        self._parameters = _parameters(run, name)
        self._takes_headers = HEADERS in self._parameters
        named = [each for each in self._parameters if each != HEADERS]
        self._first = named[0]
        self._required = [each for each in named if self._parameters[each].default is inspect.Parameter.empty]
        self._arguments = self._raw if raw else self._text if self.schema is None else self._named

    def run(self, request: Request) -> Any:
        return self.function(**self._arguments(request))

    def _with_headers(self, request: Request, arguments: dict[str, Any]) -> dict[str, Any]:
        if self._takes_headers:
            arguments[HEADERS] = dict(Headers(request.headers))
        return arguments

    def _raw(self, request: Request) -> dict[str, Any]:
        return self._with_headers(request, {self._first: AMLRequest(request)})

    def _text(self, request: Request) -> dict[str, Any]:
        return self._with_headers(request, {self._first: _body(request)})

    def _named(self, request: Request) -> dict[str, Any]:
        if request.method != "GET":
            kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
            if kind != "application/json":
                raise BadRequest(415, f"The content type is {kind!r}: this service takes application/json.")
        text = _body(request)
        if not text.strip():
            raise BadRequest(400, f"The body is empty: a JSON object with {self._expected()} is expected.")
        try:
            given = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise BadRequest(400, f"The body is not JSON: {error}") from error
        if not isinstance(given, dict):
            raise BadRequest(400, f"The body is not a JSON object: one with {self._expected()} is expected.")
        given = {self._spelled(name): value for name, value in given.items()}
        missing = [name for name in self._required if name not in given]
        if missing:
            raise BadRequest(
                400, f"The body lacks {', '.join(missing)}: a JSON object with {self._expected()} is expected."
            )
        return self._with_headers(request, {name: given[name] for name in given if name in self._parameters})

    def _spelled(self, name: str) -> str:
        """Clients write the names of parameters in any case, as Azure allows it."""
        if name in self._parameters:
            return name
        return next((each for each in self._parameters if each.lower() == name.lower()), name)

    def _expected(self) -> str:
        return ", ".join(repr(name) for name in self._parameters if name != HEADERS)


def load(source_directory: str, entry_script: str) -> Script:
    """Load the script, check it, and call its `init`. CannotServe, or whatever the script raises."""
    path = os.path.join(source_directory, entry_script)
    if not os.path.isfile(path):
        raise CannotServe(f"There is no entry script at {path}.", "Name it relative to the source directory.")
    for folder in (os.path.dirname(os.path.abspath(path)), os.path.abspath(source_directory or ".")):
        if folder not in sys.path:
            sys.path.insert(0, folder)
    schemas.stand_in()
    name = os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise CannotServe(f"{path} is not a Python file.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    for function in ("init", "run"):
        if not callable(getattr(module, function, None)):
            raise CannotServe(
                f"The entry script {entry_script} has no function {function}().",
                "It needs init(), which loads the model, and run(data), which answers a request.",
            )
    script = Script(module.run, entry_script)
    module.init()
    return script


def _parameters(run: Callable[..., Any], name: str) -> dict[str, inspect.Parameter]:
    found = dict(inspect.signature(run).parameters)
    for each in found.values():
        if each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD, each.POSITIONAL_ONLY):
            raise CannotServe(
                f"run() in {name} has a parameter that cannot be given by name: {each}.",
                "Give run() plain parameters, such as run(data).",
            )
    if not [each for each in found if each != HEADERS]:
        raise CannotServe(f"run() in {name} takes no data.", "Give it a parameter for the request: run(data).")
    return found


def _body(request: Request) -> str:
    if request.method == "GET":
        return json.dumps(_query(request.head.query))
    try:
        return request.body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadRequest(
            400, "The body is not text in UTF-8. A script that takes other bytes is marked with @rawhttp."
        ) from error


def _query(query: str) -> dict[str, Any]:
    """The object that a GET stands for: values are read as JSON where they can be, repeated ones become lists."""
    found: dict[str, Any] = {}
    for name, texts in parse_qs(query, keep_blank_values=True).items():
        values: list[Any] = [_value(text) for text in texts]
        found[name] = values[0] if len(values) == 1 else values
    return found


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
