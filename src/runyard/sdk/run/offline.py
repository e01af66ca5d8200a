"""The replacement for a run outside a run: `Run.get_context()` gives it to a script that was started by hand.

Everything that would be recorded is printed; nothing is stored.
"""

from __future__ import annotations

import os
import uuid
from types import TracebackType
from typing import IO, Any, Mapping, Sequence


class _OfflineRun:
    """Prints what a run would record. It has no experiment, no metrics to read and no history."""

    def __init__(self, run_id: str | None = None) -> None:
        self._id = run_id or f"OfflineRun_{uuid.uuid4()}"

    @property
    def id(self) -> str:
        return self._id

    def log(self, name: str, value: object, description: str = "", step: object = None) -> None:
        _say(f"scalar metric {name}" + ("" if step is None else f" at step {step}"), value)

    def log_list(self, name: str, value: object, description: str = "") -> None:
        _say(f"list metric {name}", value)

    def log_row(self, name: str, description: str | None = None, **kwargs: object) -> None:
        _say(f"row metric {name}", kwargs)

    def log_table(self, name: str, value: object, description: str = "") -> None:
        _say(f"table metric {name}", value)

    def log_image(self, name: str, path: object = None, plot: object = None, description: str = "") -> None:
        _say(f"image metric {name}", path if path is not None else plot)

    def log_confusion_matrix(self, name: str, value: object, description: str = "") -> None:
        _say(f"confusion matrix metric {name}", value)

    def log_accuracy_table(self, name: str, value: object, description: str = "") -> None:
        _say(f"accuracy table metric {name}", value)

    def log_residuals(self, name: str, value: object, description: str = "") -> None:
        _say(f"residuals metric {name}", value)

    def log_predictions(self, name: str, value: object, description: str = "") -> None:
        _say(f"predictions metric {name}", value)

    def upload_file(self, name: str, path_or_stream: str | os.PathLike[str] | IO[Any], **kwargs: Any) -> None:
        _say(f"upload of the file {name}", path_or_stream)

    def upload_files(self, names: Sequence[str], paths: Sequence[str | os.PathLike[str]], **kwargs: Any) -> None:
        _say(f"upload of the files {', '.join(names)}", paths)

    def upload_folder(self, name: str, path: str | os.PathLike[str], **kwargs: Any) -> None:
        _say(f"upload of the folder {name}", path)

    def tag(self, key: str, value: object = None) -> None:
        _say(f"tag {key}", value)

    def set_tags(self, tags: Mapping[str, object]) -> None:
        _say("tags", tags)

    def add_properties(self, properties: Mapping[str, object]) -> None:
        _say("properties", properties)

    def child_run(self, name: str | None = None, run_id: str | None = None, outputs: object = None) -> _OfflineRun:
        child = _OfflineRun(f"{self._id}.{name or run_id or uuid.uuid4()}")
        _say("child run", child.id)
        return child

    def complete(self, _set_status: bool = True) -> None:
        _say("end of the run, completed", self._id)

    def fail(self, error_details: object = None, error_code: str | None = None, _set_status: bool = True) -> None:
        _say("end of the run, failed", error_details)

    def cancel(self) -> None:
        _say("cancellation of the run", self._id)

    def flush(self, timeout_seconds: float = 300) -> None:
        """Nothing is stored, so there is nothing to wait for."""

    def __enter__(self) -> _OfflineRun:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.complete()
        else:
            self.fail(error)

    def __repr__(self) -> str:
        return f"_OfflineRun(Id: {self._id})"


def _say(what: str, value: object) -> None:
    print(f"Outside a run, not recorded: {what}\n{value}")
