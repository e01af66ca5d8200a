"""The frame in which figures of Plotly are drawn, where the extra with Plotly is installed.

Plotly makes code from texts and styles as it draws, which no page of the studio may. So its script is in a document of
its own, and that is in a sandbox: it has no origin, so neither cookies nor the studio's addresses; and it loads and
sends nothing. The page around it sends it the figure (`static/js/run/figure.js`), and it draws it
(`static/js/figures/draw.js`). Both scripts are in the document, since what has no origin gets no file from here.
"""

from __future__ import annotations

import base64
import hashlib
from functools import lru_cache
from pathlib import Path

from fastapi import Request
from starlette.datastructures import Headers
from starlette.responses import Response

from runyard.contracts.installation import installation
from runyard.server.middleware.problems import Problem
from runyard.server.studio import static_files, wheel_files
from runyard.server.studio.page import Viewer, pages
from runyard.server.studio.static_files import StaticFile

router = pages("/figures")

EXTRA = "plotly"

_SCRIPT = "plotly/package_data/plotly.min.js"
_DRAW = "js/figures/draw.js"


def missing() -> str:
    """The command that installs what draws figures; empty where it is installed."""
    return installation().with_extra(EXTRA) if _plotly() is None else ""


@router.get("/frame")
def frame(viewer: Viewer, request: Request) -> Response:
    script = _plotly()
    if script is None:
        help = f"They come with an extra. On the machine of the server: {missing()}. Then open this page again."
        raise Problem("not_found", "Figures of Plotly are not drawn by this server.", help)
    document, policy = _document(script, script.stat().st_mtime_ns)
    answer = document.answer(Headers(scope=request.scope), "private, no-cache")
    answer.headers["Content-Security-Policy"] = policy
    return answer


def _plotly() -> Path | None:
    found = wheel_files.place("plotly", _SCRIPT)
    return found if found is not None and found.is_file() else None


@lru_cache(maxsize=1)
def _document(plotly: Path, changed: int) -> tuple[StaticFile, str]:
    scripts = (plotly.read_text("utf-8"), static_files.files()[_DRAW].content.decode("utf-8"))
    inside = "".join(f"<script>{each}</script>" for each in scripts)
    html = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>A figure</title>'
        "<style>html, body, #figure { margin: 0; height: 100% }</style></head>"
        f'<body><div id="figure"></div>{inside}</body></html>'
    )
    hashes = " ".join(f"'sha256-{_digest(each)}'" for each in scripts)
    policy = (
        f"sandbox allow-scripts; default-src 'none'; script-src {hashes} 'unsafe-eval'; style-src 'unsafe-inline'; "
        "img-src data: blob:; frame-ancestors 'self'; base-uri 'none'; form-action 'none'"
    )
    return StaticFile.of(html.encode(), "text/html; charset=utf-8", level=6), policy


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
