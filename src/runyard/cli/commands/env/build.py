"""`runyard env build`: builds an environment before a run needs it; and the definitions that the workspace knows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from runyard.cli import errors
from runyard.cli.environment_choice import Choice, CondaOption, ImageOption, PipOption, name_and_version
from runyard.cli.options import JsonOption
from runyard.cli.output import formatting, screen
from runyard.cli.output.following import end_line
from runyard.cli.output.summary import without_definition
from runyard.cli.parameters import Argument, Option, bad_parameter, leave
from runyard.contracts import states

if TYPE_CHECKING:
    from runyard.cli.api import Api
    from runyard.contracts.documents import EnvironmentDocument, RunDocument


def build(
    environment: Annotated[
        str | None,
        Argument(
            metavar="NAME[:VERSION]", help="An environment of the workspace, or a curated one.", show_default=False
        ),
    ] = None,
    conda: CondaOption = None,
    pip: PipOption = None,
    image: ImageOption = None,
    name: Annotated[
        str | None,
        Option(
            "--name",
            help="What to register it as. Default: as a conda file calls itself, or after the file and its folder.",
            show_default=False,
        ),
    ] = None,
    follow: Annotated[bool, Option("--follow/--no-follow", "-f", help="Show the log until it is built.")] = True,
    as_json: JsonOption = False,
) -> None:
    """Build an environment ahead of its runs: runyard env build --pip requirements.txt"""
    choice = Choice(environment, conda, pip, image)
    choice.check()
    if not choice.made:
        raise bad_parameter("name an environment, or give --conda, --pip or --image.", param_hint="NAME")
    if name is not None and environment is not None:
        raise bad_parameter(f"{environment!r} has a name already.", param_hint="--name")

    from runyard.cli import api
    from runyard.cli.commands import logs
    from runyard.contracts.history import BUILD_LOG
    from runyard.sdk.workspace.workspace import Workspace

    workspace = Workspace.from_config()
    server = api.Api(workspace.service)
    details = choice.get(workspace, name).build(workspace)
    run_id, known = details.run.id, f"{details.environment.name}:{details.environment.version}"
    submitted = server.run(run_id)
    if not follow:
        if as_json:
            screen.document({"environment": known, "run": without_definition(submitted)})
        else:
            print(f"Building {screen.heading(known)} in {run_id}")
            print(f"Next: {formatting.program()} logs -f {run_id} --file {BUILD_LOG}")
        return
    if as_json:
        screen.event({"event": "submitted", "environment": known, "run": without_definition(submitted)})
    else:
        print(f"Building {screen.heading(known)} in {run_id}", flush=True)
    _conclude(known, logs.follow_run(server, run_id, BUILD_LOG, as_json), as_json)


def _conclude(known: str, run: RunDocument, as_json: bool) -> None:
    from runyard.cli.output import summary

    if as_json:
        screen.event({"event": "ended", "environment": known, "run": without_definition(run)})
    elif run["status"] == states.COMPLETED:
        end_line()
        print(f"{screen.heading(known)} is ready.")
        print(f"Next: {formatting.program()} submit train.py --environment {known}")
    else:
        for line in [*summary.ending(run), *summary.error(run)]:
            print(line)
    if run["status"] != states.COMPLETED:
        raise leave(errors.FAILED)


def show_definition(text: str, as_json: bool) -> None:
    """Print the definition that the workspace has under a name, for an environment that was not built here."""
    found = _definition(text)
    if as_json:
        screen.document(found)
        return
    print(f"{screen.heading(found['name'])}:{found['version']}  {'curated' if found['curated'] else 'registered'}")
    if found["labels"]:
        print(f"  labels  {', '.join(found['labels'])}")
    for line in _packages(found["definition"]):
        print(f"  {line}")
    print(f"It is not built on this machine. Next: {formatting.program()} env build {found['name']}:{found['version']}")


def _definition(text: str) -> EnvironmentDocument:
    from runyard.cli import api
    from runyard.client.http import ClientProblem
    from runyard.sdk.workspace.workspace import Workspace

    workspace = Workspace.from_config()
    server: Api = api.Api(workspace.service)
    try:
        return server.environment(workspace.name, *name_and_version(text))
    except ClientProblem as problem:
        if problem.status != 404:
            raise
        raise errors.CommandError(
            f"No environment {text!r} is built on this machine, and the workspace {workspace.name!r} knows none.",
            "`runyard env ls` lists what is built.",
            errors.NOT_FOUND,
            "environment_not_found",
        ) from None


def _packages(definition: dict[str, Any]) -> list[str]:
    """What a definition asks for, a line each."""
    from runyard.contracts.environment import specification_of

    asked = specification_of(definition)
    lines = [f"image   {asked.image}"] if asked.image and not asked.on_the_machine else []
    lines += ["image   of a Dockerfile"] if asked.dockerfile or asked.context else []
    lines += [f"python  {asked.python}"] if asked.python else []
    lines += [f"conda   {package}" for package in asked.conda]
    return lines + [f"pip     {line}" for line in (*asked.options, *asked.pip)]
