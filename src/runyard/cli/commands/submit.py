"""`runyard submit`: hands a script or a command to the server, with the code of the SDK."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from runyard.cli import errors
from runyard.cli.completion import experiment_names, target_names
from runyard.cli.distribution_choice import (
    BackendOption,
    FrameworkOption,
    NodesOption,
    ParameterServersOption,
    ProcsOption,
    Spread,
)
from runyard.cli.environment_choice import Choice, CondaOption, EnvironmentOption, ImageOption, PipOption
from runyard.cli.options import JsonOption, pairs
from runyard.cli.output import formatting, rank_logs, screen
from runyard.cli.output.following import end_line
from runyard.cli.output.summary import without_definition
from runyard.cli.parameters import Argument, Option, bad_parameter, leave
from runyard.contracts import states

if TYPE_CHECKING:
    from runyard.cli.api import Api
    from runyard.contracts.documents import RunDocument
    from runyard.sdk.environment.environment import Environment


def submit(
    script: Annotated[
        str | None,
        Argument(metavar="SCRIPT", help="The script to run. Its folder goes with it.", show_default=False),
    ] = None,
    arguments: Annotated[
        list[str] | None,
        Argument(metavar="ARGS", help="What the script gets as arguments.", show_default=False),
    ] = None,
    experiment: Annotated[
        str | None,
        Option(
            "--experiment",
            "-e",
            help="Default: named like the folder.",
            autocompletion=experiment_names,
            show_default=False,
        ),
    ] = None,
    name: Annotated[str | None, Option("--name", help="A name for people.", show_default=False)] = None,
    compute: Annotated[
        str, Option("--compute", help="The compute target to run on.", autocompletion=target_names)
    ] = "local",
    nodes: NodesOption = 1,
    procs: ProcsOption = None,
    framework: FrameworkOption = None,
    backend: BackendOption = None,
    parameter_servers: ParameterServersOption = None,
    restarts: Annotated[
        int | None,
        Option(
            "--restarts",
            min=0,
            help="How often it starts again when its nodes are taken away. Default: 3.",
            show_default=False,
        ),
    ] = None,
    command: Annotated[
        str | None,
        Option("--command", "-c", help="A shell command to run instead of a script.", show_default=False),
    ] = None,
    source: Annotated[
        Path | None,
        Option(
            "--source",
            metavar="DIR",
            help="The folder to run in. Default: that of the script, or the current one.",
            show_default=False,
        ),
    ] = None,
    python: Annotated[
        str | None,
        Option(
            "--python",
            metavar="PATH",
            help="The interpreter. Default: that of the active environment.",
            show_default=False,
        ),
    ] = None,
    environment: EnvironmentOption = None,
    conda: CondaOption = None,
    pip: PipOption = None,
    image: ImageOption = None,
    env_var: Annotated[
        list[str] | None,
        Option(
            "--env-var", metavar="KEY=VALUE", help="An environment variable for the script; repeat.", show_default=False
        ),
    ] = None,
    tag: Annotated[
        list[str] | None, Option("--tag", "-t", metavar="KEY=VALUE", help="A tag; repeat.", show_default=False)
    ] = None,
    max_seconds: Annotated[
        int | None, Option("--max-seconds", min=1, help="Stop the run when it takes longer.", show_default=False)
    ] = None,
    follow: Annotated[bool, Option("--follow", "-f", help="Show its log until it ends.")] = False,
    rank: Annotated[
        str | None,
        rank_logs.rank_option("With --follow: the log of this process of a distributed run, or of all. Default: 0."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Submit a training script: runyard submit train.py -- --lr 0.1"""
    if bool(script) == bool(command):
        raise bad_parameter("name either a script, or a command with --command.", param_hint="SCRIPT")
    choice = Choice(environment, conda, pip, image)
    choice.check(python=python)
    spread = Spread(nodes, procs, framework, backend, parameter_servers)
    spread.check()
    if rank is not None and not follow:
        raise bad_parameter("it says whose log to follow: give --follow too.", param_hint="--rank")
    if rank is not None and rank != rank_logs.ALL and int(rank) >= spread.processes:
        raise bad_parameter(f"the ranks of this run are 0 to {spread.processes - 1}.", param_hint="--rank")
    variables, tags = pairs(env_var or [], "--env-var"), pairs(tag or [], "--tag")
    folder, inside = _source_and_script(script, source)

    from runyard.sdk.submit.script_run_config import ScriptRunConfig
    from runyard.sdk.submit.submit import submitted as queue
    from runyard.sdk.workspace.workspace import Workspace

    # The workspace and the experiment are made with their first run: mostly they are there, and that is one request.
    asks = choice.made or compute != "local"
    workspace = Workspace.from_config() if asks else Workspace._from_config_unasked()
    config = ScriptRunConfig(
        source_directory=str(folder),
        script=inside,
        arguments=arguments or None,
        command=command,
        compute_target=compute,
        environment=choice.get(workspace) if choice.made else _user_managed(python),
        distributed_job_config=spread.get(),
    )
    config.run_config.environment_variables = variables
    if restarts is not None:
        config.run_config.runyard.restarts = restarts
    if max_seconds is not None:
        config.run_config.max_run_duration_seconds = max_seconds
    queued = queue(workspace, experiment or experiment_name(folder), config, tags, display_name=name)
    if not follow and not as_json:
        _announce(queued["id"], queued["web_url"])
        return
    from runyard.cli import api

    server = api.Api(workspace.service)
    follow_or_announce(server, server.run(queued["id"]), follow, rank, as_json)


def follow_or_announce(server: Api, submitted: RunDocument, follow: bool, rank: str | None, as_json: bool) -> None:
    """Tell of a run that was just submitted, and follow it to its end where that is asked for."""
    if not follow and not as_json:
        _announce(submitted["id"], submitted["web_url"])
        return
    if not follow:
        screen.document(without_definition(submitted))
        return
    if as_json:
        screen.event({"event": "submitted", "run": without_definition(submitted)})
    else:
        _announce(submitted["id"], submitted["web_url"], next_commands=False)
    from runyard.cli.commands import logs

    ended = logs.follow_rank(server, submitted, rank, as_json)
    _conclude(server, ended, as_json)


def _source_and_script(script: str | None, source: Path | None) -> tuple[Path, str | None]:
    """The folder to take, and the script's path inside it."""
    if script is None:
        return source or Path("."), None
    path = Path(script)
    if path.is_dir() and source is None:
        raise bad_parameter(
            f"{script!r} is a folder. Name a script in it, such as {path / 'train.py'}, or give it with --source and a "
            "command with --command.",
            param_hint="SCRIPT",
        )
    if source is None:
        return path.parent, path.name
    if not (source / path).exists() and path.exists():
        inside = Path(os.path.relpath(path, source))
        if ".." not in inside.parts:
            return source, str(inside)
    return source, script


def experiment_name(folder: Path) -> str:
    """An experiment's name made of a folder's.

    >>> experiment_name(Path("/home/me/my project"))
    'my_project'
    """
    plain = re.sub(r"[^\w-]+", "_", folder.resolve().name, flags=re.ASCII).strip("_-")
    return plain[:255] or "default"


def _user_managed(python: str | None) -> Environment:
    """An interpreter that is there already."""
    from runyard.sdk.environment.environment import Environment

    environment = Environment("user-managed-env")
    environment.python.user_managed_dependencies = True
    environment.python.interpreter_path = python or active_python()
    return environment


def active_python() -> str:
    """The Python of the environment that is active in the shell; without one, that of this command."""
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        python = Path(os.environ.get(variable, ""), "bin", "python")
        if variable in os.environ and python.exists():
            return str(python)
    return sys.executable


def _announce(run_id: str, web_url: str, next_commands: bool = True) -> None:
    print(f"Submitted {screen.heading(run_id)}")
    print(web_url, flush=True)
    if next_commands:
        print("Next:")
        for command in ("logs -f", "show", "metrics", "stop"):
            print(f"  {formatting.program()} {command} {run_id}")


def _conclude(server: Api, run: RunDocument, as_json: bool) -> None:
    """How the run went; a run that did not complete ends the command with exit code 1."""
    from runyard.cli.output import summary

    if as_json:
        screen.event({"event": "ended", "run": without_definition(run)})
    else:
        last = server.metrics(run["id"], buckets=1)
        end_line()
        for line in [*summary.ending(run), *summary.error(run), *summary.metrics(last)]:
            print(line)
        print(f"\nNext: {formatting.program()} show {run['id']}")
    if run["status"] != states.COMPLETED:
        raise leave(errors.FAILED)
