"""How a node of a cluster becomes a node runner of a run. Its text is sent to the node, so it needs nothing but itself.

    python3 -I -S -c <this text> <what to do, as JSON> <node>

Where the node sees the disk of the server, the runner works in the folder that is there, with the plan in it.
Otherwise the plan and the code are fetched from the server, into a folder of the node's own. The token of the run comes
in the environment, where other users cannot read it. Then this process becomes the runner.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
import time
import urllib.error
import urllib.request
import zipfile

TOKEN = "RUNYARD_RUN_TOKEN"
PATIENCE = 60.0  # seconds for which a request is retried that the server does not answer


def main(text: str, node: str) -> None:
    order = json.loads(text)
    token = os.environ.pop(TOKEN, "")
    folder = folder_name(order["runs"], order["run_id"], int(node))
    sdk = order["sdk"]
    if not shared(order):
        folder, sdk = fetch(order, int(node), token)
    log = os.open(os.path.join(folder, "streams", "runner.log"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for stream in (1, 2):
        os.dup2(log, stream)
    os.chdir(folder)
    runner = os.path.join(sdk, "runyard", "node")
    os.execv(sys.executable, [sys.executable, "-I", "-S", runner, folder])


def folder_name(runs: str, run_id: str, node: int) -> str:
    return os.path.join(runs, f"{run_id}@{node}" if node else run_id)


def shared(order: dict[str, str]) -> bool:
    """Whether this is the disk of the server: a file of this gang is there, with its secret."""
    try:
        with open(order["witness"], encoding="utf-8") as file:
            return file.read() == order["word"] and os.access(order["runs"], os.W_OK)
    except OSError:
        return False


def fetch(order: dict[str, str], node: int, token: str) -> tuple[str, str]:
    """Make a folder with the plan of this node, and one with the code; returns both."""
    base = os.path.join(os.environ.get("RUNYARD_NODE_HOME") or os.path.expanduser("~/.cache/runyard"), "nodes")
    folder = folder_name(os.path.join(base, "runs"), order["run_id"], node)
    # What a former attempt has left here, whose node was taken away, is delivered later, if its runner had begun.
    if os.path.exists(os.path.join(folder, "state.json")):
        os.rename(folder, f"{folder}.{time.time_ns()}.left")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(os.path.join(folder, "streams"), mode=0o700)
    sdk = os.path.join(base, "sdk", order["code"])
    if not os.path.isdir(sdk):
        aside = f"{sdk}.{os.getpid()}"
        with zipfile.ZipFile(io.BytesIO(get(order, "/api/sdk", token))) as archive:
            archive.extractall(aside)
        try:
            os.rename(aside, sdk)
        except OSError:  # another runner was faster
            shutil.rmtree(aside, ignore_errors=True)
    plan = json.loads(get(order, f"/api/runs/{order['run_id']}/nodes/{node}/plan", token).decode("utf-8"))
    plan.update(sdk=sdk, environments=os.path.join(base, "environments"), data_cache=os.path.join(base, "data-cache"))
    path = os.path.join(folder, "plan.json")
    with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="utf-8") as file:
        json.dump(plan, file, indent=1)
    return folder, sdk


def get(order: dict[str, str], path: str, token: str) -> bytes:
    request = urllib.request.Request(order["url"] + path, headers={"Authorization": "Bearer " + token})
    deadline, pause = time.monotonic() + PATIENCE, 0.1
    while True:
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                content = answer.read()
                return bytes(content)
        except urllib.error.HTTPError as error:
            sys.exit(f"The server at {order['url']} refused {path}: {error}")
        except OSError as error:
            if time.monotonic() > deadline:
                sys.exit(
                    f"The server cannot be reached at {order['url']} from this node ({error}). Start it with "
                    "`runyard serve --host` and an address that the nodes can reach."
                )
            time.sleep(pause)
            pause = min(pause * 2, 2.0)


if __name__ == "__main__":
    main(*sys.argv[1:])
