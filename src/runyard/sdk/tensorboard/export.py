"""`export_to_tensorboard`, SDK v1's: the metrics of runs as TensorBoard's event files, a folder for each run."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Iterable, Iterator, Sequence, cast

from runyard.client.http import quote
from runyard.contracts.formats.event_files import MARK, EventFile, Scalar
from runyard.contracts.journal import unpack_value
from runyard.sdk.exceptions import UserErrorException
from runyard.sdk.tensorboard.tensorboard import checked

if TYPE_CHECKING:
    from logging import Logger
    from os import PathLike

    from runyard.contracts.documents import MetricDocument
    from runyard.sdk.run.run import Run


def export_to_tensorboard(
    run_data: Run | Iterable[Run],
    logsdir: str | PathLike[str],
    logger: Logger | None = None,
    recursive: bool = True,
) -> None:
    """Write the metrics of runs to `logsdir/<run id>/`, for `tensorboard --logdir logsdir`.

    `recursive` takes the runs below them too. Scalars are written with their steps and times, the numbers of tables as
    `name/column`; texts, images and charts are left out. Nothing but the standard library is needed.
    """
    folder = Path(logsdir)
    if folder.exists() and not folder.is_dir():
        raise UserErrorException(f"{folder.absolute()} is a file. Name a folder for the event files.")
    for run in checked(run_data):
        run._deliver_before_reading()
        answer = run._service.get(f"/api/runs/{quote(run.id)}/metrics", {"recursive": recursive})
        for run_id, metrics in cast("dict[str, list[MetricDocument]]", answer["metrics"]).items():
            points = [point for metric in metrics for point in of_metric(metric)]
            if points:
                _write(folder / run_id, points)
            if logger is not None:
                logger.info("%s: %d points to %s", run_id, len(points), folder / run_id)


def of_metric(metric: MetricDocument) -> Iterator[Scalar]:
    """The points of a metric that TensorBoard can draw."""
    if metric["kind"] == "table":
        for column, values in metric["columns"].items():
            yield from _points(f"{metric['name']}/{column}", values, None, None)
    elif metric["kind"] != "file":
        yield from _points(metric["name"], metric.get("values") or [], metric.get("steps"), metric.get("times"))


def _points(
    tag: str, values: Sequence[Any], steps: Sequence[int | None] | None, times: Sequence[float] | None
) -> Iterator[Scalar]:
    now = time.time()
    for position, packed in enumerate(values):
        value = unpack_value(packed)
        if not isinstance(value, (int, float)):
            continue
        step = steps[position] if steps is not None else None
        at = times[position] if times is not None else now
        yield Scalar(tag, _number(value), position if step is None else step, at)


def _number(value: float) -> float:
    """
    >>> _number(10 ** 400)
    inf
    """
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _write(folder: Path, points: Sequence[Scalar]) -> None:
    """Replace what a former export has written: TensorBoard would draw both."""
    folder.mkdir(parents=True, exist_ok=True)
    for former in folder.glob(f"events.out.{MARK}.*.runyard"):
        former.unlink()
    first = min(point.time for point in points)
    aside = folder / ".events.part"
    with aside.open("wb") as stream:
        EventFile(stream, first).add(points)
    aside.replace(folder / f"events.out.{MARK}.{int(first)}.runyard")
