"""Delivering what a run writes as data to a datastore, and telling the server of it when the run has ended.

Loaded only for runs that have such outputs.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Sequence

from runyard.client.http import quote
from runyard.contracts.data import outputs as contract
from runyard.contracts.data.outputs import Output
from runyard.contracts.plan import Plan
from runyard.node.delivery.retrying_client import Refused, RetryingClient, wire_name
from runyard.node.delivery.settling import FileChanged, SettlingFolder, pieces
from runyard.node.facts import Fact
from runyard.node.log import log_line
from runyard.node.prepare.data_outputs import outputs_of, place_of

NOT_DELIVERED = "OutputNotDelivered"


class DataOutput(SettlingFolder):
    """The files of one output, written to its datastore. With `again`, some of them may be there already, from here."""

    def __init__(self, client: RetryingClient, plan: Plan, output: Output, folder: Path, again: bool) -> None:
        super().__init__(folder, f"output {output.name}:")
        self.failures: list[str] = []
        self._client, self._output, self._plan = client, output, plan
        # In a gang, what is there may be another node's.
        self._overwrite = output.overwrite or (again and plan.distribution.nodes < 2)
        self._below = output.folder(plan.run_id)
        self._address = f"/api/workspaces/{quote(plan.workspace)}/datastores/{quote(output.datastore)}"

    def upload_settled(self) -> None:
        if self._output.mode == contract.MOUNT:
            super().upload_settled()

    def _send(self, relatives: list[str]) -> None:
        for relative in relatives:
            look = self._look(relative)
            if look is None:
                continue
            if not self._output.counts(relative):
                self._done(relative, look)
                continue
            path = self._folder / relative
            name = f"{self._below}/{wire_name(relative)}".lstrip("/")
            params: dict[str, str | int | bool] = {"path": name, "size": look.size}
            params["overwrite"] = self._overwrite or relative in self._delivered
            try:
                self._client.send(
                    "PUT",
                    f"{self._address}/content",
                    body=lambda path=path, size=look.size: pieces(path, size),
                    length=look.size,
                    params=params,
                )
            except FileChanged:
                continue  # it is looked at again once it has settled
            except Refused as refusal:
                if not self._beside_others(refusal, relative, look.size):
                    self._leave(relative, f"was refused: {refusal}")
                    continue
            self._done(relative, look)

    def _beside_others(self, refusal: Refused, relative: str, size: int) -> bool:
        """Deliver a file whose name another node of the gang has taken under a name of its own; whether it was."""
        if self._plan.distribution.nodes < 2 or refusal.code != "file_exists":
            return False
        stem, dot, ending = wire_name(relative).rpartition("/")[2].rpartition(".")
        last = f"{stem}.node-{self._plan.node}.{ending}" if dot and stem else f"{stem}{ending}.node-{self._plan.node}"
        name = "/".join(part for part in (self._below, os.path.dirname(wire_name(relative)), last) if part)
        path = self._folder / relative
        try:
            self._client.send(
                "PUT",
                f"{self._address}/content",
                body=lambda: pieces(path, size),
                length=size,
                params={"path": name, "size": size, "overwrite": True},
            )
        except Refused:
            return False
        log_line(f"output {self._output.name}: another node has delivered {relative}, so that this one's is {name}")
        return True

    def _leave(self, relative: str, why: str) -> None:
        super()._leave(relative, why)
        self.failures.append(self.warnings[-1])

    def __str__(self) -> str:
        count, size = len(self._delivered), sum(look.size for look in self._delivered.values())
        return f"{self._output.name}: {count:,} files, {size:,} bytes"


def data_outputs(client: RetryingClient, plan: Plan, folder: Path, resume: bool, shares_work: bool) -> list[DataOutput]:
    """The outputs whose files are here. What is a datastore's own folder needs no delivery, and what lies in a working
    folder that this node shares is delivered by node 0."""
    work = folder / "work"
    found = []
    for output in outputs_of(plan):
        place = place_of(output, folder, work)
        if place.is_symlink() or (shares_work and work in place.parents):
            continue
        found.append(DataOutput(client, plan, output, place, resume or plan.attempt > 1))
    return found


def tell(client: RetryingClient, plan: Plan, outputs: Sequence[DataOutput], end: Fact) -> Fact:
    """Tell the server that the outputs of a run are where they belong, so that they become datasets; returns how the
    run ended, which is a failure if one of them could not be delivered."""
    failures = [text for each in outputs for text in each.failures]
    for each in outputs:
        log_line(f"delivered output {each}")
    if end.get("outcome") == "completed" and not end.get("stopped") and failures:
        error = {
            "code": NOT_DELIVERED,
            "message": f"The script has ended well, but its output was not delivered: {failures[0]}",
            "help": "What was delivered is kept in the datastore.",
        }
        end = {**end, "outcome": "failed", "error": error}
    complete = end.get("outcome") == "completed"
    try:
        client.send("POST", f"/api/runs/{quote(plan.run_id)}/outputs", {"complete": complete})
    except Refused as refusal:
        if complete:
            error = {"code": NOT_DELIVERED, "message": f"The outputs did not become datasets: {refusal}"}
            return {**end, "outcome": "failed", "error": error}
        log_line(f"the outputs did not become datasets: {refusal}")
    return end
