"""Small pictures in HTML without a script: curves, and the progress of a sweep. Readable on light and dark pages."""

from __future__ import annotations

from typing import Sequence

from runyard.sdk.notebook import escape
from runyard.sdk.printable import printable
from runyard.sdk.widgets.overview import Point

WIDE, HIGH, MARGIN = 240, 64, 3
ACCENT, GOOD, WARN, BAD, FAINT = "#3b82c4", "#2a9d63", "#b7791f", "#d6453b", "#8a8f98"


def curve(drawn: Sequence[Point], label: str, colour: str = ACCENT, from_zero: bool = False) -> str:
    """An SVG of a series: the last values as a line, over a band from the smallest to the largest."""
    low, high = min(point.low for point in drawn), max(point.high for point in drawn)
    low = min(low, 0.0) if from_zero else low
    left, right = drawn[0].x, drawn[-1].x

    def at(x: float, y: float) -> str:
        across = MARGIN + _share(x, left, right) * (WIDE - 2 * MARGIN)
        down = HIGH - MARGIN - _share(y, low, high) * (HIGH - 2 * MARGIN)
        return f"{across:.1f},{down:.1f}"

    line = " ".join(at(point.x, point.last) for point in drawn)
    band = ""
    if any(point.low != point.high for point in drawn):
        edge = [at(point.x, point.high) for point in drawn]
        edge += [at(point.x, point.low) for point in reversed(drawn)]
        band = f'<polygon points="{" ".join(edge)}" fill="{colour}" fill-opacity="0.25" stroke="none"/>'
    return _picture(band + f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.5"/>', label)


def progress(values: Sequence[tuple[int, float]], maximizes: bool, label: str) -> str:
    """A dot for each child that has come to a value, and the best so far as a line of steps."""
    numbers, results = [number for number, _ in values], [value for _, value in values]
    low, high = min(results), max(results)

    def at(number: int, value: float) -> tuple[str, str]:
        across = MARGIN + _share(number, numbers[0], numbers[-1]) * (WIDE - 2 * MARGIN)
        down = HIGH - MARGIN - _share(value, low, high) * (HIGH - 2 * MARGIN)
        return f"{across:.1f}", f"{down:.1f}"

    best, steps, dots = results[0], [], []
    for number, value in values:
        before = best
        best = max(best, value) if maximizes else min(best, value)
        x, y = at(number, best)
        steps += [f"{x},{at(number, before)[1]}", f"{x},{y}"]
        x, y = at(number, value)
        dots.append(f'<circle cx="{x}" cy="{y}" r="2.2" fill="{FAINT}"/>')
    line = f'<polyline points="{" ".join(steps)}" fill="none" stroke="{GOOD}" stroke-width="1.5"/>'
    return _picture("".join(dots) + line, label)


def _picture(content: str, label: str) -> str:
    return (
        f'<svg role="img" aria-label="{escape(printable(label))}" width="{WIDE}" height="{HIGH}" '
        f'viewBox="0 0 {WIDE} {HIGH}">{content}</svg>'
    )


def _share(value: float, low: float, high: float) -> float:
    """The position of a value between the smallest and the largest. In halves: their difference may overflow."""
    span = high / 2 - low / 2
    return (value / 2 - low / 2) / span if span > 0 else 0.5
