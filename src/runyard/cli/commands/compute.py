"""`runyard compute`: the compute targets of the workspace that this folder belongs to, and their state."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

from runyard.cli.commands import compute_make
from runyard.cli.completion import target_names
from runyard.cli.groups import group
from runyard.cli.options import JsonOption, TargetArgument
from runyard.cli.output import formatting, screen
from runyard.cli.parameters import Argument
from runyard.contracts import vm_sizes
from runyard.contracts.compute import LOCAL, LOCAL_ENGINE, LOW_PRIORITY, NODE_STATES

if TYPE_CHECKING:
    from runyard.contracts.documents import ComputeDocument, StatusDocument


def ls(as_json: JsonOption = False) -> None:
    """List the compute targets: their engines, and what their nodes do."""
    server, workspace = compute_make.workspace()
    found = server.targets(workspace)
    if as_json:
        screen.document(found)
        return
    screen.table(("NAME", "ENGINE", "STATE", "NODES", "NOW", "VM SIZE", "PRIORITY"), [_row(each) for each in found])
    for each in found:
        for line in _errors(each):
            print(line)
    if len(found) == 1:
        print(f"\nNext: {formatting.program()} compute create cpu-cluster --max-nodes 4")


def show(name: TargetArgument, as_json: JsonOption = False) -> None:
    """Show one compute target: what it was made as, and how it stands now."""
    server, workspace = compute_make.workspace()
    found = server.target(workspace, name)
    if as_json:
        screen.document(found)
        return
    print(f"{screen.heading(found['name'])}  {_state(found)}")
    facts = list(_facts(found))
    width = max(len(fact) for fact, _ in facts)
    for fact, value in facts:
        print(f"  {fact:{width}}  {value}")
    for line in _errors(found):
        print(line)
    print(f"Next: {formatting.program()} compute nodes {name}")


def nodes(name: TargetArgument, as_json: JsonOption = False) -> None:
    """List the nodes of a compute target, and the run on each."""
    server, workspace = compute_make.workspace()
    found = server.nodes(workspace, name)
    if as_json:
        screen.document(found)
    elif not found:
        print(f"{name} has no node now.")
    else:
        rows = [(node["name"], node["state"], node["run_id"] or "", node["address"]) for node in found]
        screen.table(("NODE", "STATE", "RUN", "ADDRESS"), rows)


def rm(
    name: Annotated[
        list[str],
        Argument(metavar="NAME...", help="Compute targets.", autocompletion=target_names, show_default=False),
    ],
    as_json: JsonOption = False,
) -> None:
    """Remove compute targets. Their runs stay in the history, and a cluster that was attached stays as it is."""
    server, workspace = compute_make.workspace()
    removed = []
    for each in dict.fromkeys(name):
        removed.append(server.delete_target(workspace, each))
        if not as_json:
            print(f"Removed {each}.")
    if as_json:
        screen.document(removed)


def _row(target: ComputeDocument) -> tuple[str, ...]:
    return (
        target["name"],
        target["engine"],
        _state(target),
        _limits(target),
        _now(target["status"]),
        target["vm_size"],
        "low" if target["vm_priority"] == LOW_PRIORITY else "",
    )


def _state(target: ComputeDocument) -> str:
    return "Unusable" if target["status"]["errors"] else target["status"]["allocation_state"]


def _limits(target: ComputeDocument) -> str:
    """How many nodes there may be."""
    least, most = target["min_nodes"], target["max_nodes"]
    if most is None:
        return "as this machine" if target["name"] == LOCAL else "as the cluster"
    return f"{least} to {most}" if target["engine"] == LOCAL_ENGINE else f"up to {most}"


def _now(status: StatusDocument) -> str:
    """How many nodes are in which state."""
    counts = [f"{status['counts'][state]} {state}" for state in NODE_STATES if status["counts"].get(state)]
    missing = status["target_nodes"] - status["current_nodes"]
    if missing > 0:
        counts.append(f"{missing} to come")
    return ", ".join(counts) or "none"


def _facts(target: ComputeDocument) -> Iterator[tuple[str, str]]:
    here = target["engine"] == LOCAL_ENGINE
    yield "engine", "this machine" if here else target["engine"]
    yield "type", target["type"]
    yield "nodes", _limits(target)
    yield "now", _now(target["status"])
    if here and target["name"] != LOCAL:
        yield "idle", f"a node leaves after {formatting.duration(target['idle_seconds'])} without work"
    if target["vm_size"]:
        wish = ": a wish, since runs get what this machine has" if here else " is what each node of a run asks for"
        yield "vm size", f"{target['vm_size']} ({vm_sizes.find(target['vm_size'])}){wish}"
    if target["vm_priority"] == LOW_PRIORITY:
        yield "priority", "low: a run that loses its nodes starts again by itself"
    for option, value in sorted(target["options"].items()):
        yield option, str(value)
    if target["created_at"]:
        yield "created", formatting.local(formatting.moment(target["created_at"]))


def _errors(target: ComputeDocument) -> Iterator[str]:
    for error in target["status"]["errors"]:
        yield f"Warning: {target['name']} cannot be used now: {error['message']}"


app = group("compute", "Compute targets: where runs take place.")

app.command()(ls)
app.command()(show)
app.command()(compute_make.create)
app.command()(compute_make.attach)
app.command()(compute_make.update)
app.command()(rm)
app.command()(nodes)
