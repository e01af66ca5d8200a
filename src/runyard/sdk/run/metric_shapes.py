"""What `get_metrics` returns: SDK v1's shapes, made from what the server stores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping, Sequence

from runyard.contracts.journal import unpack_value

if TYPE_CHECKING:
    from runyard.contracts.documents import MetricDocument

ARTIFACT_PREFIX = "aml://artifactId/ExperimentRun/"


def shape(run_id: str, metric: MetricDocument) -> Any:
    """One value alone, several as a list; a table as a dict of columns, each in the same way."""
    kind = metric["kind"]
    if kind == "table":
        columns = {name: [unpack_value(value) for value in values] for name, values in metric["columns"].items()}
        return {name: _one_or_many(values) for name, values in columns.items()}
    if kind == "file":
        return _one_or_many([artifact_id(run_id, name) for name in metric["values"]])
    return _one_or_many([unpack_value(value) for value in metric["values"]])


def shapes(run_id: str, metrics: Sequence[MetricDocument]) -> dict[str, Any]:
    return {metric["name"]: shape(run_id, metric) for metric in metrics}


def artifact_id(run_id: str, name: str) -> str:
    """
    >>> artifact_id("r1", "roc_1700000000.png")
    'aml://artifactId/ExperimentRun/dcid.r1/roc_1700000000.png'
    """
    return f"{ARTIFACT_PREFIX}dcid.{run_id}/{name}"


class MetricArtifact:
    """A metric that is a file, with its bytes (`get_metrics(populate=True)`)."""

    def __init__(self, run_id: str, name: str, content: bytes) -> None:
        self.run_id, self.name, self.content = run_id, name, content

    @property
    def artifact_id(self) -> str:
        return artifact_id(self.run_id, self.name)

    def __repr__(self) -> str:
        return f"MetricArtifact(run_id={self.run_id!r}, name={self.name!r}, {len(self.content)} bytes)"


def files_of(metrics: Mapping[str, Sequence[MetricDocument]]) -> list[tuple[str, MetricDocument]]:
    """Run id and metric of those that are files."""
    return [(run_id, metric) for run_id, found in metrics.items() for metric in found if metric["kind"] == "file"]


def _one_or_many(values: list[Any]) -> Any:
    return values[0] if len(values) == 1 else values
