"""`runyard tensorboard`: TensorBoard over the logs of runs, until Ctrl-C; runs that go on are followed."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import webbrowser
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

from runyard.cli import errors
from runyard.cli.completion import run_ids
from runyard.cli.options import JsonOption
from runyard.cli.output import screen
from runyard.cli.parameters import Argument, Option

FIRST_START_SECONDS = 600.0
"""How long it may take where TensorBoard has to be fetched first."""


def tensorboard(
    runs: Annotated[
        list[str],
        Argument(metavar="RUN...", help="Runs: an id, a part of one, or @last.", autocompletion=run_ids),
    ],
    port: Annotated[
        int, Option("--port", min=0, max=65535, help="0: any that is free.", show_default="6006, or one that is free")
    ] = 6006,
    to: Annotated[
        Path | None, Option("--to", metavar="DIR", help="Keep the logs there. Default: a folder that goes afterwards.")
    ] = None,
    browser: Annotated[bool, Option("--browser/--no-browser", help="Open it in a browser.")] = True,
    as_json: JsonOption = False,
) -> None:
    """Show runs in TensorBoard."""
    from runyard.cli import api
    from runyard.sdk.tensorboard import mirror, viewer

    server = api.connect()
    found = list({run["id"]: run for run in map(server.find, runs)})
    command, environment = _command(viewer.command())
    with tempfile.TemporaryDirectory(prefix="tensorboard-") as temporary:
        root = to or Path(temporary)
        root.mkdir(parents=True, exist_ok=True)
        follower = mirror.Follower([mirror.Mirror(server.service, run_id, root / run_id) for run_id in found])
        shown = viewer.Viewer(command, root, port, environment)
        try:
            follower.start()
            if not mirror.event_files(root):
                names = found[0] if len(found) == 1 else f"these {len(found)} runs"
                print(f"No event files of {names} yet: they are looked for in ./logs and ./outputs.", file=sys.stderr)
            address = shown.start(viewer.START_SECONDS if environment is None else FIRST_START_SECONDS)
            _tell(address, found, root, as_json)
            if browser:
                webbrowser.open(address)
            with contextlib.suppress(KeyboardInterrupt):
                shown.wait()
        finally:
            shown.stop()
            follower.stop()


def _tell(address: str, runs: Sequence[str], folder: Path, as_json: bool) -> None:
    if as_json:
        screen.document({"address": address, "runs": list(runs), "folder": str(folder)})
    else:
        print(f"TensorBoard: {address}   (Ctrl-C ends it)", flush=True)


def _command(installed: list[str] | None) -> tuple[list[str], Mapping[str, str] | None]:
    """What starts TensorBoard: what is installed here, or uv, which keeps it in a folder of its own."""
    if installed is not None:
        return installed, None
    from runyard.environments import tools
    from runyard.environments.uv import pip_config

    uv = tools.find("uv")
    if uv is None:
        raise errors.CommandError(
            "TensorBoard is not installed here, and uv, which would fetch it, is not either.",
            "Install it: pip install tensorboard",
            code="tensorboard_missing",
        )
    print("TensorBoard is not installed here: uv fetches it (130 MB, once) ...", file=sys.stderr, flush=True)
    configured = pip_config.for_uv(os.environ)
    program = [str(uv), "tool", "run", *configured.arguments, "--from", "tensorboard", "tensorboard"]
    return program, {**os.environ, **configured.variables}
