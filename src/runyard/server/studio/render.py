"""The HTML of one run's page, and of the server's front: no script, nothing from elsewhere, every text escaped."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from html import escape
from typing import Any
from urllib.parse import quote

from runyard.contracts import states
from runyard.store.content.files import FileEntry
from runyard.store.runs.runs import Run, StateChange

STYLE = """
:root { color-scheme: light dark; --text: #1c2128; --dim: #5b6571; --line: #d9dee4; --back: #ffffff; --box: #f4f6f8;
  --good: #1a7f4b; --bad: #c0362c; --busy: #1f66c1; }
@media (prefers-color-scheme: dark) { :root { --text: #e4e8ec; --dim: #9aa5b1; --line: #333b45; --back: #14181d;
  --box: #1d232a; --good: #4cc38a; --bad: #ff7b72; --busy: #6cb0ff; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--text); background: var(--back); max-width: 62rem;
  margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; overflow-wrap: anywhere; margin-bottom: .2rem; }
h2 { font-size: 1rem; margin: 2rem 0 .5rem; }
p { margin: .3rem 0; }
.dim { color: var(--dim); }
.status { font-weight: 600; }
.good { color: var(--good); } .bad { color: var(--bad); } .busy { color: var(--busy); }
table { border-collapse: collapse; width: 100%; }
td, th { text-align: left; vertical-align: top; padding: .3rem .8rem .3rem 0; border-bottom: 1px solid var(--line);
  overflow-wrap: anywhere; }
th { font-weight: 500; color: var(--dim); }
td.number { font-variant-numeric: tabular-nums; white-space: nowrap; }
pre { background: var(--box); border-radius: 6px; padding: .8rem; overflow: auto; max-height: 32rem; font-size: 13px;
  line-height: 1.45; white-space: pre-wrap; overflow-wrap: anywhere; }
.error { border-left: 3px solid var(--bad); padding: .2rem 0 .2rem 1rem; }
a { color: var(--busy); }
"""

_STYLE_HASH = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode("ascii")
POLICY = (
    f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

_COLOURS = {states.COMPLETED: "good", states.FAILED: "bad", states.CANCELED: "dim"}
_UNITS = ("bytes", "KB", "MB", "GB", "TB")


@dataclass(frozen=True)
class Shown:
    """What the page shows of a run."""

    run: Run
    key: str
    states: list[StateChange]
    metrics: list[dict[str, Any]]
    files: list[FileEntry]


def refresh(run: Run) -> dict[str, str]:
    """The header that makes a browser load the page again, while there may be news."""
    return {} if run.status in states.TERMINAL else {"Refresh": "3"}


def render(shown: Shown, log: str | None, tail: str) -> str:
    run = shown.run
    title = run.display_name or run.id
    parts = [
        f"<h1>{escape(title)}</h1>",
        _head(run),
        _error(run.error) if run.error else "",
        _section("Warnings", "".join(f"<p>{escape(str(each.get('message', '')))}</p>" for each in run.warnings)),
        _section("Metrics", _metrics(shown.metrics)),
        _section("Log", _log(shown, log, tail) if log else ""),
        _section("Files", _files(shown)),
        _section("Tags", _table([], ((escape(key), escape(value or "")) for key, value in sorted(run.tags.items())))),
        _section("History", _history(shown.states)),
    ]
    return _document(f"{run.status}: {title}", parts)


def front() -> str:
    """What somebody sees who opens the server's address. It reveals nothing of what the server holds."""
    parts = [
        "<h1>Runyard</h1>",
        "<p>The server is running. This opens the studio, where its runs are to be seen:</p>",
        "<pre>runyard studio</pre>",
        "<p>Each run has a page of its own besides, for whoever is sent its link. This prints that of the newest:</p>",
        "<pre>runyard show @last</pre>",
        '<p class="dim"><a href="/openapi.json">The API</a></p>',
    ]
    return _document("Runyard", parts)


def _document(title: str, parts: Iterable[str]) -> str:
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(part for part in parts if part)
        + "\n</body>\n</html>\n"
    )


def _head(run: Run) -> str:
    colour = _COLOURS.get(run.status, "busy")
    facts = [
        f"run {run.number} of {escape(run.experiment)} in {escape(run.workspace)}",
        f"on {escape(run.target)}",
        f"made {_time(run.created_at)}",
    ]
    if run.started_at:
        until = run.ended_at or datetime.now(timezone.utc)
        facts.append(f"{'ran' if run.ended_at else 'running for'} {_duration(until - run.started_at)}")
    reason = f" &ndash; {escape(run.reason)}" if run.reason else ""
    about = f"<p>{escape(run.description)}</p>" if run.description else ""
    return (
        f'<p class="dim">{escape(run.id)}</p>\n'
        f'<p><span class="status {colour}">{escape(run.status)}</span>{reason}</p>\n'
        f'<p class="dim">{", ".join(facts)}</p>\n{about}'
    )


def _error(error: dict[str, Any]) -> str:
    lines = [f"<p><strong>{escape(str(error.get('code', 'Error')))}</strong></p>"]
    lines.append(f"<pre>{escape(str(error.get('message', '')))}</pre>")
    exception = error.get("exception") or {}
    frames = [
        f"{frame.get('file')}:{frame.get('line')} in {frame.get('function')}\n    {frame.get('code') or ''}"
        for frame in exception.get("frames") or []
    ]
    if frames:
        lines.append(f"<pre>{escape(chr(10).join(frames))}</pre>")
    ended = str((error.get("exit") or {}).get("words") or "")
    more = ["" if ended in str(error.get("message")) else ended, str(error.get("help") or "")]
    lines.extend(f"<p>{escape(text)}</p>" for text in more if text)
    return f'<h2>Error</h2>\n<div class="error">{"".join(lines)}</div>'


def _metrics(metrics: list[dict[str, Any]]) -> str:
    rows = ((escape(metric["name"]), escape(_last(metric)), f"{metric['count']:,}") for metric in metrics)
    return _table(["name", "last value", "points"], rows)


def _last(metric: dict[str, Any]) -> str:
    if metric["kind"] == "table":
        return ", ".join(f"{column}: {_value(values[-1])}" for column, values in metric["columns"].items() if values)
    if metric.get("buckets"):
        return _value(metric["buckets"][-1]["last"])
    return _value(metric["values"][-1]) if metric["values"] else ""


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return str(value["f"])
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _log(shown: Shown, log: str, tail: str) -> str:
    return f'<p class="dim">the end of {_link(shown, log)}</p>\n<pre>{escape(tail)}</pre>'


def _files(shown: Shown) -> str:
    rows = ((_link(shown, entry.name), _size(entry.size), _time(entry.updated_at)) for entry in shown.files)
    return _table(["name", "size", "changed"], rows)


def _history(changes: list[StateChange]) -> str:
    rows = ((_time(change.at), escape(change.status), escape(change.reason or "")) for change in changes)
    return _table(["time", "state", "reason"], rows)


def _link(shown: Shown, name: str) -> str:
    # Without a '/' at its end, the page's own address counts as a file: the link begins with the run's id again.
    target = f"{quote(shown.run.id)}/files/{quote(name, safe='/')}?key={quote(shown.key)}"
    return f'<a href="{escape(target)}">{escape(name)}</a>'


def _section(title: str, content: str) -> str:
    return f"<h2>{title}</h2>\n{content}" if content else ""


def _table(heads: list[str], rows: Iterable[tuple[str, ...]]) -> str:
    """A table of cells that are HTML already; nothing at all when there are no rows."""
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>\n" for row in rows)
    head = f"<tr>{''.join(f'<th>{name}</th>' for name in heads)}</tr>\n" if heads else ""
    return f"<table>\n{head}{body}</table>" if body else ""


def _time(at: datetime) -> str:
    return f"{at.astimezone(timezone.utc):%Y-%m-%d %H:%M:%S} UTC"


def _duration(span: timedelta) -> str:
    seconds = max(0.0, span.total_seconds())
    if seconds < 60:
        return f"{seconds:.1f} s"
    hours, rest = divmod(int(seconds), 3600)
    return f"{hours} h {rest // 60} min" if hours else f"{rest // 60} min {rest % 60} s"


def _size(size: int) -> str:
    amount, unit = float(size), 0
    while amount >= 1000 and unit < len(_UNITS) - 1:
        amount, unit = amount / 1000, unit + 1
    return f"{amount:.1f} {_UNITS[unit]}" if unit else f"{size} bytes"
