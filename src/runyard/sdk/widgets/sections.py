"""The parts of the widget besides the run itself, as HTML and as lines of text: machine, ranks, sweep, models."""

from __future__ import annotations

import math
from typing import Any, Iterator, Mapping, Sequence

from runyard.contracts import states
from runyard.contracts.observed import load
from runyard.sdk.notebook import escape
from runyard.sdk.printable import last_lines, printable
from runyard.sdk.widgets import curves
from runyard.sdk.widgets.overview import last_value, points
from runyard.sdk.widgets.surroundings import Rank, Surroundings

BEST_SHOWN = 8
NAME = 60
LINES, FEW_LINES, WIDTH = 10, 3, 160
"""Of the log of a rank: lines in a notebook and in a terminal, and characters of each."""
_DIM = "opacity:.65;font-size:90%"
_TABLE = "border-collapse:collapse;font-size:92%;margin:2px 0"
_CELL = "padding:1px 12px 1px 0;text-align:left;border:0;vertical-align:top"
_COLOURS = {
    states.COMPLETED: curves.GOOD,
    states.FAILED: curves.BAD,
    states.CANCELED: curves.FAINT,
    "Healthy": curves.GOOD,
    "Unhealthy": curves.BAD,
}
_TITLES = {load.CPU_RUN: "CPU (cores)", load.MEMORY_RUN: "Memory"}


def html(around: Surroundings) -> Iterator[str]:
    if around.sweep is not None:
        yield from _sweep_html(around.sweep)
    if around.events:
        drawn = "".join(_event_html(metric) for metric in around.events)
        yield _section("from event files", f'<div style="display:flex;flex-wrap:wrap;gap:12px">{drawn}</div>')
    if around.observed:
        drawn = "".join(_observed_html(metric) for metric in around.observed)
        yield _section("the machine", f'<div style="display:flex;flex-wrap:wrap;gap:12px">{drawn}</div>')
    if around.ranks:
        columns = "".join(_rank_html(rank) for rank in around.ranks if rank.tail)
        names = ", ".join(str(rank.number) for rank in around.ranks if not rank.tail)
        others = f"<div>{_text(names)}: each with a log of its own</div>" if names else ""
        side_by_side = f'<div style="display:flex;flex-wrap:wrap;gap:4px 16px">{columns}</div>' if columns else ""
        yield _section(f"{len(around.ranks)} ranks", side_by_side + others)
    if around.children:
        rows = [
            (_status(child["status"]), _link(child["web_url"], child["display_name"] or child["id"]))
            for child in around.children
        ]
        yield _section("children", _rows(("", ""), rows))
    if around.models:
        rows = [
            (_text(model.id), ", ".join(f"{_status(state)} {_text(name)}" for name, state, _ in model.services))
            for model in around.models
        ]
        yield _section("models", _rows(("model", "served by"), rows))


def lines(around: Surroundings) -> Iterator[str]:
    """The same for a terminal."""
    if around.sweep is not None:
        best = _best(around.sweep)
        goal = "largest" if _maximizes(around.sweep) else "smallest"
        yield f"sweep: {counted(around.sweep)}; looks for the {goal} {_plain(around.sweep['metric'])}"
        for trial in best[:BEST_SHOWN]:
            yield f"  {trial['best']:.6g}  {_plain(trial['run_id'])}  {_plain(parameters(trial['parameters']))}"
    for metric in around.observed:
        yield f"{_title(metric['name'])}: {_amount(metric['name'], last_value(metric))}"
    if around.ranks:
        yield f"{len(around.ranks)} ranks, each with a log of its own"
    for rank in around.ranks:
        yield from (f"  {rank.number}: {line}" for line in last_lines(rank.tail, FEW_LINES, WIDTH))
    for child in around.children:
        yield f"child {_plain(child['id'])}: {child['status']}"
    for model in around.models:
        served = ", ".join(f"{name} ({state})" for name, state, _ in model.services)
        yield f"model {_plain(model.id)}" + (f", served by {_plain(served)}" if served else "")


def counted(sweep: Mapping[str, Any]) -> str:
    """How its children stand.

    >>> counted({"runs": 9, "trials": [{"status": "Completed"}, {"status": "Running"}, {"status": None}]})
    '3 of 9 children: 1 Completed, 1 Running, 1 waiting'
    """
    counts: dict[str, int] = {}
    for trial in sweep["trials"]:
        status = trial["status"] or "waiting"
        counts[status] = counts.get(status, 0) + 1
    shown = ", ".join(f"{count} {status}" for status, count in counts.items())
    return f"{len(sweep['trials'])} of {sweep['runs']} children" + (f": {shown}" if shown else "")


def parameters(values: Mapping[str, Any]) -> str:
    """
    >>> parameters({"lr": 0.125, "layers": 3})
    'lr=0.125, layers=3'
    """
    return ", ".join(
        f"{name}={value:.6g}" if isinstance(value, float) else f"{name}={value}" for name, value in values.items()
    )


def _rank_html(rank: Rank) -> str:
    """A column: as wide as some words of a log, and one below the other where there is no room."""
    text = _text("\n".join(last_lines(rank.tail, LINES, WIDTH)))
    return (
        f'<div style="flex:1 1 260px;min-width:0"><div style="{_DIM}">rank {rank.number}, {_text(rank.log)}</div>'
        f'<pre style="white-space:pre-wrap;overflow-wrap:anywhere;margin:0;font-size:90%">{text}</pre></div>'
    )


def _sweep_html(sweep: Mapping[str, Any]) -> Iterator[str]:
    best = _best(sweep)
    results = [(trial["number"], trial["best"]) for trial in sorted(best, key=lambda each: each["number"])]
    picture = curves.progress(results, _maximizes(sweep), "the best so far") if results else ""
    rows = [
        (
            f"<strong>{trial['best']:.6g}</strong>" if position == 0 else f"{trial['best']:.6g}",
            _status(trial["status"]),
            _text(parameters(trial["parameters"])),
            _text(trial["verdict"] or ""),
        )
        for position, trial in enumerate(best[:BEST_SHOWN])
    ]
    shown = _rows((f"{_text(sweep['metric'])}", "", "with", ""), rows) if rows else ""
    yield _section(counted(sweep), f"{picture}{shown}")


def _best(sweep: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The children that have come to a value, the best first."""
    known = [each for each in sweep["trials"] if isinstance(each["best"], (int, float)) and math.isfinite(each["best"])]
    return sorted(known, key=lambda each: each["best"], reverse=_maximizes(sweep))


def _maximizes(sweep: Mapping[str, Any]) -> bool:
    return str(sweep["goal"]).lower().startswith("max")


def _observed_html(metric: Any) -> str:
    name = metric["name"]
    drawn = points(metric)
    title, amount = _title(name), _amount(name, last_value(metric))
    picture = curves.curve(drawn, f"{title}: {amount}", curves.FAINT, from_zero=True) if len(drawn) > 1 else ""
    return f"<div><div>{_text(title)} <strong>{_text(amount)}</strong></div>{picture}</div>"


def _event_html(metric: Any) -> str:
    name, value = _plain(metric["name"])[:NAME], last_value(metric)
    drawn = points(metric)
    picture = curves.curve(drawn, f"{name}: {value}") if len(drawn) > 1 else ""
    return f"<div><div>{_text(name)} <strong>{_text(value)}</strong></div>{picture}</div>"


def _title(name: str) -> str:
    return _TITLES.get(name, name.replace("/", " "))


def _amount(name: str, text: str) -> str:
    """
    >>> _amount("memory/run", "2.5e+09"), _amount("gpu0/busy", "40")
    ('2.5 GB', '40 %')
    """
    unit = load.unit(name)
    if unit != "bytes":
        return f"{text} {unit}" if unit == "%" else text
    try:
        amount = float(text)
    except ValueError:
        return text
    for prefix in ("B", "kB", "MB", "GB"):
        if amount < 1000:
            return f"{amount:.3g} {prefix}"
        amount /= 1000
    return f"{amount:.3g} TB"


def _section(title: str, content: str) -> str:
    return f'<div style="margin:8px 0"><div style="{_DIM}">{_text(title)}</div>{content}</div>'


def _rows(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of markup that is made here."""
    titles = "".join(f'<th style="{_CELL};{_DIM}">{each}</th>' for each in head) if any(head) else ""
    body = "".join(
        f"<tr>{''.join(f'<td style={chr(34)}{_CELL}{chr(34)}>{cell}</td>' for cell in row)}</tr>" for row in rows
    )
    return f'<table style="{_TABLE}">{f"<tr>{titles}</tr>" if titles else ""}{body}</table>'


def _status(status: str | None) -> str:
    colour = _COLOURS.get(status or "", curves.ACCENT)
    return f'<span style="color:{colour}">{_text(status or "waiting")}</span>'


def _link(address: str, text: str) -> str:
    if not address.startswith(("http://", "https://")):
        return _text(text)
    return f'<a href="{escape(address)}" target="_blank" rel="noopener">{_text(text)}</a>'


def _text(value: object) -> str:
    return escape(printable(str(value)))


def _plain(value: object) -> str:
    return " ".join(printable(str(value)).split())
