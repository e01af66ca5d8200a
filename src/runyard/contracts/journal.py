r"""The journal: what a process of a run logs, one JSON array per line, in a file of its own.

A line is strict JSON. Its first item is its kind:

    ["v", name, value, time, step]       one value of a metric (`run.log`); step is a whole number or null
    ["l", name, [value, ...], time]      a piece of a list (`run.log_list`); pieces concatenate
    ["t", name, {column: [value, ...]}, time]   rows of a table (`run.log_row`, `run.log_table`)
    ["a", name, type, file, time]        a metric that is a file of the run's history (image, confusion matrix, ...)
    ["d", name, text]                    the description of a metric
    ["f", file, spool]                   a file to store under the name `file`; its bytes are in `spool/<spool>`
    ["g", {key: value}]                  tags to set            ["G", [key, ...]]   tags to remove
    ["p", {key: value}]                  properties to add
    ["P", {key: value}]                  parameters: what the run was started with; each is written once
    ["m", what, document]                what MLflow notes besides: "inputs", "outputs" or "measured"
    ["e", outcome, error]                the end of an interactive run: "completed" | "failed" | "canceled"
    ["o", source, time, step, {name: value, ...}]   what was observed beside what the run logs: numbers at one moment,
                                         each a series of its own, apart from a metric of the same name (SOURCES)

A value is a number, a string, a bool or null; a float that JSON cannot hold is {"f": "nan" | "inf" | "-inf"}.
Times are seconds since 1970, UTC. The file grows at its end only, so a byte offset at a line's end is a sequence
number: batches carry it, and a batch sent twice does no harm.

A telemetry folder, and each in it, is made by whoever writes there first. It holds

    journal/<run id>@<writer>.jsonl      one file per process and run
    journal/<run id>@<writer>.ack        how many of its bytes the server has confirmed (decimal text)
    spool/<name>                         bytes to be delivered to the run's history
    wake                                 a named pipe, read by whoever delivers: "f" asks for a delivery at once

The rank of a process, if it has one, is part of its writer's name (`rank3-...`), so that it costs nothing per point.
For what a node runner has observed of its node, the number of the node takes its place.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

VALUE, LIST, TABLE, ARTIFACT = "v", "l", "t", "a"
DESCRIPTION, FILE, TAGS, UNTAG, PROPERTIES, END = "d", "f", "g", "G", "p", "e"
PARAMETERS, NOTED = "P", "m"
INPUTS, OUTPUTS, MEASURED = "inputs", "outputs", "measured"
OBSERVED = "o"

SYSTEM, EVENTS = "system", "events"
SOURCES = (SYSTEM, EVENTS)
"""Where observed numbers are from: the machine (`runyard.contracts.observed.load`), and the script's event files."""

WAKE, FLUSH = "wake", b"f"

RANK_VARIABLE = "RUNYARD_PROCESS_RANK"
"""The variable with the rank of each process of a distributed run, whatever its framework."""

MLFLOW = "mlflow"
"""How the names of writers begin that hold what was logged by MLflow's protocol."""

_RANK = re.compile(r"(?:rank|node)([0-9]{1,9})-", re.ASCII)

NON_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def encode_float(value: float) -> str:
    """The JSON text of a float, NaN and the infinities included."""
    if math.isfinite(value):
        return float.__repr__(value)
    return f'{{"f":"{float.__repr__(value)}"}}'


def pack_value(value: Any) -> Any:
    """A JSON-ready form of one value; the inverse of `unpack_value`."""
    if isinstance(value, float) and not math.isfinite(value):
        return {"f": float.__repr__(value)}
    return value


def unpack_value(value: Any) -> Any:
    if isinstance(value, dict):
        return NON_FINITE[value["f"]]
    return value


def line(*items: Any) -> bytes:
    """One record as a line of the file."""
    return (
        json.dumps(items, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
        + b"\n"
    )


def file_name(run_id: str, writer: str) -> str:
    return f"{run_id}@{writer}.jsonl"


def writer_name(rank: int | None, process: str) -> str:
    """
    >>> writer_name(3, "1234-5f6a"), writer_name(None, "1234-5f6a")
    ('rank3-1234-5f6a', '1234-5f6a')
    """
    return process if rank is None else f"rank{rank}-{process}"


def node_writer(node: int, process: str) -> str:
    """
    >>> node_writer(2, "system-1234"), rank_of("node2-system-1234")
    ('node2-system-1234', 2)
    """
    return f"node{node}-{process}"


def rank_of(writer: str) -> int | None:
    """The rank of the process that has written a journal, or the node that it is about; None when it has neither."""
    found = _RANK.match(writer)
    return int(found[1]) if found is not None else None


def is_of_mlflow(writer: str) -> bool:
    """Whether a journal holds what was logged by MLflow's protocol."""
    return writer == MLFLOW or writer.startswith(f"{MLFLOW}-")


def parse_file_name(name: str) -> tuple[str, str]:
    """The run id and the writer of a journal file; ValueError when it is none."""
    stem, _dot, suffix = name.rpartition(".")
    run_id, _at, writer = stem.rpartition("@")
    if suffix != "jsonl" or not run_id or not writer:
        raise ValueError(f"{name!r} is not a journal")
    return run_id, writer
