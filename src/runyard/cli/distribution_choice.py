"""The options for the nodes and processes of a run, and the framework by which they find each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from runyard.cli.parameters import Option, bad_parameter
from runyard.contracts.distribution import KINDS, MPI, PLAIN, PYTORCH, TENSORFLOW
from runyard.system.records import record

if TYPE_CHECKING:
    from runyard.sdk.submit.script_run_config import DistributedJob

BACKENDS = ("nccl", "gloo")


def _known(given: str | None, known: tuple[str, ...], what: str) -> str | None:
    if given is None or given.lower() in known:
        return None if given is None else given.lower()
    raise bad_parameter(f"{given!r} is no {what}: use one of {', '.join(known)}.")


def _framework(given: str | None) -> str | None:
    return _known(given, KINDS, "framework")


def _backend(given: str | None) -> str | None:
    return _known(given, BACKENDS, "backend of PyTorch")


NodesOption = Annotated[int, Option("--nodes", min=1, help="On how many nodes to run.")]
ProcsOption = Annotated[
    int | None, Option("--procs", min=1, help="Processes on each node. Default: one.", show_default=False)
]
FrameworkOption = Annotated[
    str | None,
    Option(
        "--framework",
        metavar="|".join(KINDS),
        help="How the processes find each other. Default: plain.",
        callback=_framework,
        show_default=False,
    ),
]
BackendOption = Annotated[
    str | None,
    Option(
        "--backend",
        metavar="|".join(BACKENDS),
        help="Of PyTorch. Default: nccl.",
        callback=_backend,
        show_default=False,
    ),
]
ParameterServersOption = Annotated[
    int | None,
    Option(
        "--parameter-servers", min=0, help="Of TensorFlow, beside one worker per node. Default: 0.", show_default=False
    ),
]


@record(frozen=True)
class Spread:
    """The options of the command line."""

    nodes: int = 1
    procs: int | None = None
    framework: str | None = None
    backend: str | None = None
    parameter_servers: int | None = None

    @property
    def processes(self) -> int:
        """How many there are on all nodes together."""
        return self.nodes * (self.procs or 1) + (self.parameter_servers or 0)

    def check(self) -> None:
        """Refuse what does not go together."""
        framework = self.framework or PLAIN
        if self.backend is not None and framework != PYTORCH:
            raise bad_parameter(f"only {PYTORCH} has one: add --framework {PYTORCH}.", param_hint="--backend")
        if self.parameter_servers is not None and framework != TENSORFLOW:
            raise bad_parameter(
                f"only {TENSORFLOW} has them: add --framework {TENSORFLOW}.", param_hint="--parameter-servers"
            )
        if self.procs is not None and framework == TENSORFLOW:
            raise bad_parameter(f"{TENSORFLOW} has one worker on each node: leave --procs out.", param_hint="--procs")

    def get(self) -> DistributedJob | None:
        """The configuration of the SDK; None for one process on one node."""
        from runyard.sdk.submit import distributed

        if self.framework == PYTORCH:
            processes = None if self.procs is None else self.procs * self.nodes
            return distributed.PyTorchConfiguration(self.backend or "nccl", processes, self.nodes)
        if self.framework == MPI:
            return distributed.MpiConfiguration(self.procs or 1, self.nodes)
        if self.framework == TENSORFLOW:
            return distributed.TensorflowConfiguration(self.nodes, self.parameter_servers or 0)
        if self.nodes == 1 and self.procs is None:
            return None
        return distributed.PlainConfiguration(self.procs or 1, self.nodes)
