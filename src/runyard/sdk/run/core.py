"""The base of every part of `Run`: its identity, the server's document, and where its records go.

There are three kinds of handles. *Inside* a submitted run, and in the process that *leads* an interactive one,
records go to the journal, so that an unreachable server stops nobody. A handle *outside* calls the server directly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from runyard.client.http import quote
from runyard.sdk.notices import notice
from runyard.sdk.telemetry import telemetry

if TYPE_CHECKING:
    from runyard.contracts.documents import RunDocument
    from runyard.sdk.experiment import Experiment
    from runyard.sdk.telemetry.journal import Journal
    from runyard.sdk.telemetry.telemetry import Telemetry
    from runyard.sdk.workspace.service import Service

QUICK_FLUSH_SECONDS = 1.0
READ_FLUSH_SECONDS = 60.0


class RunCore:
    """Identity, the server's document and the journal."""

    def __init__(
        self,
        experiment: Experiment,
        run_id: str,
        document: RunDocument | None = None,
        own_telemetry: Telemetry | None = None,
    ) -> None:
        self._experiment = experiment
        self._run_id = run_id
        self._document = document
        self._own_telemetry = own_telemetry  # None: a handle from outside
        self._telemetry = own_telemetry
        self._own_properties: dict[str, str] = {}  # as they went into the journal: the server stores the first value
        self._journal: Journal | None = own_telemetry.journal(run_id) if own_telemetry is not None else None

    @property
    def _service(self) -> Service:
        return self._experiment.workspace.service

    def _address(self, *parts: str) -> str:
        return "/".join(("/api/runs", quote(self._run_id), *(quote(part) for part in parts)))

    def _cached(self) -> RunDocument:
        """The server's document, as it was last fetched."""
        return self._document if self._document is not None else self._fetch()

    def _fetch(self) -> RunDocument:
        """The server's document now."""
        self._document = cast("RunDocument", self._service.get(self._address()))
        return self._document

    def _open_journal(self) -> Journal:
        """The journal to write to. A handle from outside gets its own with the first record."""
        if self._journal is None:
            self._fetch()  # an unknown run must fail here, not in a background process
            self._telemetry = self._telemetry_from_outside()
            self._journal = self._telemetry.journal(self._run_id)
        return self._journal

    def _telemetry_from_outside(self) -> Telemetry:
        """Inside another run (a script that logs to its parent), records go into that run's folder: a separate
        shipper would end with the script."""
        shared = telemetry.inside() if self._service.of_run else None
        if shared is None:
            return telemetry.shipped(self._run_id, None, self._service.client.locator, lead=False)
        # A run that this one may not write to must fail here as well: an empty batch is a valid journal.
        self._service.post(self._address("journals", "none"), body=b"", params={"offset": 0}, idempotent=True)
        return shared

    def _deliver(self, seconds: float = READ_FLUSH_SECONDS) -> bool:
        """Wait until the server has received all records so far, of this process and of those it started."""
        return self._telemetry is None or self._telemetry.flush(self._run_id, seconds)

    def _deliver_before_reading(self) -> None:
        if self._deliver(QUICK_FLUSH_SECONDS):
            return
        if self._telemetry is not None:
            self._telemetry.ensure_shipper()
        self._fetch()  # a dead server of this machine is restarted by this request; shippers restart none
        if not self._deliver():
            notice(
                f"The server has not yet confirmed all that run {self._run_id} logged; what is read now may lack the "
                "latest of it. Nothing is lost: it is on the disk and is delivered when the server takes it."
            )
