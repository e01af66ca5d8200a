"""What only Ray's private modules offer: every use of them is here, so that a new Ray is tried here.

Like the keeper, this runs inside the cluster, with nothing of Runyard around it, and is sent there by value. Versions
of Ray that it was tried with are in pyproject.toml.
"""

from __future__ import annotations

from typing import Any

import ray


class Internals:
    def nodes(self) -> list[dict[str, Any]]:
        """The nodes that are alive, what each has and has free, and whether it is about to be taken away."""
        free = ray._private.state.available_resources_per_node()
        leaving = self.draining()
        return [
            {
                "id": node["NodeID"],
                "name": node.get("NodeName") or node["NodeManagerAddress"],
                "address": node["NodeManagerAddress"],
                "has": node["Resources"],
                "free": free.get(node["NodeID"], {}),
                "leaving": node["NodeID"] in leaving,
            }
            for node in ray.nodes()
            if node["Alive"]
        ]

    def draining(self) -> dict[str, int]:
        """When each node that is drained will be taken away, in milliseconds of the clock; 0: when it is idle."""
        deadlines: dict[str, int] = ray._private.state.state.get_draining_nodes()
        return deadlines

    def refused(self) -> set[str]:
        """The ids of the placement groups for which the autoscaler has no node type, or may not add as many nodes.
        Only autoscaler v2 knows."""
        from ray.core.generated.autoscaler_pb2 import GetClusterStatusReply

        reply = ray._private.worker.global_worker.gcs_client.get_cluster_status()
        state = GetClusterStatusReply.FromString(reply).autoscaling_state
        return {request.details.partition(":")[0] for request in state.infeasible_gang_resource_requests}
