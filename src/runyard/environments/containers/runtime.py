"""Running a program in a container: the order for the process that does it, and the removal of what is left.

The process itself is `runyard.node.launch.contained`: a child of the node runner that represents the container, so that
the runner need not know of containers.
"""

from __future__ import annotations

import json
import os
import re
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Mapping

from runyard.contracts.history import SCRIPT_LOG
from runyard.contracts.home import write_private
from runyard.environments.containers import arguments, steps
from runyard.environments.containers.engine import in_sight, is_rootless, open_engine
from runyard.environments.problem import EnvironmentProblem
from runyard.system.json_files import made_of, read_object

if TYPE_CHECKING:
    from docker import DockerClient

LABEL, NODE_LABEL = "runyard.run", "runyard.node"
SHM_SIZE = "2g"

_START = 'log=$1; shift; exec "$@" >>"$log" 2>&1'
_SELINUX = Path("/sys/fs/selinux/enforce")


@dataclass(frozen=True)
class Seat:
    """Which process of a run it is, where the run has many."""

    rank: int
    node: int
    log: Path
    work: Path  # the working folder
    shared: tuple[Path, ...] = ()  # folders of another node, where the disk is shared


@dataclass(frozen=True)
class ContainerOrder:
    """What is to run where. Folders are seen in the container at the paths that they have on the machine."""

    run_id: str
    image: str
    argv: list[str]
    variables: dict[str, str]
    log: str  # the file that gets what the program writes, with nothing in between
    work: str
    writable: list[str]
    readable: list[str]
    shm_size: str = SHM_SIZE
    gpu: bool = False
    arguments: dict[str, Any] = field(default_factory=dict)  # of `docker run`
    node: int = 0
    rank: int | None = None

    @staticmethod
    def load(path: Path) -> ContainerOrder:
        return made_of(ContainerOrder, read_object(path), path)


def contained_argv(
    run_folder: Path,
    sdk: str,
    run_id: str,
    image: str,
    argv: list[str],
    variables: Mapping[str, str],
    options: Mapping[str, Any],
    seat: Seat | None = None,
) -> list[str]:
    """The program that runs `argv` in a container of the image, and ends as it ends.

    `variables` are all that the container gets beyond those of its image. `options` are those of SDK v1's
    DockerConfiguration (`arguments`, `shm_size`), and `gpu`; EnvironmentProblem refuses what is not supported.
    """
    work = seat.work if seat is not None else run_folder / "work"
    order = ContainerOrder(
        run_id=run_id,
        image=image,
        argv=list(argv),
        variables=dict(variables),
        log=str(seat.log if seat is not None else run_folder / "streams" / SCRIPT_LOG),
        work=str(work),
        writable=[str(run_folder), *(str(each) for each in (seat.shared if seat is not None else ()))],
        readable=[sdk],
        shm_size=str(options.get("shm_size") or SHM_SIZE),
        gpu=bool(options.get("gpu")),
        arguments=arguments.parse([str(each) for each in options.get("arguments") or ()]),
        node=seat.node if seat is not None else 0,
        rank=seat.rank if seat is not None else None,
    )
    path = run_folder / ("container.json" if seat is None else f"container_{seat.rank}.json")
    write_private(path, json.dumps(asdict(order), indent=1))
    return [sys.executable, "-I", os.path.join(sdk, "runyard", "node", "launch", "contained.py"), str(path)]


def remove_containers(run_id: str, report: Callable[[str], None], node: int = 0) -> None:
    """End and remove every container of a run on one of its nodes, and what builders that were killed have left. No
    engine: no effect."""
    if not in_sight():
        return
    try:
        client = open_engine()
    except EnvironmentProblem as problem:
        report(f"containers of the run could not be looked for: {problem.message}")
        return
    import docker

    labels = [f"{LABEL}={run_id}", f"{NODE_LABEL}={node}"]
    try:
        for each in client.containers.list(all=True, filters={"label": labels}, ignore_removed=True):
            report(f"removing the container {each.name}")
            try:
                each.remove(force=True, v=True)
            except docker.errors.NotFound:
                continue
            except docker.errors.APIError as error:  # such as: it is being removed already
                report(f"the container {each.name} could not be removed: {error}")
        steps.sweep(client)
    except docker.errors.DockerException as error:
        report(f"containers of the run could not be removed: {error}")
    finally:
        client.close()


def container_name(run_id: str, rank: int | None = None) -> str:
    """
    >>> container_name("trial_1700000000_abcd")
    'runyard-trial_1700000000_abcd'
    >>> container_name("trial_1700000000_abcd", 3)
    'runyard-trial_1700000000_abcd-3'
    """
    return "runyard-" + re.sub(r"[^A-Za-z0-9_.-]", "-", run_id) + ("" if rank is None else f"-{rank}")


def creation(order: ContainerOrder, client: DockerClient, report: Callable[[str], None]) -> dict[str, Any]:
    """The options of the container: what docker-py's `containers.create` takes."""
    asked = order.arguments
    user = asked.get("user") or ("0:0" if is_rootless(client) else f"{os.getuid()}:{os.getgid()}")
    variables = dict(order.variables)
    if user.partition(":")[0] not in ("0", "root"):
        variables.setdefault("HOME", "/tmp")  # the user is not known in the image, and has no folder of its own there
    variables.update(_assignment(each) for each in asked.get("env") or ())
    options: dict[str, Any] = {
        "image": order.image,
        "entrypoint": ["/bin/sh", "-c", _START, "sh", order.log],
        "command": order.argv,
        "name": container_name(order.run_id, order.rank),
        "labels": {LABEL: order.run_id, NODE_LABEL: str(order.node)},
        "environment": variables,
        "working_dir": asked.get("workdir") or order.work,
        "user": user,
        "init": True,  # so that signals reach the program, and orphans are reaped
        "shm_size": asked.get("shm_size") or order.shm_size,
        "network_mode": asked.get("network") or "host",  # the server listens on this machine's loopback
        "mounts": _mounts(order),
        "volumes": list(asked.get("volume") or ()),
        "stdin_open": False,
        "tty": False,
    }
    options.update(_limits(asked))
    options.update(_devices(order, client, report))
    if _SELINUX.is_file() and _SELINUX.read_text().strip() == "1":
        options["security_opt"] = ["label=disable"]  # else the run's folder could not be read
    return options


def _mounts(order: ContainerOrder) -> list[Any]:
    from docker.types import Mount

    return [
        Mount(path, os.path.realpath(path), type="bind", read_only=path in order.readable)
        for path in [*order.writable, *order.readable]
    ]


def _limits(asked: Mapping[str, Any]) -> dict[str, Any]:
    from docker.types import Ulimit

    options = {
        "mem_limit": asked.get("memory"),
        "memswap_limit": asked.get("memory_swap"),
        "ipc_mode": asked.get("ipc"),
    }
    if asked.get("cpus"):
        options["nano_cpus"] = int(asked["cpus"] * 1_000_000_000)
    if asked.get("ulimit"):
        options["ulimits"] = [Ulimit(**_ulimit(each)) for each in asked["ulimit"]]
    if asked.get("publish") and asked.get("network") not in (None, "host"):
        options["ports"] = dict(_port(each) for each in asked["publish"])
    return {name: value for name, value in options.items() if value is not None}


def _devices(order: ContainerOrder, client: DockerClient, report: Callable[[str], None]) -> dict[str, Any]:
    """GPUs, in whichever form they are requested."""
    from docker.types import DeviceRequest

    asked = order.arguments
    options: dict[str, Any] = {"runtime": asked["runtime"]} if asked.get("runtime") else {}
    wanted = asked.get("gpus")
    if wanted is None and order.gpu and not options:
        if "nvidia" in (client.info().get("Runtimes") or {}):
            wanted = "all"
        else:
            report("The container gets no GPU: the container engine has no nvidia runtime.")
    if wanted is not None:
        named = wanted.strip("\"'").partition("device=")[2]
        request = {"device_ids": named.split(",")} if named else {"count": -1 if wanted == "all" else int(wanted)}
        options["device_requests"] = [DeviceRequest(capabilities=[["gpu"]], **request)]
    return options


def _assignment(text: str) -> tuple[str, str]:
    """`NAME=value`; `NAME` alone takes the value that it has on this machine."""
    name, equals, value = text.partition("=")
    return name, value if equals else os.environ.get(name, "")


def _ulimit(text: str) -> dict[str, Any]:
    name, _, limits = text.partition("=")
    soft, _, hard = limits.partition(":")
    return {"name": name, "soft": int(soft), "hard": int(hard or soft)}


def _port(text: str) -> tuple[str, Any]:
    *host, inside = text.split(":")
    if not host or not host[-1]:
        return inside, None
    return inside, (host[0], int(host[-1])) if len(host) > 1 else int(host[-1])
