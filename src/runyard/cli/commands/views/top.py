"""`runyard top`: what the live runs of a workspace and their nodes are doing, until Ctrl-C."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

from runyard.cli.options import JsonOption
from runyard.cli.output import formatting, screen
from runyard.cli.output.terminal import readable_line
from runyard.cli.parameters import Option
from runyard.contracts.observed import load

if TYPE_CHECKING:
    from rich.console import RenderableType

    from runyard.cli.api import Api

COLUMNS = ("RUN", "NODE", "STATUS", "CPU", "OF NODE", "MEMORY", "LIMIT", "GPU", "GPU MEMORY", "DISK", "NETWORK", "FOR")
STATUS = COLUMNS.index("STATUS")
WAITING_SHOWN = 10


def top(
    once: Annotated[bool, Option("--once", help="Show it once, and do not stay.")] = False,
    every: Annotated[float, Option("--every", metavar="SECONDS", min=0.5, max=3600, help="How often to look.")] = 2.0,
    as_json: JsonOption = False,
) -> None:
    """Show what live runs take of their nodes: processors, memory, GPUs, disk, network."""
    from runyard.cli import api

    server = api.connect()
    if as_json or once or not screen.is_terminal():
        # The first look has the runs deliver what is not here yet.
        first = _look(server)
        answer = _look(server) if any(run["load"] or run["status"] == "Running" for run in first["runs"]) else first
        if as_json:
            screen.document(answer)
        else:
            screen.table(COLUMNS, rows(answer), STATUS)
            print(_footer(answer))
        return
    from rich.live import Live

    with contextlib.suppress(KeyboardInterrupt), Live(console=screen.console(), screen=True) as live:
        while True:
            live.update(_drawn(_look(server)), refresh=True)
            time.sleep(every)


def rows(answer: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """A row for each node of each run that goes on; then the runs that wait."""
    found = []
    for run in answer["runs"]:
        name = run["display_name"] or run["id"]
        lasted = formatting.lasted(run["started_at"], None)
        nodes = run["load"] or [{"node": None, "values": {}}]
        for position, node in enumerate(nodes):
            first = position == 0
            number = "" if node["node"] is None else str(node["node"])
            status = run["status"] if first else ""
            found.append((name if first else "", number, status, *_cells(node["values"]), lasted if first else ""))
    going = [row for row in found if row[-1] or row[1] or not row[0]]
    waiting = [row for row in found if row not in going]
    return going + waiting[:WAITING_SHOWN]


def _cells(values: Mapping[str, float]) -> tuple[str, ...]:
    """Processors (of the run, of the node), memory (of the run, its limit), GPUs (busy, memory), disk, network."""
    cores = values.get(load.CORES)
    of_node = f"{values[load.CPU]:.1f} of {cores:.0f}" if cores and load.CPU in values else ""
    gpus = sorted(name for name in values if name.startswith(load.GPU) and name.endswith(f"/{load.GPU_BUSY}"))
    held = sum(value for name, value in values.items() if _is_gpu(name, load.GPU_MEMORY))
    there = sum(value for name, value in values.items() if _is_gpu(name, load.GPU_TOTAL))
    return (
        f"{values[load.CPU_RUN]:.2f}" if load.CPU_RUN in values else "",
        of_node,
        _size(values, load.MEMORY_RUN),
        _size(values, load.MEMORY_LIMIT),
        " ".join(f"{values[name]:.0f}%" for name in gpus),
        f"{formatting.size(int(held))} of {formatting.size(int(there))}" if there else "",
        _rate(values, load.RUN_READ, load.RUN_WRITE),
        _rate(values, load.RECEIVED, load.SENT),
    )


def _is_gpu(name: str, what: str) -> bool:
    return name.startswith(load.GPU) and name.endswith(f"/{what}")


def _size(values: Mapping[str, float], name: str) -> str:
    return formatting.size(int(values[name])) if name in values else ""


def _rate(values: Mapping[str, float], into: str, out: str) -> str:
    if into not in values:
        return ""
    return f"{formatting.size(int(values[into]))}/s in, {formatting.size(int(values.get(out, 0)))}/s out"


def _footer(answer: Mapping[str, Any]) -> str:
    waiting = [run for run in answer["runs"] if not run["load"] and run["reason"]]
    lines = [f"{run['display_name'] or run['id']}: {run['reason']}" for run in waiting[:WAITING_SHOWN]]
    count = sum(bool(run["load"]) for run in answer["runs"])
    lines.append(f"{formatting.count(count, 'run')} with numbers, {len(answer['runs'])} that go on or wait.")
    return "\n".join(map(readable_line, lines))


def _look(server: Api) -> dict[str, Any]:
    return server.loads()


def _drawn(answer: Mapping[str, Any]) -> RenderableType:
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    drawn = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for position, column in enumerate(COLUMNS):
        drawn.add_column(column, no_wrap=True, overflow="ellipsis", justify="right" if 3 <= position <= 7 else "left")
    for row in rows(answer):
        cells = [Text(readable_line(cell)) for cell in row]
        cells[STATUS].stylize(screen.status_colour(row[STATUS]))
        drawn.add_row(*cells)
    return Group(drawn, Text(""), Text(_footer(answer), style="dim"), Text("Ctrl-C ends this.", style="dim"))
