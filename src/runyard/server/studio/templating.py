"""Pages from their templates: every text is escaped, and a name that a template misses is an error.

Jinja2 is loaded with the first page, not with the server.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, timezone
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from runyard import __version__
from runyard.contracts import states
from runyard.server.context import context_of
from runyard.server.studio import mlflow_pages, policy, static_files
from runyard.store.runs import workspaces

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

TEMPLATES = Path(__file__).parent / "templates"

SECTIONS = (
    ("runs", "Runs"),
    ("experiments", "Experiments"),
    ("sweeps", "Sweeps"),
    ("models", "Models"),
    ("services", "Services"),
    ("data", "Datasets"),
    ("datastores", "Datastores"),
    ("environments", "Environments"),
    ("compute", "Compute"),
)
"""The pages of a workspace: the last part of their address, and what the navigation calls them."""

_UNITS = ("B", "KB", "MB", "GB", "TB", "PB")


def render(
    request: Request, template: str, *, workspace: str, section: str, title: str, status: int = 200, **values: Any
) -> Response:
    """A page of a workspace, in the frame that all pages have. An unknown workspace is refused."""
    with context_of(request).store.database.read() as connection:
        known = [each.name for each in workspaces.find(connection)]
        if workspace not in known:
            workspaces.get(connection, workspace)  # raises
    frame = {"workspace": workspace, "workspaces": known, "section": section, "sections": SECTIONS, "title": title}
    has_mlflow = mlflow_pages.folder() is not None
    return plain(request, template, status, **frame, has_mlflow=has_mlflow, **values)


def plain(request: Request, template: str, status: int = 200, **values: Any) -> Response:
    """A page without the frame of a workspace, for whoever is not signed in too."""
    html = (
        environment().get_template(template).render(version=__version__, path=request.url.path, status=status, **values)
    )
    return HTMLResponse(html, status, {**policy.HEADERS, "Cache-Control": "no-store"})


@lru_cache(maxsize=1)
def environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True, auto_reload=False,
    )  # fmt: skip
    made.filters.update(time=time, size=size, duration=duration, part=part, tone=tone)
    made.globals.update(static=static_files.address, script=script, embedded=embedded)
    return made


def script(*names: str) -> Markup:
    """The tags of modules, such as `runs/page.js`, and of all that they import, so that they are loaded at once."""
    from markupsafe import Markup

    wanted = [f"js/{name}" for name in names]
    imported = {each: None for name in wanted for each in static_files.modules(name) if each not in wanted}
    preloads = [Markup('<link rel="modulepreload" href="{}">').format(static_files.address(each)) for each in imported]
    tags = [Markup('<script type="module" src="{}"></script>').format(static_files.address(each)) for each in wanted]
    return Markup("\n").join([*preloads, *tags])


def embedded(value: Mapping[str, Any], id: str = "page-data") -> Markup:
    """What a page's modules begin with, as JSON in the page: `core/dom.js` reads it with `embedded()`."""
    from markupsafe import Markup

    text = json.dumps(value, separators=(",", ":"))
    for mark in "<>&'\u2028\u2029":
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    return Markup('<script type="application/json" id="{}">{}</script>').format(id, Markup(text))


def time(at: datetime | str | None) -> Markup | str:
    """A time, which the page shows in the zone of its reader."""
    from markupsafe import Markup

    if at is None:
        return "–"
    if isinstance(at, str):
        at = datetime.fromisoformat(at.replace("Z", "+00:00"))
    at = at.astimezone(timezone.utc)
    return Markup('<time datetime="{}">{}</time>').format(
        at.strftime("%Y-%m-%dT%H:%M:%S.%fZ"), at.strftime("%Y-%m-%d %H:%M UTC")
    )


def size(bytes_: float | None) -> str:
    """A number of bytes as people say it."""
    if bytes_ is None:
        return "–"
    amount, unit = float(bytes_), 0
    while amount >= 999.95 and unit < len(_UNITS) - 1:
        amount, unit = amount / 1000, unit + 1
    return f"{amount:.1f} {_UNITS[unit]}" if unit else f"{int(amount)} B"


def duration(seconds: float | None) -> str:
    if seconds is None:
        return "–"
    if seconds < 60:
        return f"{max(0.0, seconds):.1f} s"
    minutes, rest = divmod(int(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours < 48 else f"{hours // 24} d {hours % 24} h"


def part(name: str) -> str:
    """A name as one part of an address."""
    return quote(name, safe="")


def tone(status: str) -> str:
    """The class of a badge for the state of a run, or of what has states that are called alike."""
    if status in (states.COMPLETED, "Healthy", "Succeeded"):
        return "good"
    if status in (states.FAILED, "Unhealthy", "Broken"):
        return "bad"
    if status in states.TERMINAL:
        return "still"
    return "busy" if status in (states.RUNNING, states.FINALIZING) else "waiting"
