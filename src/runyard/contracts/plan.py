"""The plan: all that a node runner needs for one run. The engine writes it to `plan.json` in the run's folder.

A run over many nodes has a node runner, a folder and a plan for each. Node 0 leads the others (`runyard.node.gang`).

runs/<run id>/            node 0; `<run id>@<k>/` is the folder of node k
    plan.json          this; only the user can read it (it holds the run's token)
    manifest           the snapshot's manifest, unless the plan holds it; if both are missing, the runner fetches it
                       from the server, and starts later
    runner.lock        held by the node runner that is alive; holds {"pid": its process id}
    over               (only when it was given up) nothing of it is to go on
    state.json         what the runner has done so far, so that another can take over if it dies
    work/              the working folder: the snapshot, and what the script writes
    telemetry/         journals and spool (`runyard.contracts.journal`)
    observed/          the same for what the node runner has recorded of its node
    temp/              what the script may use until it ends (AZ_BATCHAI_JOB_TEMP)
    streams/           std_log.txt: standard output and error of the script; runner.log: the runner's own;
                       environment.log: the output of the environment's build
"""

from __future__ import annotations

import json
from functools import cached_property
from pathlib import Path
from typing import Any

from runyard.contracts.compute import RESTARTS
from runyard.contracts.distribution import Distribution
from runyard.system.json_files import made_of, read_object
from runyard.system.records import field, fields, record, replace

RESUMES = "resumes"
"""In a stored launch: the run that it goes on from. The server sets it, for children of sweeps; no client can."""
RESUMED = "resumed_outputs"
"""The folder in the working folder with the outputs of the run that another one resumes."""
OBSERVED = "observed"
"""The folder in a run's folder with the journals of what the node runner has observed (`runyard.node.observing`)."""
OVER = "over"
"""A file in a run's folder: the run was given up, so that nothing of it is to go on."""


@record(frozen=True)
class Launch:
    """What to start. Exactly one of `script`, `command` and `service` is set."""

    script: str | None = None
    command: str | None = None
    arguments: list[str] = field(default_factory=list)
    interpreter: str = "python"
    environment_variables: dict[str, str] = field(default_factory=dict)
    max_run_duration_seconds: int | None = None
    output_collection: bool = True
    directories_to_watch: list[str] = field(default_factory=lambda: ["logs"])
    shell: dict[str, str] = field(default_factory=dict)  # variables of the submitter's shell, for a run beside it
    environment: dict[str, Any] = field(default_factory=dict)  # a `contracts.environment.Specification`
    container: dict[str, Any] = field(default_factory=dict)  # how a container is run: arguments, shm_size
    notes: list[str] = field(default_factory=list)  # how the environment came to be the one above, for its log
    distribution: dict[str, Any] = field(default_factory=dict)  # a `contracts.distribution.Distribution`
    inputs: list[dict[str, Any]] = field(default_factory=list)  # datasets: name, dataset (id), mode, path_on_compute
    outputs: list[dict[str, Any]] = field(default_factory=list)  # a `contracts.data.outputs.Output` each
    service: dict[str, Any] = field(default_factory=dict)  # a `contracts.services.plan.ServicePlan`, of a replica
    restarts: int = RESTARTS  # how often the run is restarted automatically after its nodes were taken away

    @staticmethod
    def from_dict(document: dict[str, Any]) -> Launch:
        return Launch(**{each.name: document[each.name] for each in fields(Launch) if each.name in document})


@record(frozen=True)
class Plan:
    run_id: str
    root_run_id: str
    experiment: str
    experiment_id: str
    workspace: str
    subscription_id: str
    resource_group: str
    target: str
    token: str
    server_url: str
    launch: Launch
    snapshot_id: str | None = None
    server_file: str | None = None  # re-read when the server has moved; only where the disk is shared
    objects: str | None = None  # the object store's folder, where the disk is shared: no need to fetch
    sdk: str = ""  # the folder to put first on PYTHONPATH
    grace_seconds: float = 10.0  # between SIGTERM and SIGKILL
    environments: str = ""  # the folder of built environments
    environments_limit: int | None = None  # bytes; beyond it, the least recently used ones are removed
    relax: bool = False  # whether pins that are not available may be relaxed
    real_horovod: bool = False  # whether a layer may not stand in for Horovod
    secrets: dict[str, str] = field(default_factory=dict)  # values that the environment refers to, by name
    node: int = 0  # which node of the run this plan is for
    attempt: int = 1  # 2 and more: the run was started before, and its outputs are restored
    resumes: str = ""  # a run whose outputs the script is given in `RESUMED`, beside its own
    link: str = ""  # the secret by which the node runners of one attempt authenticate each other
    target_type: str = "local"  # the type of the target, for the script
    data_cache: str = ""  # the folder of data that was fetched for runs
    data_limit: int | None = None  # bytes; beyond it, what was not used for the longest time is removed
    mount_python: str = ""  # an interpreter on the server's disk that has what a lazy mount needs
    lazy_above: int | None = None  # bytes; a dataset with more to be fetched is mounted lazily, where that can be had
    observe: list[str] = field(default_factory=list)  # of `contracts.journal.SOURCES`: what is recorded besides
    manifest: str | None = None  # the snapshot's, where it is short and the engine has it

    @cached_property
    def distribution(self) -> Distribution:
        return Distribution.from_dict(self.launch.distribution)

    def save(self, folder: Path) -> None:
        from runyard.contracts.home import write_private

        # Not `asdict`, which copies every value of it: they are what JSON can hold already.
        held = {each.name: getattr(self, each.name) for each in fields(self)}
        write_private(folder / "plan.json", json.dumps({**held, "launch": vars(self.launch)}))

    @staticmethod
    def load(folder: Path) -> Plan:
        """BadFile when the file does not hold a plan."""
        path = folder / "plan.json"
        document = read_object(path)
        plan = made_of(Plan, document, path)
        return replace(plan, launch=made_of(Launch, document["launch"], path))


def node_folder(runs: Path, run_id: str, node: int) -> Path:
    """The folder of one node of a run. The id must have been checked."""
    return runs / (f"{run_id}@{node}" if node else run_id)


def run_of_folder(name: str) -> str:
    """The id of the run that a folder below `runs` belongs to.

    >>> run_of_folder("digits_1@2")
    'digits_1'
    """
    return name.partition("@")[0]
