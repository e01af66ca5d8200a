"""The table of engines: what each is called, where its class is, and which options its targets have.

An engine of Runyard is a folder below `runyard/engines` and one entry here. A package of somebody else registers an
`EngineDescription` of its own as an entry point of the group `runyard.engines` (`runyard.engines.discovery` finds it).
Nothing here imports an engine: the SDK reads this table on machines where no engine is installed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping

from runyard.contracts import engine_options
from runyard.contracts.compute import LOCAL_ENGINE, RAY, SLURM
from runyard.contracts.engine_options import NUMBERS, PATH, SECONDS, SWITCH, TEXT, Option


@dataclass(frozen=True)
class EngineDescription:
    """What is known of an engine without loading it.

    `target_type` is what SDK v1 calls a target of this engine, in letters only. `implementation` names the class, a
    `runyard.engines.base.Engine`, as "package.module:Class"; it is imported when a target first needs it.
    `most_waiting` is how many gangs may wait in the cluster at a time, for a cluster that keeps no order among them.
    """

    name: str
    target_type: str
    implementation: str
    options: tuple[Option, ...] = ()
    most_waiting: int | None = None

    def check_options(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The options that have a value, checked. Raises `engine_options.BadOptions`.

        >>> BUILT_IN["slurm"].check_options({"partition": "gpu", "account": None})
        {'partition': 'gpu'}
        """
        return engine_options.check(self.name, self.options, given)


_PYTHON = Option("python", TEXT, "the Python that becomes a node runner on the nodes; python3 without it")

_RAY_OPTIONS = (
    Option("address", TEXT, "where the cluster's head listens: host:port", required=True),
    Option("namespace", TEXT, "the namespace for what Runyard makes in the cluster"),
    Option("resources", NUMBERS, "custom resources that each node of a run asks for"),
    Option("autoscaling", SWITCH, "whether the cluster gets more nodes when they are asked for"),
    Option("ray_python", TEXT, "the Python beside the server that has Ray; the server's own without it"),
    Option("token_file", PATH, "the file with the cluster's token, where it asks for one"),
    _PYTHON,
)

_SLURM_OPTIONS = (
    Option("partition", TEXT, "the partition; the cluster's default without it"),
    Option("account", TEXT, "whom the jobs are charged to"),
    Option("qos", TEXT, "the quality of service"),
    Option("constraint", TEXT, "features that the nodes must have"),
    Option("gres", TEXT, "generic resources of each node, such as gpu:2; from vm_size without it"),
    Option("time", TEXT, "the time limit of runs that have none of their own, such as 1-00:00:00"),
    Option("exclusive", SWITCH, "whether nodes are shared with nobody"),
    Option("sbatch", TEXT, "further arguments of sbatch"),
    Option("time_margin", SECONDS, "how much longer than its script a job may last; 600 without it"),
    Option("commands", PATH, "the folder of sbatch, squeue and the others, when they are not on PATH"),
    Option("conf", PATH, "Slurm's configuration file, when it is not where Slurm looks for it"),
    _PYTHON,
)

BUILT_IN: Mapping[str, EngineDescription] = {
    engine.name: engine
    for engine in (
        EngineDescription(LOCAL_ENGINE, "AmlCompute", "runyard.engines.local:LocalEngine"),
        # Ray's placement groups know no order: a large gang would wait behind small ones for ever.
        EngineDescription(RAY, "Ray", "runyard.engines.ray.engine:RayEngine", _RAY_OPTIONS, most_waiting=1),
        EngineDescription(SLURM, "Slurm", "runyard.engines.slurm.engine:SlurmEngine", _SLURM_OPTIONS),
    )
}
