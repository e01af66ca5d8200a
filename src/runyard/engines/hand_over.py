"""Handing a gang to a cluster: what its nodes run to become node runners (`runyard.node.bootstrap`)."""

from __future__ import annotations

import inspect
import json
import secrets
from dataclasses import dataclass
from pathlib import Path

from runyard.contracts.home import write_private
from runyard.engines.base import EngineError, Gang
from runyard.engines.folders import RunFolders, why
from runyard.node import bootstrap

WITNESS = "hand-over"
"""The file by which a node sees that this is the disk of the server. The gang has one of its own (`node.gang.link`)."""


@dataclass(frozen=True)
class Parcel:
    """`[python, *arguments, str(node)]` with the environment becomes the runner of that node. Python 3.8 will do."""

    arguments: list[str]
    environment: dict[str, str]  # holds the token of the run: it is for the node's eyes only


def hand_over(gang: Gang, folders: RunFolders) -> Parcel:
    """Lay the plans out on this disk, for the nodes that see it and for those that fetch theirs over HTTP."""
    first = folders.make(gang)[0]
    plan = gang.plans[0]
    proof = secrets.token_hex(16)
    try:
        write_private(first / WITNESS, proof)
    except OSError as error:
        raise EngineError(why(error, first)) from error
    order = {
        "run_id": plan.run_id,
        "url": plan.server_url,
        "runs": str(folders.runs),
        "witness": str(first / WITNESS),
        "word": proof,
        "sdk": plan.sdk,
        "code": Path(plan.sdk).name,
    }
    return Parcel(["-I", "-S", "-c", inspect.getsource(bootstrap), json.dumps(order)], {bootstrap.TOKEN: plan.token})
