"""From what `run` returned, or raised, to a response."""

from __future__ import annotations

import json
from typing import Any

from runyard.serving.http.message import Response, is_header
from runyard.serving.rawhttp import AMLResponse


class CannotEncode(TypeError):
    """What `run` returned has no form on the wire."""


def answer(result: Any) -> Response:
    """None is an empty object; responses pass through; everything else becomes JSON. CannotEncode."""
    if isinstance(result, AMLResponse):
        return _given(result)
    if hasattr(result, "get_data") and hasattr(result, "status_code"):  # a response of Flask's
        headers = _headers([(name, value) for name, value in result.headers if name.lower() != "content-length"])
        failed = bool(getattr(result, "run_function_failed", result.status_code >= 500))
        return Response(result.get_data(), int(result.status_code), "", headers, failed)
    try:
        return Response(json.dumps({} if result is None else result).encode(), failed=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise CannotEncode(
            f"What run() returned cannot be written as JSON: {error}. Return lists, dictionaries, numbers and text; "
            "an array has .tolist() for it."
        ) from error


def _given(result: AMLResponse) -> Response:
    try:
        body, content_type = (b"{}", "application/json") if result.message is None else result.parts()
    except (TypeError, ValueError, RecursionError) as error:
        raise CannotEncode(f"The message of the AMLResponse cannot be written as JSON: {error}.") from error
    headers = _headers(list(result.headers.items()))
    if any(name.lower() == "content-type" for name, _ in headers):
        content_type = ""
    failed = result.run_function_failed or result.status_code >= 500
    return Response(body, int(result.status_code), content_type, headers, failed)


def _headers(given: list[tuple[str, Any]]) -> list[tuple[str, str]]:
    kept = [
        (str(name), str(value)) for name, value in given if str(name).lower() not in ("content-length", "connection")
    ]
    for name, value in kept:
        if not is_header(name, value):
            raise CannotEncode(f"The header {name!r} of the response holds a line break, or is no header.")
    return kept
