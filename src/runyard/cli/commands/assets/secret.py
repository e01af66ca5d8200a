"""`runyard secret`: the secrets of a workspace, which scripts get with `run.get_secret`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

from runyard.cli.confirm import agreed
from runyard.cli.groups import group
from runyard.cli.options import JsonOption
from runyard.cli.output import screen
from runyard.cli.parameters import Argument, Option, bad_parameter

if TYPE_CHECKING:
    from runyard.sdk.workspace.keyvault import Keyvault

NameArgument = Annotated[str, Argument(metavar="NAME", help="Letters, digits and '-'.", show_default=False)]


def ls(as_json: JsonOption = False) -> None:
    """List the names of the secrets."""
    found = _vault().list_secrets()
    if as_json:
        screen.document(found)
    elif not found:
        print("No secrets.")
    else:
        screen.table(("NAME", "CONTENT TYPE"), [(each["name"], each["content_type"]) for each in found])


def set_secret(name: NameArgument, as_json: JsonOption = False) -> None:
    """Set a secret. Its value is asked for, or read from standard input: runyard secret set db-password < file"""
    if sys.stdin.isatty():
        import getpass

        value = getpass.getpass(f"Value of {name} (not shown): ")
    else:
        value = sys.stdin.read().removesuffix("\n")
    if not value:
        raise bad_parameter("the value is empty: type it, or give it on standard input.", param_hint="NAME")
    _vault().set_secret(name, value)
    if as_json:
        screen.document({"set": name})
    else:
        print(f"Set {name}. A script reads it with Run.get_context().get_secret({name!r}).")


def rm(
    name: NameArgument,
    yes: Annotated[bool, Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Forget a secret."""
    agreed(f"Forget the secret {name}?", yes, "Nothing was changed.")
    _vault().delete_secret(name)
    if as_json:
        screen.document({"removed": name})
    else:
        print(f"Removed {name}.")


def _vault() -> Keyvault:
    from runyard.sdk.workspace.workspace import Workspace

    return Workspace.from_config().get_default_keyvault()


app = group("secret", "Secrets of a workspace, which scripts get with run.get_secret.")
app.command()(ls)
app.command(name="set")(set_secret)
app.command()(rm)
