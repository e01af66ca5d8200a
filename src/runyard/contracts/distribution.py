"""How one run becomes many processes: which rank runs on which node, in which role.

A run has `nodes` nodes. What is started on each of them depends on the kind:

    plain, pytorch   `processes` on all nodes together, evenly; 0 starts one per node, which may start others itself
    mpi              `processes` on all nodes together, under one mpirun
    tensorflow       `workers` workers, one per node, and `parameter_servers` beside them, spread over the nodes
"""

from __future__ import annotations

from typing import Any, Mapping

from runyard.system.records import asdict, fields, record

PLAIN, MPI, PYTORCH, TENSORFLOW = "plain", "mpi", "pytorch", "tensorflow"
KINDS = (PLAIN, MPI, PYTORCH, TENSORFLOW)

WORKER, CHIEF, PARAMETER_SERVER = "worker", "chief", "ps"

MOST_NODES, MOST_PROCESSES = 10_000, 100_000


class BadDistribution(ValueError):
    """A distribution that cannot be run; the message has the reason and the remedy."""


@record(frozen=True)
class Rank:
    """One process of a run. `index` counts within the role, `local_rank` within the node."""

    rank: int
    node: int
    local_rank: int
    role: str = WORKER
    index: int = 0


@record(frozen=True)
class Distribution:
    kind: str = PLAIN
    nodes: int = 1
    processes: int = 0
    backend: str = ""  # of PyTorch: nccl or gloo
    workers: int = 0
    parameter_servers: int = 0

    @property
    def gang(self) -> bool:
        """Whether the run is more than one process on one node."""
        return self.nodes > 1 or self.kind != PLAIN or self.processes > 1

    @property
    def per_node(self) -> bool:
        """Whether one process per node is started, which knows of its node only: it has no rank."""
        return self.kind in (PLAIN, PYTORCH) and not self.processes

    def ranks(self) -> list[Rank]:
        """Every process, rank 0 first. Those of one node follow each other, parameter servers come last."""
        if self.kind == TENSORFLOW:
            return self._tensorflow()
        each = (self.processes or self.nodes) // self.nodes
        return [
            Rank(node * each + local, node, local, WORKER, node * each + local)
            for node in range(self.nodes)
            for local in range(each)
        ]

    def _tensorflow(self) -> list[Rank]:
        # A chief leads where there are parameter servers; alone, or among mirrored workers, worker 0 does.
        chief = self.parameter_servers > 0 and self.workers > 1
        ranks = []
        for worker in range(self.workers):
            role = CHIEF if chief and worker == 0 else WORKER
            index = 0 if role == CHIEF else worker - chief
            ranks.append(Rank(worker, worker % self.nodes, 0, role, index))
        taken = dict.fromkeys(range(self.nodes), 1)
        for server in range(self.parameter_servers):
            node = server % self.nodes
            ranks.append(Rank(self.workers + server, node, taken[node], PARAMETER_SERVER, server))
            taken[node] += 1
        return ranks

    def check(self) -> None:
        """Refuse what cannot be run."""
        if self.kind not in KINDS:
            raise BadDistribution(f"{self.kind!r} is no way to distribute a run. Use one of: {', '.join(KINDS)}.")
        if not 1 <= self.nodes <= MOST_NODES:
            raise BadDistribution(f"A run needs 1 to {MOST_NODES} nodes, not {self.nodes}. Set node_count.")
        if self.kind == TENSORFLOW:
            self._check_tensorflow()
        elif not 0 <= self.processes <= MOST_PROCESSES:
            raise BadDistribution(f"A run has 1 to {MOST_PROCESSES} processes, not {self.processes}.")
        elif self.processes % self.nodes:
            more = self.processes + self.nodes - self.processes % self.nodes
            raise BadDistribution(
                f"{self.processes} processes cannot be spread evenly over {self.nodes} nodes. process_count is the "
                f"number on all nodes together: use {more}, or another node_count."
            )
        if self.kind == PYTORCH and self.backend not in ("nccl", "gloo"):
            raise BadDistribution(f"{self.backend!r} is no backend of PyTorch. Use 'nccl' or 'gloo'.")

    def _check_tensorflow(self) -> None:
        if self.workers < 1:
            raise BadDistribution(f"A TensorFlow job needs at least one worker, not {self.workers}. Set worker_count.")
        if self.workers != self.nodes:
            raise BadDistribution(
                f"A TensorFlow job has one worker per node: {self.workers} workers do not fit {self.nodes} nodes."
            )
        if not 0 <= self.parameter_servers <= MOST_PROCESSES:
            raise BadDistribution(f"A job cannot have {self.parameter_servers} parameter servers.")

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_dict(document: Mapping[str, Any]) -> Distribution:
        return Distribution(
            **{each.name: document[each.name] for each in fields(Distribution) if each.name in document}
        )
