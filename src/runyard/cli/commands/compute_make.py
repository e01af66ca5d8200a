"""`runyard compute create`, `attach` and `update`: making compute targets, and changing them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any

from runyard.cli.options import JsonOption, TargetArgument, pairs
from runyard.cli.output import formatting, screen
from runyard.cli.parameters import Argument, Option, bad_parameter
from runyard.contracts.compute import DEDICATED, LOCAL_ENGINE, LOW_PRIORITY
from runyard.contracts.engine_options import BadOptions
from runyard.contracts.engines import BUILT_IN

if TYPE_CHECKING:
    from runyard.cli.api import Api
    from runyard.contracts.documents import ComputeDocument

CLUSTERS = [engine for engine in BUILT_IN if engine != LOCAL_ENGINE]


def workspace() -> tuple[Api, str]:
    """The server, and the workspace that this folder belongs to."""
    from runyard.cli import api
    from runyard.sdk.workspace.workspace import Workspace

    here = Workspace.from_config()
    return api.Api(here.service), here.name


def _engine(given: str) -> str:
    if given.lower() == LOCAL_ENGINE:
        raise bad_parameter(f"{given!r} is no engine of a cluster: use {' or '.join(CLUSTERS)}.")
    return given.lower()


NewName = Annotated[str, Argument(metavar="NAME", help="What runs call it.", show_default=False)]
VmSize = Annotated[
    str,
    Option("--vm-size", help="What each node must offer, as one of Azure's sizes: Standard_NC6.", show_default=False),
]
LowPriority = Annotated[bool, Option("--low-priority", help="Its nodes may be taken away; runs then start again.")]
ResourceOption = Annotated[
    list[str] | None,
    Option(
        "--resource",
        metavar="NAME=AMOUNT",
        help="Ray: a custom resource that each node of a run asks for; repeat.",
        show_default=False,
    ),
]


def create(
    name: NewName,
    max_nodes: Annotated[int, Option("--max-nodes", help="How many nodes it may grow to.", show_default=False)],
    min_nodes: Annotated[int, Option("--min-nodes", help="How many nodes stay when there is no work.")] = 0,
    vm_size: VmSize = "",
    idle_seconds: Annotated[int, Option("--idle-seconds", help="How long a node stays without work.")] = 1800,
    low_priority: LowPriority = False,
    as_json: JsonOption = False,
) -> None:
    """Make a cluster of nodes on this machine: runyard compute create cpu-cluster --max-nodes 4"""
    server, here = workspace()
    made = server.make_target(
        here,
        {
            "name": name,
            "max_nodes": max_nodes,
            "min_nodes": min_nodes,
            "vm_size": vm_size,
            "idle_seconds": idle_seconds,
            "vm_priority": LOW_PRIORITY if low_priority else DEDICATED,
        },
    )
    _report(made, "Made", as_json)


def attach(
    name: NewName,
    engine: Annotated[
        str,
        Option("--engine", help="ray, slurm or another.", callback=_engine, show_default=False),
    ],
    address: Annotated[
        str | None, Option("--address", help="Ray: where its head listens, host:port.", show_default=False)
    ] = None,
    namespace: Annotated[
        str | None, Option("--namespace", help="Ray: a namespace of its own.", show_default=False)
    ] = None,
    token_file: Annotated[
        str | None,
        Option("--token-file", metavar="PATH", help="Ray: the file with its token.", show_default=False),
    ] = None,
    autoscaling: Annotated[
        bool, Option("--autoscaling", help="Ray: the cluster gets more nodes when they are asked for.")
    ] = False,
    ray_python: Annotated[
        str | None,
        Option(
            "--ray-python", help="Ray: the Python beside the server that has Ray. Default: its own.", show_default=False
        ),
    ] = None,
    resource: ResourceOption = None,
    partition: Annotated[str | None, Option("--partition", help="Slurm: the partition.", show_default=False)] = None,
    account: Annotated[
        str | None, Option("--account", help="Slurm: whom jobs are charged to.", show_default=False)
    ] = None,
    qos: Annotated[str | None, Option("--qos", help="Slurm: the quality of service.", show_default=False)] = None,
    constraint: Annotated[
        str | None, Option("--constraint", help="Slurm: features that nodes must have.", show_default=False)
    ] = None,
    gres: Annotated[
        str | None, Option("--gres", help="Slurm: generic resources of each node, gpu:2.", show_default=False)
    ] = None,
    time: Annotated[
        str | None,
        Option("--time", help="Slurm: the time limit of runs without one, 1-00:00:00.", show_default=False),
    ] = None,
    exclusive: Annotated[bool, Option("--exclusive", help="Slurm: share nodes with nobody.")] = False,
    sbatch: Annotated[
        str | None, Option("--sbatch", help="Slurm: further arguments of sbatch.", show_default=False)
    ] = None,
    commands: Annotated[
        str | None, Option("--commands", metavar="DIR", help="Slurm: where its commands are.", show_default=False)
    ] = None,
    conf: Annotated[
        str | None, Option("--conf", metavar="PATH", help="Slurm: its configuration file.", show_default=False)
    ] = None,
    python: Annotated[
        str | None, Option("--python", help="The Python of the nodes.  [default: python3]", show_default=False)
    ] = None,
    option: Annotated[
        list[str] | None,
        Option("--option", metavar="KEY=VALUE", help="Any option of the engine; repeat.", show_default=False),
    ] = None,
    max_nodes: Annotated[
        int | None,
        Option("--max-nodes", help="No run gets more. Default: what the cluster has.", show_default=False),
    ] = None,
    vm_size: VmSize = "",
    low_priority: LowPriority = False,
    as_json: JsonOption = False,
) -> None:
    """Attach a cluster that is there: runyard compute attach hpc --engine slurm --partition gpu"""
    given = {
        "address": address,
        "namespace": namespace,
        "token_file": _path(token_file),
        "autoscaling": autoscaling or None,
        "ray_python": ray_python,
        "resources": _amounts(resource),
        "partition": partition,
        "account": account,
        "qos": qos,
        "constraint": constraint,
        "gres": gres,
        "time": time,
        "exclusive": exclusive or None,
        "sbatch": sbatch,
        "commands": _path(commands),
        "conf": _path(conf),
        "python": python,
        **pairs(option or [], "--option"),
    }
    options = {key: value for key, value in given.items() if value not in (None, "", {})}
    if engine in BUILT_IN:  # only the server knows those of other packages
        try:
            options = BUILT_IN[engine].check_options(options)
        except BadOptions as error:
            raise bad_parameter(str(error), param_hint="--engine") from None
    server, here = workspace()
    with screen.spinner(f"Asking {engine} ..."):
        made = server.make_target(
            here,
            {
                "name": name,
                "engine": engine,
                "options": options,
                "max_nodes": max_nodes,
                "vm_size": vm_size,
                "vm_priority": LOW_PRIORITY if low_priority else DEDICATED,
            },
        )
    _report(made, "Attached", as_json)


def update(
    name: TargetArgument,
    min_nodes: Annotated[int | None, Option("--min-nodes", show_default=False)] = None,
    max_nodes: Annotated[int | None, Option("--max-nodes", show_default=False)] = None,
    idle_seconds: Annotated[int | None, Option("--idle-seconds", show_default=False)] = None,
    option: Annotated[
        list[str] | None,
        Option(
            "--option",
            metavar="KEY=VALUE",
            help="An option of the cluster, as `attach` takes it: partition=cpu, or partition= for none; repeat.",
            show_default=False,
        ),
    ] = None,
    resource: ResourceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Change how a target scales, or what its cluster is told: runyard compute update cpu-cluster --max-nodes 8"""
    numbers = {"min_nodes": min_nodes, "max_nodes": max_nodes, "idle_seconds": idle_seconds}
    changes: dict[str, Any] = {field: number for field, number in numbers.items() if number is not None}
    options: dict[str, Any] = {key: value or None for key, value in pairs(option or [], "--option").items()}
    if resource:
        options["resources"] = _amounts(resource)
    if options:
        changes["options"] = options
    if not changes:
        raise bad_parameter("say what to change: --min-nodes, --max-nodes, --idle-seconds or --option.")
    server, here = workspace()
    with screen.spinner(f"Changing {name} ..."):
        changed = server.change_target(here, name, changes)
    _report(changed, "Changed", as_json)


def _report(target: ComputeDocument, done: str, as_json: bool) -> None:
    if as_json:
        screen.document(target)
        return
    name = target["name"]
    print(f"{done} {screen.heading(name)}.")
    print("Next:")
    print(f"  {formatting.program()} submit train.py --compute {name}")
    print(f"  {formatting.program()} compute show {name}")


def _path(given: str | None) -> str | None:
    """An absolute path: the server has another working folder."""
    return None if given is None else os.path.abspath(os.path.expanduser(given))


def _amounts(resource: list[str] | None) -> dict[str, float]:
    amounts = {}
    for name, text in pairs(resource or [], "--resource").items():
        try:
            amounts[name] = float(text)
        except ValueError:
            raise bad_parameter(f"{text!r} is no amount of {name}.", param_hint="--resource") from None
    return amounts
