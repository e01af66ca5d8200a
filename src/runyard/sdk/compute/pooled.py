"""What targets of several nodes have in common: their status, their nodes, the wait for them."""

from __future__ import annotations

import builtins
import time
from typing import TYPE_CHECKING, Any, Iterator

from runyard.sdk.compute.aml_status import AmlComputeStatus, ScaleSettings, scale_settings
from runyard.sdk.compute.arguments import whole_number
from runyard.sdk.compute.compute import ComputeTarget, _address, _asking
from runyard.sdk.exceptions import ComputeTargetException

if TYPE_CHECKING:
    from runyard.contracts.documents import ComputeDocument
    from runyard.sdk.run.run import Run
    from runyard.sdk.workspace.workspace import Workspace


class PooledCompute(ComputeTarget):
    """A target of several nodes: an AmlCompute, or a cluster of its own."""

    vm_size: str
    vm_priority: str
    scale_settings: ScaleSettings
    status: AmlComputeStatus

    def _take(self, workspace: Workspace, document: ComputeDocument) -> None:
        super()._take(workspace, document)
        self.vm_size = document["vm_size"]
        self.vm_priority = document["vm_priority"]
        self.scale_settings = scale_settings(document)
        self.status = AmlComputeStatus._from_document(document)

    def get_status(self) -> AmlComputeStatus:
        """The current status of the target: how many nodes it has and wants, and their states."""
        self.refresh_state()
        return self.status

    def wait_for_completion(  # type: ignore[override]  # SDK v1 has the parameters in this order
        self,
        show_output: bool = False,
        min_node_count: int | None = None,
        timeout_in_minutes: float = 25,
        is_delete_operation: bool = False,
    ) -> None:
        """Wait until the target has its nodes, or is deleted. A timeout, and errors of the target, do not raise.

        `min_node_count` is by default the target's minimum. It never waits for more than that: nodes beyond
        it come when runs need them.
        """
        deadline = time.monotonic() + float(timeout_in_minutes) * 60
        if min_node_count is not None:
            min_node_count = whole_number("min_node_count", min_node_count)
        if is_delete_operation:
            if not self._wait_until_gone(show_output, deadline) and show_output:
                print(f"{self.name}: still there after {timeout_in_minutes} minutes.", flush=True)
            return
        in_time = self._wait(lambda: self._settled(min_node_count), show_output, self._progress, deadline)
        if show_output:
            print(self._outcome(min_node_count, in_time, timeout_in_minutes), flush=True)

    def list_nodes(self) -> builtins.list[dict[str, Any]]:
        """The nodes of the target, and the runs on them."""
        with _asking():
            answer = self.workspace.service.client.get(_address(self.workspace, self.name, "nodes"))
        return [
            {
                "nodeId": node["name"],
                "nodeState": node["state"],
                "runId": node["run_id"],
                "privateIpAddress": node["address"] or None,
                "publicIpAddress": None,
                "port": None,
            }
            for node in answer["nodes"]
        ]

    def get_active_runs(
        self, type: str | None = None, tags: object = None, properties: object = None, status: str | None = None
    ) -> Iterator[Run]:
        """The runs that are queued for the target or active on it."""
        return active_runs(self, type, tags, properties, status)

    def serialize(self) -> dict[str, Any]:
        document = super().serialize()
        document["properties"]["properties"]["status"] = self.status.serialize()
        return document

    def _settled(self, min_node_count: int | None) -> bool:
        ended = self.provisioning_state in ("Failed", "Canceled") or bool(self.status.errors)
        return ended or self.status.current_node_count >= self._awaited(min_node_count)

    def _awaited(self, min_node_count: int | None) -> int:
        least = self.scale_settings.minimum_node_count
        return least if min_node_count is None else min(min_node_count, least)

    def _progress(self) -> str:
        status = self.status
        return f"{self.provisioning_state}: {status.current_node_count} of {status.target_node_count} nodes"

    def _outcome(self, min_node_count: int | None, in_time: bool, minutes: float) -> str:
        if self.status.errors:
            reports = "; ".join(
                f"{each['error'].get('code')}: {each['error'].get('message')}" for each in self.status.errors
            )
            return f"{self.name} reports: {reports}"
        if self.provisioning_state in ("Failed", "Canceled"):
            return f"{self.name} ended as {self.provisioning_state}."
        if not in_time:
            return f"{self.name} has {self.status.current_node_count} nodes after {minutes} minutes; the wait is over."
        most, least = self.scale_settings.maximum_node_count, self.scale_settings.minimum_node_count
        if min_node_count is not None and min_node_count > least:
            return f"{self.name} is ready. It keeps {least} nodes, and grows up to {most} when runs need them."
        return f"{self.name} is ready, with {self.status.current_node_count} nodes."


def active_runs(
    target: ComputeTarget, type: str | None, tags: object, properties: object, status: str | None
) -> Iterator[Run]:
    """The runs on a target that have not ended."""
    from runyard.contracts.states import ACTIVE, POST_PROCESSING, TERMINAL
    from runyard.sdk.run.listing import listed_runs
    from runyard.sdk.run.types import run_from

    if status in TERMINAL:
        raise ComputeTargetException(f"A run that is {status} is not active. Experiment.get_runs lists all runs.")
    place = {"workspace": target.workspace.name, "target": target.name, "include_children": True}
    for each in [status] if status is not None else sorted(ACTIVE | POST_PROCESSING):
        for document in listed_runs(target.workspace.service, place, type, tags, properties, each):
            yield run_from(target.workspace, document)
