"""A run as HTML for notebooks and as text for terminals: no script, no external resource, every text
escaped. The colours are readable on a light and on a dark page."""

from __future__ import annotations

from typing import Iterator

from runyard.contracts import states
from runyard.sdk.notebook import escape
from runyard.sdk.printable import last_lines, printable
from runyard.sdk.run.error import FEW_FRAMES, error_lines
from runyard.sdk.widgets import curves, sections
from runyard.sdk.widgets.overview import Look, last_value, points

LINES = 15
WIDTH = 200
NAME = 60

_COLOURS = {states.COMPLETED: curves.GOOD, states.FAILED: curves.BAD, states.CANCELED: curves.FAINT}
_DIM = "opacity:.65;font-size:90%"
_PRE = "white-space:pre-wrap;overflow-wrap:anywhere;margin:4px 0;font-size:90%;line-height:1.35"


def html(seen: Look, note: str = "") -> str:
    run = seen.run
    parts = [_head(seen)]
    if note:
        parts.append(f'<div style="{_DIM}">{_text(note)}</div>')
    if run["error"]:
        lines = "\n".join(_shortened(error_lines(run["error"], FEW_FRAMES)))
        parts.append(f'<pre style="{_PRE};border-left:3px solid {curves.BAD};padding-left:8px">{_text(lines)}</pre>')
    parts += [f'<div style="{_DIM}">Warning: {_text(line)}</div>' for line in _warnings(seen)]
    if seen.metrics:
        drawn = "".join(_metric_html(seen, number) for number in range(len(seen.metrics)))
        parts.append(f'<div style="display:flex;flex-wrap:wrap;gap:12px;margin:8px 0">{drawn}</div>')
    if seen.more_metrics:
        parts.append(f'<div style="{_DIM}">There are more metrics; the page of the run has all of them.</div>')
    parts += sections.html(seen.around)
    lines = "\n".join(_log(seen))
    if lines:
        parts.append(f'<div style="{_DIM}">the end of {_text(seen.log)}</div><pre style="{_PRE}">{_text(lines)}</pre>')
    return f'<div style="font-family:system-ui,sans-serif;line-height:1.5">{"".join(parts)}</div>'


def text(seen: Look, note: str = "") -> str:
    return "\n".join(_lines(seen, note))


def _lines(seen: Look, note: str) -> Iterator[str]:
    run = seen.run
    yield f"Run {_plain(run['id'])} of {_plain(run['experiment'])}: {run['status']}"
    if _reason(seen):
        yield f"  {_plain(_reason(seen))}"
    if note:
        yield f"  {_plain(note)}"
    if run["error"]:
        yield from (f"  {printable(line)}" for line in _shortened(error_lines(run["error"], FEW_FRAMES)))
    yield from (f"  Warning: {_plain(line)}" for line in _warnings(seen))
    width = max((min(len(_plain(metric["name"])), NAME) for metric in seen.metrics), default=0)
    for metric in seen.metrics:
        yield f"  {_plain(metric['name'])[:NAME]:{width}}  {_plain(last_value(metric))}{_count(metric['count'])}"
    if seen.more_metrics:
        yield "  and more metrics"
    yield from (f"  {line}" for line in sections.lines(seen.around))
    lines = _log(seen)
    if lines:
        yield f"  {_plain(seen.log)}:"
        yield from (f"    {line}" for line in lines)
    yield f"  {_plain(run['web_url'])}"


def _head(seen: Look) -> str:
    run = seen.run
    colour = _COLOURS.get(run["status"], curves.ACCENT)
    times = [f"{label} {at[:19].replace('T', ' ')} UTC" for label, at in _times(seen)]
    reason = f" &ndash; {_text(_reason(seen))}" if _reason(seen) else ""
    title = run["display_name"] or run["id"]
    link = f'<a href="{_link(run["web_url"])}" target="_blank" rel="noopener">{_text(title[:WIDTH])}</a>'
    facts = ", ".join((f"run {run['number']} of {run['experiment']}", *times))
    return (
        f'<div><strong style="color:{colour}">{_text(run["status"])}</strong>{reason}</div>'
        f'<div>{link}</div><div style="{_DIM}">{_text(facts)}</div>'
    )


def _reason(seen: Look) -> str:
    """Why the run is in its state, unless its error explains it."""
    reason = (seen.run["reason"] or "")[: 3 * WIDTH]
    return "" if seen.run["error"] and reason in str(seen.run["error"].get("message")) else reason


def _times(seen: Look) -> Iterator[tuple[str, str]]:
    for label, at in (("started", seen.run["started_at"]), ("ended", seen.run["ended_at"])):
        if at:
            yield label, at


def _log(seen: Look) -> list[str]:
    """The end of the run's log; none where it is among those of the ranks."""
    among_ranks = any(rank.log == seen.log and rank.tail for rank in seen.around.ranks)
    return [] if seen.log is None or among_ranks else last_lines(seen.tail, LINES, WIDTH)


def _metric_html(seen: Look, number: int) -> str:
    metric = seen.metrics[number]
    drawn = points(metric)
    name, value = _plain(metric["name"])[:NAME], last_value(metric)
    picture = ""
    if len(drawn) > 1:
        low, high = min(point.low for point in drawn), max(point.high for point in drawn)
        picture = f'{curves.curve(drawn, f"{name}: {value}")}<div style="{_DIM}">{low:.6g} to {high:.6g}</div>'
    count = f'<span style="{_DIM}">{_count(metric["count"])}</span>'
    line = f"<div>{_text(name)} <strong>{_text(value)}</strong>{count}</div>"
    return f'<div style="max-width:{curves.WIDE}px;overflow-wrap:anywhere">{line}{picture}</div>'


def _count(count: int) -> str:
    return f" ({count:,} points)" if count > 1 else ""


def _warnings(seen: Look) -> list[str]:
    return list(_shortened(str(each.get("message", "")) for each in seen.run["warnings"] or []))


def _shortened(lines: Iterator[str]) -> Iterator[str]:
    for line, _ in zip(lines, range(LINES)):
        yield line if len(line) <= 3 * WIDTH else line[: 3 * WIDTH] + "…"


def _text(value: object) -> str:
    return escape(printable(str(value)))


def _plain(value: object) -> str:
    """For a terminal: on one line."""
    return " ".join(printable(str(value)).split())


def _link(address: str) -> str:
    return escape(address) if address.startswith(("http://", "https://")) else ""
