"""The part of `Run` for watching it: status, details, logs, and waiting for its end."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from runyard.client.problems import ClientProblem
from runyard.contracts import names
from runyard.contracts.history import BUILD_LOG, SWEEP_LOG, is_main_log
from runyard.contracts.states import PROVISIONING, QUEUED, TERMINAL
from runyard.sdk.exceptions import ExperimentExecutionException
from runyard.sdk.run import file_transfer
from runyard.sdk.run.core import RunCore
from runyard.sdk.run.details import details, error_of, error_text, failed
from runyard.sdk.run.events import LogReader, follow

if TYPE_CHECKING:
    from runyard.contracts.documents import RunDocument

WAITING = (QUEUED, PROVISIONING)
"""States in which a run waits for nodes; its reason explains it."""

WIDGETS = "runyard.sdk.widgets.run_details"
"""Not imported here: code that uses widgets has loaded it, and their last picture belongs to the wait."""

_ROLE = re.compile(r"(?P<stem>.*)_(?P<role>rank|worker|ps|process)_(?P<number>\d+)\.txt")


def followed_log(names: list[str]) -> str | None:
    """Which of a run's logs is shown while it runs: the script's output, of the first process where there are many;
    before that, the log of its environment's build.

    >>> followed_log(["system_logs/runner.txt", "user_logs/std_log_process_0.txt", "user_logs/std_log_process_1.txt"])
    'user_logs/std_log_process_0.txt'
    """
    fitting = sorted(name for name in names if is_main_log(name))
    if not fitting:
        return next((name for name in (BUILD_LOG, SWEEP_LOG) if name in names), None)
    last = fitting[-1]
    role = _ROLE.fullmatch(last)
    if role is not None:
        for first in ("rank_0", "worker_0", "process_0"):
            if f"{role['stem']}_{first}.txt" in fitting:
                return f"{role['stem']}_{first}.txt"
    return last


class RunWatching(RunCore):
    """status, get_status, get_details, logs, wait_for_completion."""

    _mid_line = False  # whether the log that is shown ends without a line break so far

    @property
    def status(self) -> str:
        """The status as it was last fetched; `get_status` fetches it again."""
        return self._cached()["status"]

    def get_status(self) -> str:
        """The current status. That of a run that has ended is final, so it is not fetched again."""
        if self._document is not None and self._document["status"] in TERMINAL:
            return self._document["status"]
        return self._fetch()["status"]

    def get_detailed_status(self) -> dict[str, Any]:
        """`status`, and in `details` why the run is waiting, if it is."""
        document = self._fetch()
        return {"status": document["status"], "details": document["reason"] if document["status"] in WAITING else None}

    def get_details(self) -> dict[str, Any]:
        """All about the run: status, times, error, definition, properties, addresses of the logs."""
        return self._details(self._fetch())

    def get_details_with_logs(self) -> dict[str, Any]:
        """The same, with each log's text instead of its URL."""
        found = self.get_details()
        found["logFiles"] = {name: self._log_text(name) for name in found["logFiles"]}
        return found

    def get_all_logs(self, destination: str | os.PathLike[str] | None = None) -> list[str]:
        """Write the logs into a folder (by default `assets/<run id>`) and return their paths."""
        # Names from a server become paths only below this folder.
        folder = Path(destination) if destination is not None else Path("assets", names.check("run", self._run_id))
        wanted = [(name, folder / names.check_file(name)) for name in self._fetch().get("logs", [])]
        file_transfer.download_all(self._service, self._run_id, wanted, None)
        return [str(place) for _, place in wanted]

    def wait_for_completion(
        self, show_output: bool = False, wait_post_processing: bool = False, raise_on_error: bool = True
    ) -> dict[str, Any]:
        """Wait for the run's end and return `get_details()`. With `show_output`, its log is printed as it comes.

        A run that failed raises ActivityFailedException, unless `raise_on_error` is False; a cancelled one does not.
        The wait always includes the moments in which the last outputs arrive: what can be read afterwards is final.
        Ctrl-C ends the wait, not the run.
        """
        document = None
        try:
            if show_output:
                self._show()
            else:
                document = self._if_ended()
                if document is None:
                    for _ in follow(self._service, self._run_id):
                        pass
        except KeyboardInterrupt:
            raise ExperimentExecutionException(
                f"The wait for run {self._run_id} was interrupted. The run goes on: run.wait_for_completion() waits "
                f"again, `runyard logs -f {self._run_id}` shows its log, run.cancel() stops it."
            ) from None
        if WIDGETS in sys.modules:
            sys.modules[WIDGETS].settle(self._run_id)
        document = document or self._fetch()
        if document["status"] == "Failed":
            if raise_on_error:
                raise failed(document)
            if show_output:
                print(f"\nError:\n{error_text(document)}\n")
        return self._details(document)

    def _details(self, document: RunDocument) -> dict[str, Any]:
        """`get_details`, with the datasets themselves, which are fetched as they are looked at."""
        found = details(document)
        if found["inputDatasets"] or found["outputDatasets"]:
            from runyard.sdk.data.abstract_dataset import found_by_id
            from runyard.sdk.data.lineage import UsedDatasets

            workspace = self._experiment.workspace
            found["inputDatasets"] = UsedDatasets(found["inputDatasets"], workspace)
            for each in found["outputDatasets"]:
                each["dataset"] = found_by_id(workspace, each["identifier"]["savedId"])
        return found

    def _if_ended(self) -> RunDocument | None:
        """The run, if it has ended: then there is nothing to follow. A server that does not answer is waited for by
        whoever follows."""
        try:
            document = cast("RunDocument", self._service.client.get(self._address()))
        except ClientProblem:
            return None
        if document["status"] not in TERMINAL:
            return None
        self._document = document
        return document

    def _show(self) -> None:
        web_view = self._cached()["web_url"]
        print(f"RunId: {self._run_id}\nWeb View: {web_view}", flush=True)
        reader: LogReader | None = None
        logs: set[str] = set()
        reason = None
        again = False  # whether it waits for its next attempt: until that begins, logs are those of the former one
        for event in follow(self._service, self._run_id):
            if event.name == "state":
                status = event.value["status"]
                again = status == QUEUED and (again or reader is not None)
                if status in WAITING and event.value["reason"] not in (None, reason):
                    reason = event.value["reason"]
                    print(f"{status}: {reason}", flush=True)
                if again:
                    reader, logs = None, set()
                continue
            if event.name != "file" or again:
                continue
            logs.add(event.value["name"])
            name = followed_log(sorted(logs))
            if name is None:
                continue
            if reader is None or reader.name != name:
                if reader is not None:
                    self._print_new(reader)
                reader = self._opened(name)
            if event.value["name"] == name:
                self._print_new(reader)
        if reader is None:
            name = followed_log(self._fetch().get("logs", []))
            reader = self._opened(name) if name is not None else None
        if reader is not None:
            self._print_new(reader)
        self._summary(self._fetch(), web_view)

    def _opened(self, name: str) -> LogReader:
        print(f"\nStreaming {name}\n{'=' * (len(name) + 10)}\n", flush=True)
        return LogReader(self._service, self._run_id, name)

    def _print_new(self, reader: LogReader) -> None:
        for text in reader.new_text():
            sys.stdout.write(text)
            sys.stdout.flush()
            self._mid_line = not text.endswith("\n")

    def _summary(self, document: RunDocument, web_view: str) -> None:
        if self._mid_line:
            print()
        print(f"\nExecution Summary\n{'=' * 17}\nRunId: {self._run_id}\nWeb View: {web_view}")
        if document["warnings"]:
            print("\nWarnings:")
            for warning in document["warnings"]:
                print(warning.get("message", ""))
        print(flush=True)

    def _log_text(self, name: str) -> str:
        return "".join(LogReader(self._service, self._run_id, name).new_text())

    def _error(self) -> dict[str, Any] | None:
        return error_of(self._fetch())
