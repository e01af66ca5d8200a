"""`runyard config`: the settings of the workspace that this folder belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from runyard.cli import errors
from runyard.cli.groups import group
from runyard.cli.options import JsonOption
from runyard.cli.output import screen
from runyard.cli.parameters import Argument

if TYPE_CHECKING:
    from runyard.cli.api import Api

KEYS = (
    "data.lazy-above",
    "data.limit",
    "environments.horovod",
    "environments.limit",
    "environments.relax",
    "retention.logs",
    "retention.series",
    "runs.event-files",
    "runs.scope",
    "runs.system-metrics",
)
"""Offered by the shell's completion. Which keys there are is decided by the server."""


def keys(incomplete: str) -> list[str]:
    return [key for key in KEYS if key.startswith(incomplete)]


KeyArgument = Annotated[
    str,
    Argument(metavar="KEY", help="`runyard config ls` lists the keys.", autocompletion=keys, show_default=False),
]


def set_value(
    key: KeyArgument,
    value: Annotated[str, Argument(metavar="VALUE", show_default=False)],
    as_json: JsonOption = False,
) -> None:
    """Change a setting: runyard config set environments.relax true"""
    server, workspace = here()
    _known(server.settings(workspace), key)
    settings = server.put_setting(workspace, key, value)
    _report(key, settings, workspace, as_json)


def get(key: KeyArgument, as_json: JsonOption = False) -> None:
    """Print the value of a setting."""
    server, workspace = here()
    value = _known(server.settings(workspace), key)
    if as_json:
        screen.document({"key": key, "value": value})
    else:
        print(value)


def ls(as_json: JsonOption = False) -> None:
    """List the settings and their values."""
    server, workspace = here()
    settings = server.settings(workspace)
    if as_json:
        screen.document(settings)
    else:
        screen.table(("SETTING", "VALUE"), sorted(settings.items()))


def unset(key: KeyArgument, as_json: JsonOption = False) -> None:
    """Go back to what holds when nobody has set it."""
    server, workspace = here()
    _known(server.settings(workspace), key)
    settings = server.delete_setting(workspace, key)
    _report(key, settings, workspace, as_json)


def here() -> tuple[Api, str]:
    """The server, and the workspace that this folder belongs to."""
    from runyard.cli import api
    from runyard.sdk.workspace.workspace import Workspace

    workspace = Workspace.from_config()
    return api.Api(workspace.service), workspace.name


def _known(settings: dict[str, str], key: str) -> str:
    if key not in settings:
        there_is = f"There is: {', '.join(sorted(settings))}."
        raise errors.CommandError(f"There is no setting {key!r}.", there_is, errors.NOT_FOUND, "setting_not_found")
    return settings[key]


def _report(key: str, settings: dict[str, str], workspace: str, as_json: bool) -> None:
    if as_json:
        screen.document(settings)
    elif key in settings:
        print(f"{key} is {settings[key]} in the workspace {workspace!r}.")
    else:
        print(f"{key} is not set in the workspace {workspace!r}.")


app = group("config", "Settings of the workspace that this folder belongs to.")

app.command(name="set")(set_value)
app.command()(get)
app.command()(ls)
app.command()(unset)
