"""A real Ray cluster that begins with a head alone: its own autoscaler (v2) adds nodes and takes them away again."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path

from tests.support.ray_cluster import CORES, Node, RayCluster, made
from tests.support.ray_provider import HEAD, Processes

IDLE_SECONDS = 3
MOST_NODES = 3


class GrowingCluster(RayCluster):
    """Its nodes are those that the autoscaler has started; see `tests/support/ray_provider.py`."""

    def start(self) -> None:
        config = self.folder / "autoscaler.json"  # which is YAML too
        config.write_text(json.dumps(self._config()), "utf-8")
        self._grown.mkdir()
        head = self.start_head(
            f"--autoscaling-config={config}",
            RAY_enable_autoscaler_v2="1",
            AUTOSCALER_UPDATE_INTERVAL_S="1",
            RAY_CLOUD_INSTANCE_ID=HEAD,
            RAY_NODE_TYPE_NAME=HEAD,
            PYTHONPATH=str(Path(__file__).resolve().parents[2]),
        )
        self._await([head])  # it is a node too, and the only one

    def look(self) -> list[Node]:
        """The nodes that are there now."""
        known = {node.address for node in self.nodes}
        for path in self._grown.glob("*/node.json"):
            said = json.loads(path.read_text("utf-8"))
            if said["address"] not in known:
                self.nodes.append(Node(path.parent, said["pid"], said["address"]))
        return [node for node in self.nodes if not node.gone]

    def end(self) -> None:
        super().end()
        for node in self.look():  # started in the last moment
            node.kill()

    @property
    def _grown(self) -> Path:
        return self.folder / "grown"

    def _config(self) -> dict[str, object]:
        small = {"resources": {"CPU": CORES}, "node_config": {}, "min_workers": 0, "max_workers": MOST_NODES}
        unused: dict[str, list[str]] = {
            f"{name}_commands": [] for name in ("setup", "head_setup", "worker_setup", "initialization")
        }
        return {
            **unused,  # but asked for
            "cluster_synced_files": [],
            "cluster_name": "growing",
            "max_workers": MOST_NODES,
            "upscaling_speed": MOST_NODES,
            "idle_timeout_minutes": IDLE_SECONDS / 60,
            "head_node_type": HEAD,
            "available_node_types": {
                HEAD: {"resources": {"CPU": 0}, "node_config": {}, "max_workers": 0},
                "small": small,
            },
            "provider": {
                "type": "external",
                "module": f"{Processes.__module__}.{Processes.__qualname__}",
                "disable_node_updaters": True,  # the nodes come with Ray in them
                "folder": str(self._grown),
                "net": self.net,
                "command": [*self.command("PARENT"), f"--address={self.address}"],
            },
        }


@contextlib.contextmanager
def growing() -> Iterator[GrowingCluster]:
    with made(GrowingCluster, GrowingCluster.start) as cluster:
        yield cluster
