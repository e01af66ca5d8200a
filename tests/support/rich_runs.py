"""Runs that have logged something of every kind, and have files of every kind: what the page of a run shows."""

from __future__ import annotations

import hashlib
import json
import struct
import zlib
from math import cos, exp, sin
from typing import TYPE_CHECKING, Any

from tests.server.conftest import journal_lines
from tests.support.filled import EVIL

from runyard.contracts import manifest, pack

if TYPE_CHECKING:
    from tests.server.conftest import Client

START = 1_790_000_000.0
TRAIN = '''"""Train a small model."""
import argparse

from azureml.core import Run


def main() -> None:
    run = Run.get_context()  # the run that this script belongs to
    for step in range(300):
        run.log("train/loss", 1 / (step + 1), step=step)


if __name__ == "__main__":
    main()
'''
NOTEBOOK = {
    "nbformat": 4,
    "nbformat_minor": 5,
    "metadata": {},
    "cells": [
        {"cell_type": "markdown", "metadata": {}, "source": ["# A notebook\n", "With *text*."]},
        {
            "cell_type": "code",
            "metadata": {},
            "execution_count": 3,
            "source": ["1 + 1"],
            "outputs": [
                {"output_type": "execute_result", "metadata": {}, "data": {"text/plain": ["the result is 2"]}},
                {"output_type": "display_data", "metadata": {}, "data": {"text/html": [f"<b>{EVIL}</b>"]}},
            ],
        },
    ],
}
NOTES = f"""# Notes

The **best** run so far, see [the paper](https://example.org/paper) and not [this](javascript:alert(1)).

| rate | accuracy |
|---|---|
| 0.1 | 0.93 |

- [x] tuned
- [ ] `written up`

{EVIL}
"""
COLOURED = "\x1b[32mepoch 1\x1b[0m loss \x1b[1;31m0.5\x1b[0m \x07"
FILES: dict[str, bytes] = {
    "user_logs/std_log_process_0.txt": b"rank 0 begins\n"
    + b"".join(b"step %d of rank 0\n" % number for number in range(3000))
    + COLOURED.encode()
    + b"\n10%\r50%\r100% done\n",
    "user_logs/std_log_process_1.txt": b"rank 1 begins\nrank 1 goes on\n",
    "system_logs/environment.log": b"Creating the environment\n",
    "outputs/table.csv": b'name,score\n"a, b",0.5\n<b>c</b>,0.75\n',
    "outputs/result.json": b'{"accuracy": 0.93, "classes": ["cat", "dog"]}',
    "outputs/README.md": NOTES.encode(),
    "outputs/model.bin": bytes(range(256)) * 8,
    "outputs/notebook.ipynb": json.dumps(NOTEBOOK).encode(),
    "outputs/empty.txt": b"",
}


def rich(client: Client, *, rate: float = 0.02, name: str = "a rich run", source: str = TRAIN, **more: Any) -> Any:
    """An interactive run that goes on."""
    snapshot = stored_snapshot(
        client, {"train.py": source.encode(), "README.md": NOTES.encode(), "data/x.csv": b"a,b\n1,2\n"}
    )
    launch_of = {"display_name": name, "description": NOTES, "snapshot_id": snapshot, "tags": {"owner": "me"}}
    run = client.make_run(**{**launch_of, **more})
    client.ok("POST", f"/api/runs/{run['id']}/journals/rank0-w?offset=0", body=journal(rate))
    for file, content in {**FILES, **charts(), **{f"images/{at}.png": png(at) for at in range(5)}}.items():
        client.ok("PUT", f"/api/runs/{run['id']}/files/{file}", body=content)
    return run


def stored_snapshot(client: Client, files: dict[str, bytes]) -> str:
    entries = [
        manifest.Entry(path, digest=hashlib.sha256(each).hexdigest(), size=len(each)) for path, each in files.items()
    ]
    wanted = manifest.make(entries)
    body = b"".join(pack.header(hashlib.sha256(each).hexdigest(), len(each)) + each for each in files.values())
    client.ok("POST", "/api/objects", body=body)
    client.ok("PUT", f"/api/snapshots/{wanted.id}", body=wanted.text)
    return wanted.id


def journal(rate: float) -> bytes:
    records: list[list[Any]] = []
    for step in range(300):
        at = START + step * 2.5
        noise = 0.06 * sin(step * 7.3) * cos(step * 3.1)
        records.append(["v", "train/loss", exp(-rate * step) + noise + 0.2, at, step])
        records.append(["v", "train/accuracy", 1 - 0.9 * exp(-rate * step) + noise / 3, at, step])
        if step % 10 == 0:
            records.append(["v", "validation/loss", exp(-rate * step) + 0.25, at, step])
            records.append(["v", "validation/accuracy", 0.95 - 0.85 * exp(-rate * step), at, step])
        value: Any = {"f": "nan"} if 100 <= step < 120 else {"f": "inf"} if step == 200 else 1e-3 * 0.98**step
        records.append(["v", "learning rate", value, at, step])
    records.append(["v", "remark", "a text <b>as it is</b>", START, None])
    records.append(["d", "train/loss", "cross entropy, a mean over the batch"])
    for at in range(5):
        records.append(["a", "samples", "azureml.v2.image", f"images/{at}.png", START + at])
    for kind in ("confusion_matrix", "accuracy_table", "residuals", "predictions"):
        records.append(["a", kind.replace("_", " "), f"azureml.v2.{kind}", f"charts/{kind}.json", START])
    records.append(["t", "scores", {"class": ["cat", "dog", EVIL], "f1": [0.91, 0.87, 0.5]}, START])
    return journal_lines(*records)


def charts() -> dict[str, bytes]:
    """The files of the charts of SDK v1."""
    edges = [-3 + at * 0.5 for at in range(13)]
    table = [[100 - at, max(0, 60 - at * 2), 40 + at * 2, at] for at in range(0, 101, 5)]
    data = {
        "confusion_matrix": {"class_labels": ["cat", "dog", "owl"], "matrix": [[50, 3, 1], [4, 44, 2], [0, 5, 39]]},
        "accuracy_table": {
            "probability_tables": [table, table],
            "percentile_tables": [table, table],
            "probability_thresholds": [at / 20 for at in range(21)],
            "percentile_thresholds": [at / 20 for at in range(21)],
            "class_labels": ["cat", "dog"],
        },
        "residuals": {"bin_edges": edges, "bin_counts": [1, 2, 6, 14, 30, 41, 44, 28, 15, 6, 3, 1]},
        "predictions": {
            "bin_edges": edges,
            "bin_averages": [edge + 0.3 for edge in edges[:-1]],
            "bin_errors": [0.2] * 12,
            "bin_counts": [1, 2, 6, 14, 30, 41, 44, 28, 15, 6, 3, 1],
        },
    }
    return {
        f"charts/{kind}.json": json.dumps({"schema_type": kind, "schema_version": "1.0.0", "data": content}).encode()
        for kind, content in data.items()
    }


def png(shade: int) -> bytes:
    """A picture of one colour."""

    def piece(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    row = b"\0" + bytes([40 + shade * 40, 90, 200 - shade * 30]) * 160
    head = struct.pack(">IIBBBBB", 160, 100, 8, 2, 0, 0, 0)
    body = zlib.compress(row * 100)
    return b"\x89PNG\r\n\x1a\n" + piece(b"IHDR", head) + piece(b"IDAT", body) + piece(b"IEND", b"")
