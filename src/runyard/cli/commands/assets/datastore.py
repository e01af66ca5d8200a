"""`runyard datastore`: the named places of a workspace for data, and the files in them."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from runyard.cli.completion import datastore_names
from runyard.cli.confirm import agreed
from runyard.cli.groups import group
from runyard.cli.options import JsonOption, pairs
from runyard.cli.output import formatting, screen
from runyard.cli.output.terminal import readable_line
from runyard.cli.parameters import Argument, Option, bad_parameter
from runyard.contracts.data import datastores

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runyard.client.datastore_files import Remote
    from runyard.sdk.workspace.workspace import Workspace

NameArgument = Annotated[
    str,
    Argument(metavar="NAME", help="The name of a datastore.", show_default=False, autocompletion=datastore_names),
]
OverwriteOption = Annotated[bool, Option("--overwrite", help="Replace what is there.")]
MOST_SHOWN = 10_000
"""Files that a tree shows; more are counted."""


def ls(as_json: JsonOption = False) -> None:
    """List the datastores of the workspace."""
    workspace = _workspace()
    found = workspace.service.get(_address(workspace))["datastores"]
    if as_json:
        screen.document(found)
        return
    rows = [(each["name"], each["kind"], _where(each), "default" if each["default"] else "") for each in found]
    screen.table(("NAME", "KIND", "WHERE", ""), rows)


def add(
    name: NameArgument,
    kind: Annotated[
        str, Argument(metavar="KIND", help="folder, shared_folder, web, s3, gcs, azure_blob, ...", show_default=False)
    ],
    settings: Annotated[
        list[str],
        Option(
            "--set", metavar="KEY=VALUE", help="A setting, such as path=/data or bucket=images.", show_default=False
        ),
    ] = [],  # noqa: B006
    secrets: Annotated[
        list[str],
        Option(
            "--secret",
            metavar="KEY",
            help="A secret: asked for, or KEY=@FILE, or KEY=env:VARIABLE.",
            show_default=False,
        ),
    ] = [],  # noqa: B006
    default: Annotated[bool, Option("--default", help="Use it where none is named.")] = False,
    overwrite: OverwriteOption = False,
    as_json: JsonOption = False,
) -> None:
    """Register a datastore: runyard datastore add images s3 --set bucket=images --secret secret_access_key"""
    workspace = _workspace()
    given = pairs(settings, "--set")
    if "path" in given:
        given["path"] = os.path.abspath(os.path.expanduser(given["path"]))
    body = {"name": name, "kind": kind, "settings": given, "overwrite": overwrite}
    made = workspace.service.post(_address(workspace), {**body, "secrets": dict(_secret(each) for each in secrets)})
    if default:
        made = workspace.service.put(f"{_address(workspace, made['name'])}/default")
    if as_json:
        screen.document(made)
    else:
        print(f"Registered {made['name']}: {_where(made)}")
    if made["kind"] in (datastores.FOLDER, datastores.SHARED_FOLDER):
        _warn_where_it_is_not(workspace, made["name"])


def _warn_where_it_is_not(workspace: Workspace, name: str) -> None:
    """Say that a folder is not there, or cannot be read: it may be mounted later, and is more likely mistyped."""
    from runyard.client.http import ClientProblem

    try:
        workspace.service.client.get(f"{_address(workspace, name)}/files", {"limit": 1})
    except ClientProblem as refusal:
        print(f"Warning: {refusal}", file=sys.stderr)


def show(name: NameArgument, as_json: JsonOption = False) -> None:
    """Show one datastore: its kind and settings, and which secrets it has."""
    workspace = _workspace()
    found = workspace.service.get(_address(workspace, name))
    if as_json:
        screen.document(found)
        return
    rows = [("kind", found["kind"]), *found["settings"].items()]
    rows += [("secrets", ", ".join(found["secrets"]) or "none"), ("default", "yes" if found["default"] else "no")]
    screen.table((found["name"], ""), rows)


def rm(
    name: NameArgument,
    yes: Annotated[bool, Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Forget a datastore. Its files stay where they are."""
    workspace = _workspace()
    found = workspace.service.get(_address(workspace, name))
    agreed(f"Forget the datastore {found['name']}?", yes, "Nothing was changed.")
    using = workspace.service.delete(_address(workspace, name))["datasets"]
    if as_json:
        screen.document({"unregistered": found["name"], "datasets": using})
        return
    print(f"Forgot {found['name']}. Its files are where they were.")
    if using:
        print(f"These datasets have files in it, and cannot be read now: {', '.join(using)}.", file=sys.stderr)


def default(name: NameArgument, as_json: JsonOption = False) -> None:
    """Use a datastore where none is named."""
    workspace = _workspace()
    made = workspace.service.put(f"{_address(workspace, name)}/default")
    if as_json:
        screen.document(made)
    else:
        print(f"{made['name']} is the default datastore now.")


def put(
    name: NameArgument,
    sources: Annotated[list[str], Argument(metavar="PATH...", help="Files, or folders.", show_default=False)],
    to: Annotated[str, Option("--to", metavar="FOLDER", help="The folder in the datastore.")] = "",
    overwrite: OverwriteOption = False,
    as_json: JsonOption = False,
) -> None:
    """Upload files and folders. What is there already is skipped, so that a broken upload goes on."""
    from runyard.sdk.datastore import transfers

    files = []
    for each in sources:
        if os.path.isdir(each):
            files += transfers.of_folder(each, "/".join(part for part in (to, os.path.basename(_whole(each))) if part))
        else:
            files += transfers.of_files([each], None, to)
    count = transfers.upload(_remote(name), files, overwrite, show_progress=False)
    _done(as_json, "uploaded", count, len(files), f"to {name}")


def get(
    name: NameArgument,
    prefix: Annotated[str, Argument(metavar="PREFIX", help="How the paths begin; all files by default.")] = "",
    to: Annotated[str, Option("--to", metavar="FOLDER", help="Where to put them.")] = ".",
    overwrite: OverwriteOption = False,
    as_json: JsonOption = False,
) -> None:
    """Download files. What is there already is skipped, so that a broken download goes on."""
    from runyard.sdk.datastore import transfers
    from runyard.sdk.exceptions import UserErrorException

    done = transfers.download(_remote(name), Path(to), prefix, overwrite, show_progress=False)
    if not done.meant:
        raise UserErrorException(
            f"The datastore {name!r} has no file whose path begins with {prefix!r}. `runyard datastore tree {name}` "
            "shows its files."
        )
    _done(as_json, "downloaded", done.files, done.meant, f"to {os.path.abspath(to)}")


def tree(
    name: NameArgument,
    below: Annotated[str, Argument(metavar="FOLDER", help="A folder in it; all of it by default.")] = "",
    as_json: JsonOption = False,
) -> None:
    """Show the files of a datastore with their sizes."""
    from runyard.client.http import ClientProblem
    from runyard.sdk.workspace.service import sdk_exception

    try:
        if as_json:
            screen.document(list(_remote(name).files(below)))
            return
        for line in _tree(_remote(name), below):
            print(line)
    except ClientProblem as refusal:
        raise sdk_exception(refusal) from None


def _tree(remote: Remote, below: str) -> Iterator[str]:
    """A line for each folder and file, and one that sums them up. Nothing but the current folder is remembered."""
    count = total = 0
    shown: list[str] = []
    for each in remote.files(below):
        count += 1
        total += int(each["size"] or 0)
        if count > MOST_SHOWN:
            continue
        *folders, name = str(each["path"]).split("/")
        for depth, folder in enumerate(folders):
            if shown[: depth + 1] != folders[: depth + 1]:
                yield f"{'  ' * depth}{readable_line(folder)}/"
                shown = folders[: depth + 1]
        shown = folders
        yield f"{'  ' * len(folders)}{readable_line(name)}  {formatting.size(int(each['size'] or 0))}"
    if count > MOST_SHOWN:
        yield f"... and {count - MOST_SHOWN:,} more"
    yield f"{formatting.count(count, 'file')}, {formatting.size(total)}"


def _done(as_json: bool, what: str, count: int, of: int, where: str) -> None:
    if as_json:
        screen.document({what: count, "skipped": of - count})
    else:
        skipped = f" {formatting.count(of - count, 'file')} there already." if of > count else ""
        print(f"{what.capitalize()} {formatting.count(count, 'file')} {where}.{skipped}")


def _secret(text: str) -> tuple[str, str]:
    """A secret by where it is: never on the command line itself, which other users of the machine can see."""
    key, equals, place = text.partition("=")
    if not equals:
        if not sys.stdin.isatty():
            return key, sys.stdin.readline().rstrip("\n")
        import getpass

        return key, getpass.getpass(f"{key}: ")
    if place.startswith("@"):
        try:
            return key, Path(place[1:]).expanduser().read_text(encoding="utf-8").strip()
        except OSError as error:
            raise bad_parameter(f"{place[1:]} cannot be read: {error.strerror}.", "--secret") from None
    if place.startswith("env:") and os.environ.get(place[4:]):
        return key, os.environ[place[4:]]
    raise bad_parameter(
        f"The value of {key} does not belong on the command line: use --secret {key} and type it, {key}=@FILE, or "
        f"{key}=env:VARIABLE.",
        "--secret",
    )


def _whole(path: str) -> str:
    return os.path.abspath(path)


def _where(each: dict[str, Any]) -> str:
    settings = each["settings"]
    place = settings.get("path") or settings.get("url") or settings.get("bucket")
    if place is None and "container_name" in settings:
        place = f"{settings['account_name']}/{settings['container_name']}"
    place = place or settings.get("server_name") or settings.get("store_name") or settings.get("namenode_address") or ""
    return "/".join(part for part in (place, settings.get("prefix")) if part)


def _workspace() -> Workspace:
    from runyard.sdk.workspace.workspace import Workspace

    return Workspace.from_config()


def _address(workspace: Workspace, name: str | None = None) -> str:
    from runyard.sdk.datastore.abstract_datastore import address

    return address(workspace, name)


def _remote(name: str) -> Remote:
    from runyard.client.datastore_files import Remote

    workspace = _workspace()
    return Remote(workspace.service.client, workspace.name, name)


app = group("datastore", "Datastores: named places for data, and the files in them.")

app.command()(ls)
app.command()(add)
app.command()(show)
app.command()(rm)
app.command()(default)
app.command()(put)
app.command()(get)
app.command()(tree)
