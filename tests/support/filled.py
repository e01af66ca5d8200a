"""A workspace with something of everything that pages show, made through the API in a second."""

from __future__ import annotations

from math import exp, sin
from typing import TYPE_CHECKING, Any

from tests.server.conftest import journal_lines

if TYPE_CHECKING:
    from tests.server.conftest import Client

EVIL = "<script>alert('x')</script>\u202e\x07\"'&{{7*7}}"
"""A name that a page must show as text."""


def fill(client: Client) -> dict[str, Any]:
    """Runs of two experiments, in several states, with metrics, tags, files and logs; the ids by what they are called
    here."""
    made: dict[str, Any] = {}
    for number in range(12):
        rate = round(0.01 * 1.7**number, 5)
        run = client.make_run(
            experiment="mnist" if number % 3 else "baseline",
            display_name=f"trial {number}",
            tags={"owner": "me" if number % 2 else "you", "stage": "search"},
        )
        log_curves(client, run, points=40, rate=rate)
        made[f"trial {number}"] = run["id"]
        if number == 10:
            error = {"code": "UserError", "message": "CUDA out of memory", "help": "Use a smaller batch."}
            client.end(run, "failed", error=error)
        elif number < 10:
            client.end(run)
    parent = client.make_run(experiment="mnist", display_name="cross validation")
    for fold in range(3):
        child = client.make_run(kind="child", parent_id=parent["id"], display_name=f"fold {fold}")
        log_curves(client, child, points=10, rate=0.1)
        client.end(child)
    client.end(parent)
    made["parent"] = parent["id"]
    evil = client.make_run(experiment="mnist", display_name=EVIL, description=EVIL, tags={EVIL: EVIL})
    client.ok("POST", f"/api/runs/{evil['id']}/journals/w?offset=0", body=journal_lines(["v", EVIL, 1.0, 0.0, None]))
    client.end(evil, "failed", error={"code": EVIL, "message": EVIL, "help": EVIL})
    made["evil"] = evil["id"]
    return made


def log_curves(client: Client, run: Any, points: int, rate: float, offset: int = 0) -> int:
    """A loss that falls and an accuracy that rises; returns where the journal goes on."""
    lines = b"".join(
        journal_lines(
            ["v", "train/loss", exp(-rate * step) + 0.02 * sin(step), 1.7e9 + step, step],
            ["v", "acc", 1 - 0.9 * exp(-rate * step), 1.7e9 + step, step],
        )
        for step in range(points)
    )
    client.ok("POST", f"/api/runs/{run['id']}/journals/w?offset={offset}", body=lines)
    return offset + len(lines)
