"""`runyard env map`, `unmap` and `maps`: what a workspace uses in the place of environments of certain names."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from runyard.cli.environment_choice import Choice, CondaOption, EnvironmentOption, PipOption
from runyard.cli.options import JsonOption
from runyard.cli.output import formatting, screen
from runyard.cli.parameters import Argument, Option, bad_parameter

if TYPE_CHECKING:
    from runyard.contracts.documents import EnvironmentMapDocument


def map_pattern(
    pattern: Annotated[
        str,
        Argument(metavar="PATTERN", help="A name, or a pattern such as 'AzureML-*'.", show_default=False),
    ],
    interpreter: Annotated[
        str | None,
        Option("--interpreter", metavar="PATH", help="A Python that is there already.", show_default=False),
    ] = None,
    environment: EnvironmentOption = None,
    conda: CondaOption = None,
    pip: PipOption = None,
    as_json: JsonOption = False,
) -> None:
    """Use something else for environments of this name: runyard env map 'AzureML-*' --interpreter /path/to/python"""
    choice = Choice(environment, conda, pip)
    choice.check(interpreter=interpreter)
    if interpreter is None and not choice.made:
        raise bad_parameter(
            "say what to use instead: --interpreter, --environment, --conda or --pip.", param_hint="PATTERN"
        )

    from runyard.cli import api
    from runyard.sdk.workspace.workspace import Workspace

    workspace = Workspace.from_config()
    server = api.Api(workspace.service)
    if interpreter is not None:
        found = server.put_map(workspace.name, pattern, interpreter=_whole_path(interpreter))
    else:
        found = server.put_map(workspace.name, pattern, definition=choice.get(workspace).to_dict())
    _show(found, workspace.name, as_json)


def unmap(
    pattern: Annotated[str, Argument(metavar="PATTERN", help="As `runyard env maps` shows it.")],
    as_json: JsonOption = False,
) -> None:
    """Use environments of this name themselves again."""
    from runyard.cli import api
    from runyard.sdk.workspace.workspace import Workspace

    workspace = Workspace.from_config()
    _show(api.Api(workspace.service).delete_map(workspace.name, pattern), workspace.name, as_json)


def maps(as_json: JsonOption = False) -> None:
    """List what stands in for which names, in the order in which they are tried."""
    from runyard.cli import api
    from runyard.sdk.workspace.workspace import Workspace

    workspace = Workspace.from_config()
    _show(api.Api(workspace.service).maps(workspace.name), workspace.name, as_json)


def _show(found: list[EnvironmentMapDocument], workspace: str, as_json: bool) -> None:
    if as_json:
        screen.document(found)
    elif not found:
        print(f"No name is mapped in the workspace {workspace!r}.")
        print(f"Next: {formatting.program()} env map 'AzureML-*' --interpreter /path/to/python")
    else:
        screen.table(("PATTERN", "USES"), [(each["pattern"], _used(each)) for each in found])


def _used(each: EnvironmentMapDocument) -> str:
    if each["interpreter"]:
        return each["interpreter"]
    definition = each["definition"] or {}
    name, version = definition.get("name") or "a definition", definition.get("version")
    return f"{name}:{version}" if version else str(name)


def _whole_path(interpreter: str) -> str:
    """A path from here as one from everywhere (links stay: they lead to a venv); the name of a command stays one."""
    if os.sep not in interpreter:
        return interpreter
    return os.path.abspath(Path(interpreter).expanduser())
