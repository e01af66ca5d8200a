"""Metrics that are stored as files: images, and the JSON of confusion matrices, accuracy tables and the like."""

from __future__ import annotations

import json
import re
from pathlib import Path
from time import time
from typing import Any, Mapping, NamedTuple

from runyard.contracts import names
from runyard.sdk.exceptions import AzureMLException, UserErrorException

IMAGE = "azureml.v2.image"


class ChartKind(NamedTuple):
    type: str
    schema: str
    keys: tuple[str, ...]


CONFUSION_MATRIX = ChartKind("azureml.v2.confusion_matrix", "confusion_matrix", ("class_labels", "matrix"))
ACCURACY_TABLE = ChartKind(
    "azureml.v2.accuracy_table",
    "accuracy_table",
    (
        "probability_tables",
        "percentile_tables",
        "probability_thresholds",
        "percentile_thresholds",
        "class_labels",
    ),
)
RESIDUALS = ChartKind("azureml.v2.residuals", "residuals", ("bin_edges", "bin_counts"))
PREDICTIONS = ChartKind(
    "azureml.v2.predictions", "predictions", ("bin_averages", "bin_errors", "bin_counts", "bin_edges")
)

_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", ".png"),
    (b"\xff\xd8\xff", ".jpg"),
    (b"GIF8", ".gif"),
    (b"BM", ".bmp"),
    (b"II*\x00", ".tiff"),
    (b"MM\x00*", ".tiff"),
)


def chart_json(kind: ChartKind, name: str, value: Any) -> bytes:
    """The checked value of a chart metric as the text to store.

    It is a dict, or its JSON, with `schema_type`, `schema_version` and `data`.
    """
    if isinstance(value, (str, bytes)):
        try:
            value = json.loads(value)
        except ValueError as error:
            raise UserErrorException(
                f"The value of the metric {name!r} is a text that is no JSON: {error}.", inner_exception=error
            ) from error
    if not isinstance(value, Mapping):
        raise UserErrorException(
            f"The metric {name!r} needs a dict or its JSON text, not a value of the type {type(value).__name__}."
        )
    lacking = [key for key in ("schema_type", "schema_version", "data") if key not in value]
    if not lacking:
        if value["schema_type"] != kind.schema:
            raise UserErrorException(
                f"The metric {name!r} needs the schema_type {kind.schema!r}, and has {value['schema_type']!r}."
            )
        body = value["data"]
        lacking = [f"data.{key}" for key in kind.keys if not isinstance(body, Mapping) or key not in body]
    if lacking:
        raise UserErrorException(
            f"The value of the metric {name!r} lacks {', '.join(lacking)}. A {kind.schema} is a dict with schema_type, "
            f"schema_version and data, and data holds {', '.join(kind.keys)}."
        )
    try:
        return json.dumps(value, default=_plain).encode("utf-8")
    except (TypeError, ValueError) as error:
        raise UserErrorException(
            f"The value of the metric {name!r} cannot be written as JSON: {error}.", inner_exception=error
        ) from error


def image_bytes(name: str, path: object, plot: Any) -> tuple[bytes, str]:
    """The bytes of an image and the ending of its file name, from a file or a matplotlib figure (or pyplot)."""
    if (path is None) == (plot is None):
        raise AzureMLException(
            f"The image {name!r} comes either from a file (path=) or from a plot (plot=): give exactly one of them."
        )
    if plot is not None:
        return _drawn(name, plot), ".png"
    place = Path(str(path))
    try:
        content = place.read_bytes()
    except OSError as error:
        raise UserErrorException(
            f"The image {name!r} cannot be read from {place} ({error.strerror}).", inner_exception=error
        ) from error
    ending = image_ending(content)
    if ending is None:
        raise AzureMLException(f"{place} is no image of a known kind: use PNG, JPEG, GIF, WebP, BMP, TIFF or SVG.")
    return content, ending


def image_ending(content: bytes) -> str | None:
    """
    >>> image_ending(b"GIF89a...")
    '.gif'
    """
    for signature, ending in _SIGNATURES:
        if content.startswith(signature):
            return ending
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return ".webp"
    return ".svg" if b"<svg" in content[:1000] else None


def file_name(metric: str, ending: str) -> str:
    """A name in the run's history: the metric's, where a name of a file can hold it, and the time."""
    stem = re.sub(r"[^\w\-. /()]+", "_", metric).strip("/ .") or "metric"
    try:
        return names.check_file(f"{stem}_{int(time())}{ending}")
    except names.BadName:
        return f"{re.sub(r'[^a-zA-Z0-9]+', '_', stem)}_{int(time())}{ending}"


def _drawn(name: str, plot: Any) -> bytes:
    import io

    if not hasattr(plot, "savefig"):
        raise AzureMLException(
            f"The plot of the image {name!r} must be a matplotlib figure or matplotlib.pyplot, not a "
            f"{type(plot).__name__}."
        )
    image = io.BytesIO()
    plot.savefig(image, format="png")
    return image.getvalue()


def _plain(value: Any) -> Any:
    """numpy's arrays and numbers in the form that JSON knows."""
    for convert in ("tolist", "item"):
        if hasattr(value, convert):
            return getattr(value, convert)()
    raise TypeError(f"a value of the type {type(value).__name__} in it")
