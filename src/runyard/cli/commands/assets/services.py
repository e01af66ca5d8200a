"""`runyard services`: deploying models and scripts as services, calling, updating, scaling and removing them."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from runyard.cli import errors
from runyard.cli.completion import service_names
from runyard.cli.environment_choice import Choice, CondaOption, EnvironmentOption, PipOption
from runyard.cli.groups import group
from runyard.cli.options import JsonOption, pairs
from runyard.cli.output import formatting, screen
from runyard.cli.output.services import Services, progress, rows, show_service, tell_next
from runyard.cli.parameters import Argument, Option, bad_parameter, leave

if TYPE_CHECKING:
    from runyard.sdk.workspace.workspace import Workspace

Json = dict[str, Any]

NameArgument = Annotated[
    str,
    Argument(
        metavar="NAME",
        help="A service; `runyard services ls` lists them.",
        show_default=False,
        autocompletion=service_names,
    ),
]
ModelOption = Annotated[
    list[str] | None,
    Option("--model", "-m", metavar="NAME[:VERSION]", help="A registered model; repeat.", show_default=False),
]
ScriptOption = Annotated[
    str | None,
    Option(
        "--script", "-s", metavar="FILE", help="A script with init() and run(). Its folder goes with it.",
        show_default=False,
    ),
]  # fmt: skip
SourceOption = Annotated[
    Path | None, Option("--source", metavar="DIR", help="The folder, if it is not the script's.", show_default=False)
]
PythonOption = Annotated[
    str | None, Option("--python", metavar="PATH", help="An interpreter that is there already.", show_default=False)
]
SetOption = Annotated[
    list[str] | None,
    Option(
        "--set",
        metavar="SETTING=VALUE",
        help="Any setting of docs/services.md, such as workers=2 or autoscale.max=4; repeat.",
        show_default=False,
    ),
]
PortOption = Annotated[int | None, Option("--port", min=1, max=65535, help="Default: a free one.", show_default=False)]
WaitOption = Annotated[bool, Option("--wait/--no-wait", help="Whether to wait until it is done.")]


def ls(as_json: JsonOption = False) -> None:
    """List the services: their state, their address, and what they serve."""
    found = Services.connect().all()
    if as_json:
        screen.document(found)
    elif not found:
        print(f"No services. Next: {formatting.program()} services deploy my-service --script score.py")
    else:
        screen.table(("SERVICE", "STATE", "KIND", "REVISION", "REPLICAS", "MODELS", "ADDRESS"), rows(found), 1)


def show(name: NameArgument, as_json: JsonOption = False) -> None:
    """Show one service: its revisions, its replicas, and what goes wrong."""
    found = Services.connect().get(name)
    if as_json:
        screen.document(found)
    else:
        show_service(found)


def deploy(
    name: NameArgument,
    model: ModelOption = None,
    script: ScriptOption = None,
    source: SourceOption = None,
    environment: EnvironmentOption = None,
    conda: CondaOption = None,
    pip: PipOption = None,
    python: PythonOption = None,
    kind: Annotated[str, Option("--kind", help="aci, aks or local.")] = "aci",
    replicas: Annotated[int | None, Option("--replicas", min=1, help="How many.", show_default=False)] = None,
    port: PortOption = None,
    host: Annotated[str | None, Option("--host", help="Default: this machine alone.", show_default=False)] = None,
    auth: Annotated[
        str | None, Option("--auth", help="none, key or token. Default: as the kind has it.", show_default=False)
    ] = None,
    setting: SetOption = None,
    overwrite: Annotated[bool, Option("--overwrite", help="Replace the service of that name.")] = False,
    wait: WaitOption = True,
    as_json: JsonOption = False,
) -> None:
    """Deploy a service: runyard services deploy NAME --model MODEL, or with --script score.py"""
    choice = Choice(environment, conda, pip)
    choice.check(python=python)
    if not model and not script:
        raise bad_parameter("name a model (--model), a script (--script), or both.", param_hint="--model")
    given = _settings(setting)
    for key, value in (("replicas", replicas), ("port", port), ("host", host), ("authentication", auth)):
        if value is not None:
            given[key] = value
    server = Services.connect()
    body: Json = {"name": name, "kind": kind, "models": model or [], "overwrite": overwrite}
    body.update(_code(server.workspace, name, script, source, choice, python, given))
    made = server.post("", {**body, "settings": given})
    _tell(server, made, wait, as_json)


def update(
    name: NameArgument,
    model: ModelOption = None,
    script: ScriptOption = None,
    source: SourceOption = None,
    environment: EnvironmentOption = None,
    conda: CondaOption = None,
    pip: PipOption = None,
    python: PythonOption = None,
    setting: SetOption = None,
    wait: WaitOption = True,
    as_json: JsonOption = False,
) -> None:
    """Give a service other models, another script or other settings. The old revision serves until the new one does."""
    choice = Choice(environment, conda, pip)
    choice.check(python=python)
    given = _settings(setting)
    server = Services.connect()
    body: Json = _code(server.workspace, name, script, source, choice, python, given)
    if model:
        body["models"] = model
    if not body and not given:
        raise bad_parameter("name what is to change: --model, --script or --set.", param_hint="--set")
    _tell(server, server.patch(name, {**body, "settings": given}), wait, as_json)


def scale(
    name: NameArgument,
    replicas: Annotated[int, Argument(metavar="REPLICAS", min=1, help="How many there are to be.", show_default=False)],
    wait: WaitOption = True,
    as_json: JsonOption = False,
) -> None:
    """Give a service so many replicas, whatever its load."""
    server = Services.connect()
    _tell(server, server.post(f"/{name}/scale", {"replicas": replicas}), wait, as_json)


def rollback(name: NameArgument, wait: WaitOption = True, as_json: JsonOption = False) -> None:
    """Go back to the revision that served before."""
    server = Services.connect()
    _tell(server, server.post(f"/{name}/rollback"), wait, as_json)


def logs(
    name: NameArgument,
    follow: Annotated[bool, Option("--follow", "-f", help="Go on until Ctrl-C.")] = False,
    tail: Annotated[int, Option("--tail", "-n", min=1, help="Lines from the end.")] = 5000,
    revision: Annotated[int | None, Option("--revision", help="Of this one alone.", show_default=False)] = None,
    build: Annotated[bool, Option("--build", help="How its environment was made, instead.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Show what a service has written: its script's output, and a line for each request."""
    server = Services.connect()
    text = server.logs(name, tail, revision, build)
    if as_json:
        screen.document({"name": name, "log": text})
        return
    sys.stdout.write(text)
    while follow:
        sys.stdout.flush()
        text = server.more_logs(name, text, tail, revision, build)


def call(
    name: NameArgument,
    data: Annotated[
        str | None,
        Argument(metavar="DATA", help="What to send: JSON, @FILE, or nothing for standard input.", show_default=False),
    ] = None,
    path: Annotated[str, Option("--path", help="Where on the service.")] = "/score",
    as_json: JsonOption = False,
) -> None:
    """Send a request to a service and show its answer. The key, if one is needed, is fetched."""
    body = _sent(data)
    status, kind, content = Services.connect().call(name, path, body)
    if as_json:
        try:
            answer = json.loads(content)
        except ValueError:
            answer = content.decode("utf-8", "replace")
        screen.document({"status": status, "content_type": kind, "answer": answer})
    else:
        sys.stdout.write(content.decode("utf-8", "replace").rstrip("\n") + "\n")
    if status >= 400 and as_json:
        raise leave(errors.FAILED)
    if status >= 400:
        meant = f"{data} is a file: @{data} sends what is in it. " if data and os.path.isfile(data) else ""
        raise errors.CommandError(
            f"The service answered with {status}{_cause(content)}.",
            f"{meant}`{formatting.program()} services logs {name}` shows what it has written.",
            code="call_failed",
        )


def _cause(content: bytes) -> str:
    """The user's own line, where a failed answer tells it."""
    try:
        error = json.loads(content)["error"]
        where = f" ({os.path.basename(error['file'])}, line {error['line']})" if error["file"] else ""
        return f": {error['type']}: {error['message']}{where}"
    except (ValueError, LookupError, TypeError):
        return ""


def keys(
    name: NameArgument,
    renew: Annotated[
        str | None, Option("--renew", metavar="KEY", help="Replace primary or secondary.", show_default=False)
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show the keys of a service, or replace one of them."""
    server = Services.connect()
    if renew is not None and renew.lower() not in ("primary", "secondary"):
        raise bad_parameter("it is primary or secondary.", param_hint="--renew")
    found = server.keys(name) if renew is None else server.post(f"/{name}/keys", {"key": renew.lower()})
    if as_json:
        screen.document(found)
        return
    for each in ("primary", "secondary"):
        print(f"{each:<10} {found[each]}")


def rm(
    name: NameArgument,
    yes: Annotated[bool, Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Stop a service and remove it, with its revisions, keys and logs. Its models stay."""
    from runyard.cli.confirm import agreed

    server = Services.connect()
    found = server.get(name)
    agreed(f"Stop and remove the service {name}, which listens on port {found['port']}?", yes, "It goes on.")
    with screen.spinner(f"Stopping {name} ..."):
        server.delete(name)
    if as_json:
        screen.document({"removed": name})
    else:
        print(f"Removed {name}")


def _tell(server: Services, made: Json, wait: bool, as_json: bool) -> None:
    """Show how it goes, and what can be done next."""
    if wait:
        made = progress(server, made, quiet=as_json)
    failure = made["operation"]["error"] if made["operation"]["state"] == "Failed" else None
    if as_json:
        screen.document(made)
        if failure is not None:
            raise leave(errors.FAILED)
        return
    tell_next(made)
    if failure is not None:
        raise errors.CommandError(
            f"{made['name']}: {failure.get('message')}",
            f"{failure.get('help') or ''} `{formatting.program()} services logs {made['name']}` shows more.".strip(),
            code="service_failed",
        )


def _code(
    workspace: Workspace,
    name: str,
    script: str | None,
    source: Path | None,
    choice: Choice,
    python: str | None,
    settings: Json,
) -> Json:
    """The part of a request that names the code and its environment; empty without a script."""
    if script is None:
        if choice.made or python is not None:
            raise bad_parameter("a model without a script brings its own environment.", param_hint="--script")
        return {}
    from runyard.cli.commands.submit import _source_and_script, _user_managed
    from runyard.sdk.model.deploying import launch_part
    from runyard.sdk.model.inference_config import InferenceConfig

    folder, inside = _source_and_script(script, source)
    assert inside is not None
    environment = choice.get(workspace) if choice.made else _user_managed(python)
    config = InferenceConfig(entry_script=inside, source_directory=str(folder), environment=environment)
    launch, variables = launch_part(workspace, name, config)
    if variables:
        settings["environment_variables"] = {**variables, **settings.get("environment_variables", {})}
    return {"launch": launch}


def _settings(given: list[str] | None) -> Json:
    """Settings as they are typed: `autoscale.max=4` becomes part of `autoscale`.

    >>> _settings(["workers=2", "autoscale.min=0", "authentication=key"])
    {'workers': 2, 'autoscale': {'min': 0}, 'authentication': 'key'}
    """
    found: Json = {}
    for key, text in pairs(given or [], "--set").items():
        try:
            value = json.loads(text)
        except ValueError:
            value = text
        part, dot, inner = key.partition(".")
        if dot:
            found.setdefault(part, {})[inner] = value
        else:
            found[part] = value
    return found


def _sent(data: str | None) -> bytes:
    if data is None:
        return sys.stdin.buffer.read()
    if data.startswith("@"):
        try:
            return Path(data[1:]).read_bytes()
        except OSError as error:
            text = f"{data[1:]!r} cannot be read: {error.strerror}."
            raise errors.CommandError(text, exit_code=errors.USAGE, code="file_not_found") from None
    return data.encode()


app = group("services", "Models and scripts that answer requests.")
for _command in (ls, show, deploy, update, scale, rollback, logs, call, keys, rm):
    app.command()(_command)
