"""What the studio and MLflow's UI are filled with: the same runs and points, made in the environment of each."""

from __future__ import annotations

from dataclasses import dataclass

WIDE_METRICS = 50
COMPARED, COMPARED_POINTS = 100, 1_000
OFFSETS = 1_000


@dataclass(frozen=True)
class Shape:
    """The first run has many metrics, the hundred after it are compared; the others share the rest of the points."""

    runs: int
    points: int

    @property
    def wide_points(self) -> int:
        return min(10_000, self.points // 4 // WIDE_METRICS)

    @property
    def other_points(self) -> int:
        rest = self.points - WIDE_METRICS * self.wide_points - COMPARED * COMPARED_POINTS
        return max(2, rest // (self.runs - COMPARED - 1))

    def metrics(self, number: int) -> dict[str, int]:
        """The metrics of a run, and how many points each has."""
        if number == 0:
            return {f"group{metric % 5}/m{metric}": self.wide_points for metric in range(WIDE_METRICS)}
        return {"loss": COMPARED_POINTS if number <= COMPARED else self.other_points}

    def filtered(self) -> tuple[float, int]:
        """A bound that a twentieth of the runs ends below, and the newest of them."""
        newest = next(n for n in range(self.runs - 1, COMPARED, -1) if offset(n) < 0.05)
        return 1 / self.other_points + 0.0495, newest


def name(number: int) -> str:
    return f"run-{number}"


def offset(number: int) -> float:
    return number * 7919 % OFFSETS / OFFSETS


def values(number: int, points: int) -> list[float]:
    return [1 / (step + 1) + offset(number) + (step * 7 % 13) / 1e4 for step in range(points - 1)] + [
        1 / points + offset(number)
    ]
