"""The error of a run as lines of text, for the command line and the exceptions of the SDK."""

from __future__ import annotations

from typing import Any, Iterator, Mapping

FEW_FRAMES = 2
"""How many frames an exception shows, which a notebook prints below a traceback of its own."""


def error_lines(error: Mapping[str, Any], frames: int | None = None) -> Iterator[str]:
    """What went wrong, the frames in the user's code (the last `frames` of them), and what to do.

    >>> list(error_lines({"message": "train.py failed with exit code 1", "help": "Look at line 3."}))
    ['train.py failed with exit code 1', 'Look at line 3.']
    """
    message = str(error.get("message") or "")
    yield from message.splitlines()
    exception = error.get("exception")
    if exception:
        known = exception.get("frames") or []
        for frame in known if frames is None else known[-frames:]:
            yield f"{frame['file']}:{frame['line']} in {frame['function']}"
            if frame.get("code"):
                yield f"    {frame['code']}"
        described = f"{exception['type']}: {exception['message']}" if exception["message"] else str(exception["type"])
        if described not in message:
            yield from described.splitlines()
    exit_text = (error.get("exit") or {}).get("words")
    if exit_text and exit_text not in message:
        yield str(exit_text)
    if error.get("help"):
        yield from str(error["help"]).splitlines()
