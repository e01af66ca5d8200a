"""What an autoscaler of Ray gets its nodes from: processes on this machine, each with an address of its own.

Ray imports this into the process of its autoscaler, in an environment that has nothing of the tests. It is what Ray
calls a node provider of type `external`; of the methods of one, these are all that its autoscaler v2 calls.
"""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import threading
from pathlib import Path
from typing import Any

HEAD = "head"

Tags = dict[str, str]


class Processes:
    def __init__(self, config: dict[str, Any], cluster: str) -> None:
        self._config = config
        self._folder = Path(config["folder"])
        self._numbers = itertools.count(11)
        self._changing = threading.Lock()
        self._tags: dict[str, Tags] = {HEAD: {"ray-node-type": "head", "ray-user-node-type": HEAD}}
        self._nodes: dict[str, subprocess.Popen[bytes]] = {}

    def non_terminated_nodes(self, tags: Tags) -> list[str]:
        with self._changing:
            return [HEAD, *(name for name, process in self._nodes.items() if process.poll() is None)]

    def is_running(self, name: str) -> bool:
        return name in self.non_terminated_nodes({})

    def node_tags(self, name: str) -> Tags:
        return self._tags[name]

    def create_node_with_resources_and_labels(
        self, config: dict[str, Any], tags: Tags, count: int, resources: dict[str, float], labels: dict[str, str]
    ) -> None:
        for _ in range(count):
            with self._changing:
                self._start(f"{self._config['net']}.{next(self._numbers)}", tags, resources["CPU"])

    def terminate_nodes(self, names: list[str]) -> None:
        for name in names:
            self._nodes[name].terminate()

    def _start(self, address: str, tags: Tags, cpus: float) -> None:
        name = address.rpartition(".")[2]
        folder = self._folder / name  # a short name: the path of a socket has at most 107 bytes
        folder.mkdir()
        command = [str(os.getpid()) if word == "PARENT" else word for word in self._config["command"]]
        place = [f"--node-ip-address={address}", f"--num-cpus={cpus:g}", f"--temp-dir={folder}/ray"]
        known = {"RAY_CLOUD_INSTANCE_ID": name, "RAY_NODE_TYPE_NAME": tags["ray-user-node-type"]}
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(
                [*command, *place],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, **known},
                start_new_session=True,
            )
        self._tags[name], self._nodes[name] = tags, process
        said = folder / "node.part"
        said.write_text(json.dumps({"pid": process.pid, "address": address}), "utf-8")
        said.rename(folder / "node.json")
