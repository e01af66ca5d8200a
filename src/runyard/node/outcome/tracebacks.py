"""Reading Python tracebacks out of a log: the last one, its exception and its frames. It never runs Python code."""

from __future__ import annotations

import os
import re
from typing import NamedTuple, Sequence

MESSAGE_LINES = 30
FRAMES = 10
TRIED = 100  # tracebacks in a log, from its end: a log can hold thousands that are none
STRANGE_LINES = 3  # that other processes may have printed into the middle of a traceback

_HEADER = re.compile(r"^(?P<before>.*?)Traceback \(most recent call last\):\s*$")
_FRAME = re.compile(r'^\s*File "(?P<file>[^"]+)", line (?P<line>\d+)(?:, in (?P<function>.+))?\s*$')
_EXCEPTION = re.compile(r"^(?P<type>[^\W\d]\w*(?:\.(?:\w+|<locals>))*)(?P<colon>:)?(?: (?P<message>.*))?$")
_SYNTAX = re.compile(r"^(?:SyntaxError|IndentationError|TabError): ")
_CHAIN = ("During handling of the above exception,", "The above exception was the direct cause")
_RULE = re.compile(r"^\s*\+[-+]+(?: ?(?:\d+|\.\.\.) ?-*)?$")
_MARGIN = re.compile(r"^\s*\| ?")
_LOG_LINE = re.compile(r"^\W?\d{4}-\d\d-\d\d[T ]|^\[?(?:DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL)\b", re.ASCII)
_LIBRARY = ("/site-packages/", "/dist-packages/")


class Frame(NamedTuple):
    file: str
    line: int
    function: str
    code: str


class Trace(NamedTuple):
    type: str
    message: str
    frames: list[Frame]


def find_last(log: str) -> Trace | None:
    """The exception that most likely ended the process that wrote this log.

    That is the last one that is neither ignored by Python ("Exception ignored in ...") nor a thread's own, which ends
    no process; a thread's when there is no other.
    """
    lines = re.split(r"\r\n|\n|\r", log)
    of_thread: Trace | None = None
    tried = 0
    for index in range(len(lines) - 1, -1, -1):
        if tried == TRIED:
            break
        if _SYNTAX.match(lines[index]):
            trace = _syntax_error(lines, index)
        elif _HEADER.match(lines[index]):
            trace = _read_at(lines, index)
        else:
            continue
        tried += 1
        before = _line_before(lines, index)
        if trace is None or before.startswith("Exception ignored"):
            continue
        if not before.startswith("Exception in thread"):
            return trace
        of_thread = of_thread or trace
    return of_thread


def user_frames(frames: Sequence[Frame], work: str) -> list[Frame]:
    """The last frames in the user's own code, with paths relative to the working folder; else the last of any code."""
    roots = {work.rstrip("/") + "/", os.path.realpath(work) + "/"}
    own = []
    for frame in frames:
        relative = next((frame.file[len(root) :] for root in roots if frame.file.startswith(root)), None)
        if relative is None and not frame.file.startswith(("/", "<")):
            relative = frame.file
        if relative is not None and not any(part in f"/{relative}" for part in _LIBRARY):
            own.append(frame._replace(file=relative))
    return (own or list(frames))[-FRAMES:]


def _read_at(lines: Sequence[str], header: int) -> Trace | None:
    """The traceback whose header is at this line."""
    match = _HEADER.match(lines[header])
    before = match["before"] if match else ""
    if before.lstrip().startswith(("|", "+")):
        start = _group_start(lines, header)
        return _group(lines, start) if start is not None else None
    rest = lines[header + 1 :]
    if before and rest and rest[0].startswith(before):  # each line has a prefix, for instance "[rank0]: "
        own = []
        for line in rest:
            if not line.startswith(before.rstrip()):
                break
            own.append(line[len(before) :])
        rest = own
    return _read(rest)


def _read(lines: Sequence[str]) -> Trace | None:
    """Frames, then the line with the exception, then the rest of its message."""
    frames: list[Frame] = []
    strange = 0
    for index, line in enumerate(lines):
        match = _FRAME.match(line)
        if match:
            code = lines[index + 1] if index + 1 < len(lines) else ""
            shown = code.strip() if code.startswith("    ") and not _FRAME.match(code) else ""
            frames.append(Frame(match["file"], int(match["line"]), match["function"] or "", shown))
            continue
        if line.startswith((" ", "\t")) or not line.strip():
            continue
        found = _EXCEPTION.match(line)
        if _HEADER.match(line) or line.startswith(_CHAIN):
            return None
        if found and _names_exception(found):
            return Trace(found["type"], _message(found["message"] or "", lines[index + 1 :]), frames)
        strange += 1
        if strange > STRANGE_LINES:
            return None
    return None


def _names_exception(found: re.Match[str]) -> bool:
    """`KeyboardInterrupt` or `ValueError: text`, but not "Done with it", which another process printed in between."""
    if found["colon"]:
        return True
    return found["message"] is None and ("." in found["type"] or found["type"][0].isupper())


def _message(first: str, following: Sequence[str]) -> str:
    message = [first]
    for line in following[: MESSAGE_LINES - 1]:
        if not line.strip() or _HEADER.match(line) or line.startswith(_CHAIN) or _LOG_LINE.match(line):
            break
        message.append(line.rstrip())
    return "\n".join(message).strip()


def _syntax_error(lines: Sequence[str], index: int) -> Trace | None:
    """A script that cannot be compiled gets no header: a frame without a function, the code, a caret, the error."""
    for start in range(index - 1, max(index - 6, -1), -1):
        match = _FRAME.match(lines[start])
        if match:
            # With a function, or with another frame above, it belongs to a whole traceback.
            above = _line_before(lines, start)
            whole = bool(match["function"]) or above.startswith("    ") or _HEADER.match(above)
            return None if whole else _read(lines[start:])
    return None


def _group_start(lines: Sequence[str], index: int) -> int | None:
    """The outermost header of the exception group that this line is part of."""
    start = None
    for at in range(index, -1, -1):
        text = lines[at].lstrip()
        if not text.startswith(("|", "+")):
            break
        if "+ Exception Group Traceback" in lines[at] and not text.startswith("|"):
            start = at
    return start


def _group(lines: Sequence[str], header: int) -> Trace | None:
    """An exception group: its own exception, with those that it holds named in the message."""
    margin = lines[header].index("+")
    body: list[str] = []
    for line in lines[header + 1 :]:
        if not line.lstrip().startswith(("|", "+")):
            break
        body.append(line)
    own: list[str] = []
    for line in body:
        if line[margin : margin + 1] != "|":
            break
        own.append(line[margin + 2 :])
    trace = _read(own)
    if trace is None:
        return None
    sections: list[list[str]] = []
    for line in body[len(own) :]:
        if _RULE.match(line):
            sections.append([])
        elif sections:
            sections[-1].append(_MARGIN.sub("", line))
    held = [member for member in map(_member, sections) if member]
    return trace._replace(message="\n".join([trace.message, *held]))


def _member(section: Sequence[str]) -> str:
    trace = _read([line for line in section if not _HEADER.match(line)])
    if trace is None:
        return ""
    text = f"{trace.type}: {trace.message}" if trace.message else trace.type
    return "- " + text.partition("\n")[0]


def _line_before(lines: Sequence[str], index: int) -> str:
    return lines[index - 1] if index else ""
