"""The part of `Run` that begins and ends it: start, complete, fail, cancel, flush, and the `with` block."""

from __future__ import annotations

import time
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from runyard.contracts.states import TERMINAL
from runyard.sdk.exceptions import AzureMLException
from runyard.sdk.notices import notice
from runyard.sdk.run.core import RunCore
from runyard.sdk.run.events import follow

if TYPE_CHECKING:
    from pathlib import Path

    from runyard.sdk.run.interactive import Capture

END_SECONDS = 300.0
FRAMES = 20
USER_ERROR = "UserError"

R = TypeVar("R", bound="RunLifecycle")


class RunLifecycle(RunCore):
    """start, complete, fail, cancel, flush, the context manager."""

    _outputs: Path | None = None  # handed over at the end, where no shipper follows it
    _capture: Capture | None = None

    def start(self) -> None:
        """Mark a run that was only made (`create_children`) as running."""
        self._service.post(self._address("facts"), {"fact": "started"}, idempotent=True)
        self._document = None

    def flush(self, timeout_seconds: float = 300) -> None:
        """Wait until the server has all that this process logged."""
        if not self._deliver(timeout_seconds):
            notice(
                f"Run {self._run_id}: not all that was logged has reached the server within {timeout_seconds} s. It is "
                "on the disk and is delivered when the server takes it."
            )

    def complete(self, _set_status: bool = True) -> None:
        """Complete the run, after its outputs and all that it logged have been delivered. The script of a submitted run
        that is still running is stopped."""
        self._end("completed", None)

    def fail(
        self, error_details: str | BaseException | None = None, error_code: str | None = None, _set_status: bool = True
    ) -> None:
        """Mark the run as failed; `error_details` is a text or an exception. The script of a submitted run that
        is still running is stopped."""
        self._end("failed", error_document(error_details, error_code))

    def cancel(self) -> None:
        """Cancel the run. A run that this process leads ends at once; another is requested to stop."""
        if self._own_telemetry is not None:
            self._end("canceled", None)
        else:
            self._document = self._service.post(self._address("cancel"), idempotent=True)

    def __enter__(self: R) -> R:
        if self._own_telemetry is not None:
            from runyard.sdk.run.interactive import Capture

            self._capture = Capture(self._own_telemetry, self._run_id)
            self._capture.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        """A normal end, and `sys.exit()` with 0 or nothing, completes the run; any other exception fails it."""
        if error is None or (isinstance(error, SystemExit) and error.code in (None, 0)):
            self.complete()
            return error is not None
        self.fail(error)
        return False

    def _end(self, outcome: str, error: dict[str, Any] | None) -> None:
        if self._own_telemetry is None:
            self._end_from_outside(outcome, error)
            return
        if self._capture is not None:
            self._capture.stop()
            self._capture = None
        if self._outputs is not None and self._own_telemetry.followed != self._run_id:
            from runyard.sdk.run.interactive import store_folder

            store_folder(self._own_telemetry, self._run_id, "outputs", self._outputs)
        self._open_journal().end(outcome, error)
        self._own_telemetry.ensure_shipper()
        self._own_telemetry.hurry()
        self._wait_for_end()
        # The shipper is done. From now on this is a handle from outside.
        self._own_telemetry = self._telemetry = self._journal = None

    def _end_from_outside(self, outcome: str, error: dict[str, Any] | None) -> None:
        """A script that is still running is stopped, and has time to save; the run ends after it."""
        if self._fetch()["status"] in TERMINAL:
            return
        self._deliver_before_reading()
        self._document = self._service.post(self._address("end"), {"outcome": outcome, "error": error}, idempotent=True)
        if self._cached()["status"] not in TERMINAL and not self._has_ended():
            notice(f"Run {self._run_id} is marked as {outcome}. Its script has not ended yet; the run ends with it.")

    def _wait_for_end(self) -> None:
        """The shipper delivers everything, then the end: once the server has it, everything has arrived."""
        if not self._has_ended():
            notice(
                f"The end of run {self._run_id} has not reached the server yet. It is on the disk and is delivered "
                "when the server takes it."
            )

    def _has_ended(self) -> bool:
        """Wait for the run's end, up to a timeout; False when it has not come."""
        deadline = time.monotonic() + END_SECONDS
        try:
            for event in follow(self._service, self._run_id, deadline):
                if event.name == "state" and event.value["status"] in TERMINAL:
                    self._fetch()
                    return True
        except AzureMLException as away:
            notice(f"{away.message}")
        return False


def error_document(error: str | BaseException | None, code: str | None) -> dict[str, Any]:
    """The document of a run's error: of a text the text, of an exception also its type and where it came from."""
    if error is None or isinstance(error, str):
        return {"code": code or USER_ERROR, "message": error or "The run was marked as failed, and no cause was given."}
    if not isinstance(error, BaseException):
        raise TypeError(f"error_details must be a text or an exception, not a {type(error).__name__}.")
    import traceback  # only for a run that fails

    message = getattr(error, "message", None)
    text = message if isinstance(message, str) and message else str(error)
    frames = [
        {"file": frame.filename, "line": frame.lineno, "function": frame.name, "code": frame.line or ""}
        for frame in traceback.extract_tb(error.__traceback__)[-FRAMES:]
    ]
    name = type(error).__name__
    return {
        "code": code or USER_ERROR,
        "message": f"{name}: {text}" if text else name,
        "exception": {"type": name, "message": text, "frames": frames},
    }
