"""Which runs read a dataset, what each really saw, and what changed between two of them."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

from runyard.cli import errors
from runyard.cli.options import JsonOption
from runyard.cli.output import formatting, screen
from runyard.cli.parameters import Argument
from runyard.contracts.data import seen

if TYPE_CHECKING:
    from runyard.sdk.workspace.workspace import Workspace

MOST = 20
"""Runs of a dataset that are listed, and changed files that are named."""

RunArgument = Annotated[str, Argument(metavar="RUN", help="The id of a run.", show_default=False)]


def reading(workspace: Workspace, dataset: str) -> list[dict[str, Any]]:
    """The last runs that were given a dataset, newest first, with what they saw of it."""
    params: dict[str, str | int] = {"workspace": workspace.name, "property": seen.OF_DATASET + dataset, "limit": MOST}
    found = []
    for run in workspace.service.get("/api/runs", params)["runs"]:
        records = seen.of_run(run["properties"])
        for name in str(run["properties"][seen.OF_DATASET + dataset]).split(","):
            saw = {key: records.get(name, {}).get(key) for key in ("mode", "files", "bytes", "digest")}
            found.append({"run": run["id"], "status": run["status"], "input": name, **saw})
    return found


def rows(runs: Sequence[dict[str, Any]]) -> list[tuple[str, ...]]:
    return [
        (
            each["run"],
            each["status"],
            each["input"],
            each["mode"] or "",
            "" if each["files"] is None else f"{each['files']:,}",
            "" if each["bytes"] is None else formatting.size(each["bytes"]),
            (each["digest"] or "")[:12],
        )
        for each in runs
    ]


def compare(before: RunArgument, after: RunArgument, as_json: JsonOption = False) -> None:
    """Say what changed between what two runs read: the files that were added, removed and changed."""
    from runyard.sdk.workspace.workspace import Workspace

    workspace = Workspace.from_config()
    was, now = (_seen(workspace, run) for run in (before, after))
    shared = [name for name in was if name in now] or _only(was, now)
    if not shared:
        raise errors.CommandError(
            "The two runs have no input in common of which it was recorded what they saw.",
            "`runyard show` lists the inputs of a run.",
            code="nothing_to_compare",
        )
    found = []
    for name in shared:
        other = name if name in now else next(iter(now))
        same = was[name]["digest"] == now[other]["digest"]
        difference = (
            seen.Difference()
            if same
            else seen.compare(_files(workspace, before, was[name]), _files(workspace, after, now[other]))
        )
        found.append({"input": name, "same": same, **vars(difference)})
    if as_json:
        screen.document(found)
        return
    for each in found:
        print(_words(each))
        for kind in ("added", "removed", "changed"):
            for path in each[kind][:MOST]:
                print(f"  {kind:8} {path}")
            if len(each[kind]) > MOST:
                print(f"  {kind:8} and {len(each[kind]) - MOST:,} more")


def _words(each: dict[str, Any]) -> str:
    if each["same"]:
        return f"{each['input']}: the same files"
    counts = ", ".join(f"{len(each[kind]):,} {kind}" for kind in ("added", "removed", "changed"))
    return f"{each['input']}: {counts}"


def _only(was: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """Inputs of other names, where each run has but one."""
    return list(was) if len(was) == len(now) == 1 else []


def _seen(workspace: Workspace, run: str) -> dict[str, dict[str, Any]]:
    from runyard.client.http import quote

    return seen.of_run(workspace.service.get(f"/api/runs/{quote(run)}")["properties"])


def _files(workspace: Workspace, run: str, record: dict[str, Any]) -> list[dict[str, Any]]:
    """All files that a run saw: of its property, or, where they are too many, of its history."""
    from runyard.client.http import quote

    if "listing" not in record:
        return list(record["seen"])
    with workspace.service.stream(f"/api/runs/{quote(run)}/files/{quote(record['listing'])}") as answer:
        content = b"".join(answer)
    return [json.loads(line) for line in gzip.decompress(content).decode("utf-8", "surrogateescape").splitlines()]
