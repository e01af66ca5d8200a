"""The part of `Run` that logs metrics and reads them back."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Mapping, cast

from runyard.client.http import quote
from runyard.sdk.exceptions import AzureMLException
from runyard.sdk.notices import notice, notice_once
from runyard.sdk.run.core import RunCore
from runyard.sdk.run.file_transfer import check_hash
from runyard.sdk.run.listing import listed_runs
from runyard.sdk.run.metric_shapes import MetricArtifact, files_of, shapes
from runyard.sdk.telemetry import charts
from runyard.sdk.telemetry.journal import metric_name
from runyard.sdk.telemetry.scalars import Scalar, scalar, scalars

if TYPE_CHECKING:
    from runyard.contracts.documents import MetricDocument


class RunMetrics(RunCore):
    """log, log_list, log_row, log_table, log_image, the charts, get_metrics."""

    def log(self, name: str, value: object, description: str | None = "", step: int | None = None) -> None:
        """Log one value of a metric: a number, a text, a bool or None.

        Values logged under the same name become a series. It costs a few microseconds and one write; it
        never waits for the network.
        """
        journal = self._journal
        if journal is None:
            journal = self._open_journal()
        journal.value(name, value, step)
        if description:
            journal.description(name, description)

    def log_list(self, name: str, value: object, description: str | None = "") -> None:
        """Log a list of values. Lists logged under the same name are joined: `[1, 2]` and `[3]` read `[1, 2, 3]`."""
        name = metric_name(name)
        items, strange = scalars(name, value)
        if strange:
            self._tell_of_strange(name, strange[0])
        journal = self._open_journal()
        journal.values(name, items)
        journal.description(name, description)

    def log_row(self, name: str, description: str | None = None, **kwargs: object) -> None:
        """Log one row of a table; the columns are the keywords: `run.log_row("curve", x=1, y=2.5)`."""
        name = metric_name(name)
        columns: dict[str, list[Scalar]] = {}
        for column, value in kwargs.items():
            if isinstance(value, (list, tuple, dict, set, range)):
                raise AzureMLException(
                    f"A row of the table {name!r} takes one value per column; {column!r} has a {type(value).__name__}. "
                    "Use run.log_table to log columns of values."
                )
            columns[column] = [self._scalar(name, value)]
        self._log_columns(name, columns, description)

    def log_table(self, name: str, value: Mapping[str, object], description: str | None = "") -> None:
        """Log a table as a dict of columns, each a list of values; all of one length."""
        name = metric_name(name)
        if not isinstance(value, Mapping):
            way = " Log value.to_dict('list')." if hasattr(value, "to_dict") else ""
            raise AzureMLException(f"The table {name!r} must be a dict of columns, not a {type(value).__name__}.{way}")
        columns: dict[str, list[Scalar]] = {}
        for column, items in value.items():
            if isinstance(items, (str, bytes)) or not hasattr(items, "__iter__"):
                columns[str(column)] = [self._scalar(name, items)]
                continue
            columns[str(column)], strange = scalars(f"{name}.{column}", items)
            if strange:
                self._tell_of_strange(name, strange[0])
        lengths = {column: len(items) for column, items in columns.items()}
        if len(set(lengths.values())) > 1:
            described = ", ".join(f"{column!r} has {length}" for column, length in lengths.items())
            raise AzureMLException(
                f"The columns of the table {name!r} must have the same number of values: {described}."
            )
        self._log_columns(name, columns, description)

    def log_image(self, name: str, path: object = None, plot: Any = None, description: str | None = "") -> None:
        """Log an image: a file (`path`) or a matplotlib figure, or pyplot itself (`plot`)."""
        name = metric_name(name)
        content, ending = charts.image_bytes(name, path, plot)
        self._log_file(name, charts.IMAGE, content, ending, description)

    def log_confusion_matrix(self, name: str, value: object, description: str | None = "") -> None:
        """Log a confusion matrix: a dict (or its JSON) of the schema confusion_matrix."""
        self._log_chart(charts.CONFUSION_MATRIX, name, value, description)

    def log_accuracy_table(self, name: str, value: object, description: str | None = "") -> None:
        """Log an accuracy table: a dict (or its JSON) of the schema accuracy_table."""
        self._log_chart(charts.ACCURACY_TABLE, name, value, description)

    def log_residuals(self, name: str, value: object, description: str | None = "") -> None:
        """Log a histogram of residuals: a dict (or its JSON) of the schema residuals."""
        self._log_chart(charts.RESIDUALS, name, value, description)

    def log_predictions(self, name: str, value: object, description: str | None = "") -> None:
        """Log predicted against true values: a dict (or its JSON) of the schema predictions."""
        self._log_chart(charts.PREDICTIONS, name, value, description)

    def get_metrics(
        self, name: str | None = None, recursive: bool = False, run_type: str | None = None, populate: bool = False
    ) -> dict[str, Any]:
        """What was logged: `{name: value}`, a list where a metric was logged more than once.

        With `recursive`, `{run id: {name: value}}` of this run and all below it. With `populate`, images and charts
        come with their bytes.
        """
        self._deliver_before_reading()
        answer = self._service.get(self._address("metrics"), {"name": name, "recursive": recursive})
        found = cast("dict[str, list[MetricDocument]]", answer["metrics"])
        if run_type is not None:
            wanted = self._ids_of_type(run_type)
            found = {run_id: metrics for run_id, metrics in found.items() if run_id in wanted}
        read = {run_id: shapes(run_id, metrics) for run_id, metrics in found.items() if metrics}
        if populate:
            for run_id, metric in files_of(found):
                contents = [self._metric_file(run_id, file) for file in metric["values"]]
                read[run_id][metric["name"]] = contents[0] if len(contents) == 1 else contents
        return read if recursive else read.get(self._run_id, {})

    def _ids_of_type(self, run_type: str) -> set[str]:
        below = listed_runs(self._service, {"root": self._run_id, "include_children": True}, run_type)
        own = {self._run_id} if self._cached()["type"] == run_type else set()
        return own | {document["id"] for document in below}

    def _metric_file(self, run_id: str, name: str) -> MetricArtifact:
        with self._service.stream(f"/api/runs/{quote(run_id)}/files/{quote(name)}") as answer:
            content = b"".join(answer)
        check_hash(f"{name!r} of run {run_id}", answer.file_hash, hashlib.sha256(content).hexdigest())
        return MetricArtifact(run_id, name, content)

    def _log_columns(self, name: str, columns: Mapping[str, list[Scalar]], description: str | None) -> None:
        if not columns:
            raise AzureMLException(f"The table {name!r} needs at least one column.")
        journal = self._open_journal()
        journal.rows(name, columns)
        journal.description(name, description)

    def _log_chart(self, kind: charts.ChartKind, name: str, value: object, description: str | None) -> None:
        name = metric_name(name)
        self._log_file(name, kind.type, charts.chart_json(kind, name, value), ".json", description)

    def _log_file(self, name: str, type_name: str, content: bytes, ending: str, description: str | None) -> None:
        journal = self._open_journal()
        assert self._telemetry is not None
        file = self._unused(charts.file_name(name, ending))
        try:
            self._telemetry.store_bytes(self._run_id, file, content)
        except OSError as error:
            notice(
                f"{file} of the metric {name!r} is not kept: {self._telemetry.folder} takes no more ({error.strerror})."
            )
            return
        journal.artifact(name, type_name, file)
        journal.description(name, description)

    def _unused(self, file: str) -> str:
        """Two images of one name in one second are two files."""
        used: set[str] = self.__dict__.setdefault("_used_names", set())
        stem, dot, ending = file.rpartition(".")
        number, candidate = 1, file
        while candidate in used:
            number += 1
            candidate = f"{stem}_{number}{dot}{ending}"
        used.add(candidate)
        return candidate

    def _scalar(self, name: str, value: object) -> Scalar:
        stored, same = scalar(value)
        if not same:
            self._tell_of_strange(name, value)
        return stored

    def _tell_of_strange(self, name: str, value: object) -> None:
        notice_once(
            f"{self._run_id} {name}",
            f"The metric {name!r} got a value of the type {type(value).__name__}, which is no number, string or bool: "
            "its text form was kept. (This is said once per metric.)",
        )
