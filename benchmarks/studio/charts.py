"""How long the studio's line chart takes to be drawn.

100 series of 1,000 points at 1000 x 500 pixels in headless Chromium, under the content policy of the studio. The first
figure is the time of our script, the second the time until the frame with it was over.
"""

from __future__ import annotations

import statistics
import tempfile
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.table import Table

if TYPE_CHECKING:
    from playwright.sync_api import ConsoleMessage

STATIC = Path(__file__).resolve().parents[2] / "src" / "runyard" / "server" / "studio" / "static"
POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'"
ROUNDS = 9

PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Charts</title>
<link rel="stylesheet" href="/static/css/charts.css"><link rel="stylesheet" href="/page.css">
<script type="module" src="/page.js"></script></head><body><div id="place"></div></body></html>"""
STYLE = (
    ":root { --surface: #fff; --text: #111; --faint: #666; --line: #ddd; --accent: #26c; } #place { width: 1024px; }"
)
SCRIPT = """
import { LineChart } from "/static/js/charts/line.js";
const frames = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
function made(seed) {
  const x = Float64Array.from({ length: 1000 }, (_, at) => at);
  return Array.from({ length: 100 }, (_, n) => ({
    name: `run ${n}`, x,
    y: Float64Array.from(x, (at) => Math.sin(at / (40 + n) + seed) + n / 20 + ((at * 7919 + n) % 13) / 90),
  }));
}
window.measure = async (smoothing) => {
  const place = document.getElementById("place");
  const series = made(0);
  await frames();
  const begun = performance.now();
  const chart = new LineChart(place, { title: "loss", series, height: 500, smoothing });
  chart.draw();
  const script = performance.now() - begun;
  await frames();
  const frame = performance.now() - begun;
  const other = made(1);
  await frames();
  const again = performance.now();
  chart.update(other);
  chart.draw();
  const redraw = performance.now() - again;
  await frames();
  const redrawn = performance.now() - again;
  chart.destroy();
  return { script, frame, redraw, redrawn };
};
"""


class Files(SimpleHTTPRequestHandler):
    """The studio's static files, and the page that measures."""

    def translate_path(self, path: str) -> str:
        return super().translate_path(path.removeprefix("/static"))

    def do_GET(self) -> None:
        pages = {
            "/": (PAGE, "text/html"),
            "/page.js": (SCRIPT, "text/javascript"),
            "/page.css": (STYLE, "text/css"),
            "/favicon.ico": ("", "image/x-icon"),
        }
        if self.path not in pages:
            super().do_GET()
            return
        text, kind = pages[self.path]
        content = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def end_headers(self) -> None:
        self.send_header("Content-Security-Policy", POLICY)
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Silent: what counts is printed in the end."""


def _note(said: list[str], message: ConsoleMessage) -> None:
    said.append(message.text)


def rows(rounds: int) -> list[tuple[str, dict[str, float]]]:
    """What was measured, and the median of each figure in milliseconds."""
    from playwright.sync_api import sync_playwright

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Files, directory=str(STATIC)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        with sync_playwright() as play, tempfile.TemporaryDirectory() as home:
            browser = play.chromium.launch(
                executable_path="/usr/bin/chromium",
                args=["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"],
                env={"HOME": home},
            )
            found = []
            for name, smoothing in (("as they are", 0.0), ("smoothed, with the faint line", 0.6)):
                samples = []
                for _ in range(rounds):
                    page = browser.new_page(viewport={"width": 1280, "height": 800})
                    said: list[str] = []
                    page.on("console", partial(_note, said))
                    page.goto(f"http://127.0.0.1:{server.server_port}/")
                    page.wait_for_function("window.measure")
                    samples.append(page.evaluate("(smoothing) => window.measure(smoothing)", smoothing))
                    page.close()
                    if said:
                        raise RuntimeError(f"the browser complains: {said[:3]}")
                found.append((name, {key: statistics.median(each[key] for each in samples) for key in samples[0]}))
            browser.close()
            return found
    finally:
        server.shutdown()
        server.server_close()


def table(rounds: int) -> Table:
    shown = []
    for title, figures in rows(rounds):
        times = {key: f"{value:.0f} ms" for key, value in figures.items()}
        shown.append((title, *(f"{times[script]} / {times[frame]}" for script, frame in _FIGURES)))
    notes = ("Script / until the frame was over; 1000 x 500 pixels, without a GPU.",)
    return Table("100 series of 1,000 points on a chart", ("lines", "first draw", "other points"), tuple(shown), notes)


_FIGURES = (("script", "frame"), ("redraw", "redrawn"))
