"""`runyard data`: the registered datasets of a workspace, their files, and addresses that are found elsewhere."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any

from runyard.cli.commands import data_cache, data_runs
from runyard.cli.completion import dataset_names
from runyard.cli.confirm import agreed
from runyard.cli.groups import group
from runyard.cli.options import JsonOption
from runyard.cli.output import formatting, screen
from runyard.cli.parameters import Argument, Option

if TYPE_CHECKING:
    from runyard.sdk.data.file_dataset import FileDataset
    from runyard.sdk.workspace.workspace import Workspace

NameArgument = Annotated[
    str,
    Argument(
        metavar="NAME",
        help="The name of a dataset, or its id.",
        show_default=False,
        autocompletion=dataset_names,
    ),
]
VersionOption = Annotated[
    int | None, Option("--version", metavar="N", help="By default the latest.", show_default=False)
]


def ls(as_json: JsonOption = False) -> None:
    """List the registered datasets, each in its latest version."""
    found = _workspace().datasets.registrations
    if as_json:
        screen.document(found)
    elif not found:
        print("No dataset is registered. Next: Dataset.File.from_files([...]).register(ws, 'name')")
    else:
        rows = [(each["name"], str(each["version"]), _sources(each), each["description"] or "") for each in found]
        screen.table(("NAME", "VERSION", "SOURCES", "DESCRIPTION"), rows)


def show(name: NameArgument, version: VersionOption = None, as_json: JsonOption = False) -> None:
    """Show one dataset: its sources, tags and versions, and the runs that read it."""
    from runyard.sdk.data.abstract_dataset import of_document

    workspace = _workspace()
    found = _dataset(workspace, name, version)
    runs = data_runs.reading(workspace, str(found.id))
    if as_json:
        screen.document({**(found._document or {}), "runs": runs})
        return
    print(of_document(found._saved(), found._document))
    if runs:
        print()
        screen.table(("RUN", "STATUS", "INPUT", "MODE", "FILES", "SIZE", "DIGEST"), data_runs.rows(runs))


def files(name: NameArgument, version: VersionOption = None, as_json: JsonOption = False) -> None:
    """List the files of a dataset, with their sizes and where they are read from."""
    found = _dataset(_workspace(), name, version)._listing()
    if as_json:
        screen.document(list(found.files))
        return
    rows = [
        (
            each["path"],
            "?" if each["size"] is None else formatting.size(each["size"]),
            each["url"] or each["local"] or "",
        )
        for each in found.files
    ]
    screen.table(("PATH", "SIZE", "FROM"), rows)


def get(
    name: NameArgument,
    to: Annotated[str, Option("--to", metavar="FOLDER", help="Where to put them.")] = ".",
    version: VersionOption = None,
    overwrite: Annotated[bool, Option("--overwrite", help="Replace files that are there.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Download the files of a dataset."""
    paths = _dataset(_workspace(), name, version).download(to, overwrite=overwrite)
    if as_json:
        screen.document(paths)
    else:
        print(f"Downloaded {formatting.count(len(paths), 'file')} to {os.path.abspath(to)}.")


def rm(
    name: NameArgument,
    yes: Annotated[bool, Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Take the name of a dataset away, with all its versions. Files and runs stay as they are."""
    workspace = _workspace()
    found = _dataset(workspace, name, None)
    agreed(f"Unregister {found.name} with all its versions?", yes, "Nothing was changed.")
    found.unregister_all_versions()
    if as_json:
        screen.document({"unregistered": name})
    else:
        print(f"Unregistered {name}. Its files are where they were.")


def map_prefix(
    prefix: Annotated[str, Argument(metavar="PREFIX", help="How the addresses begin.", show_default=False)],
    place: Annotated[
        str,
        Argument(
            metavar="PLACE",
            help="A folder of the server's machine, an address, or datastore:NAME/FOLDER.",
            show_default=False,
        ),
    ],
    as_json: JsonOption = False,
) -> None:
    """Say where the files of an address are now: runyard data map http://gone.org/mnist/ /data/mnist"""
    workspace = _workspace()
    where = place if "://" in place or place.startswith("datastore:") else os.path.abspath(os.path.expanduser(place))
    _show(workspace.service.put(_map_of(workspace), {"prefix": prefix, "place": where}), as_json)


def unmap(
    prefix: Annotated[str, Argument(metavar="PREFIX", help="As `runyard data maps` shows it.")],
    as_json: JsonOption = False,
) -> None:
    """Read addresses with this prefix themselves again."""
    workspace = _workspace()
    _show(workspace.service.delete(_map_of(workspace), params={"prefix": prefix}, idempotent=False), as_json)


def maps(as_json: JsonOption = False) -> None:
    """List the addresses that are found elsewhere."""
    workspace = _workspace()
    _show(workspace.service.get(_map_of(workspace)), as_json)


def _show(answer: dict[str, Any], as_json: bool) -> None:
    if as_json:
        screen.document(answer["map"])
    elif not answer["map"]:
        print(f"No address is mapped. Next: {formatting.program()} data map http://gone.org/mnist/ /data/mnist")
    else:
        screen.table(("PREFIX", "IS FOUND AT"), list(answer["map"].items()))


def _workspace() -> Workspace:
    from runyard.sdk.workspace.workspace import Workspace

    return Workspace.from_config()


def _map_of(workspace: Workspace) -> str:
    return f"/api/workspaces/{workspace.name}/data-map"


def _dataset(workspace: Workspace, name: str, version: int | None) -> FileDataset:
    from runyard.sdk.data.abstract_dataset import AbstractDataset
    from runyard.sdk.data.file_dataset import FileDataset

    is_id = len(name) == 36 and name.count("-") == 4
    if is_id and version is None:
        found = AbstractDataset.get_by_id(workspace, name)
    else:
        found = AbstractDataset.get_by_name(workspace, name, version)
    return FileDataset(found._definition, workspace, found._document)  # a table's files are files as well


def _sources(each: dict[str, Any]) -> str:
    sources = each["definition"]["sources"]
    first = sources[0].get("url") or f"{sources[0]['datastore']}/{sources[0]['path']}"
    return first if len(sources) == 1 else f"{first} and {len(sources) - 1} more"


app = group("data", "Datasets: what is registered, their files, and addresses that are found elsewhere.")

app.command()(ls)
app.command()(show)
app.command()(files)
app.command()(data_runs.compare)
app.command()(get)
app.command()(rm)
app.command(name="map")(map_prefix)
app.command()(unmap)
app.command()(maps)
app.add_typer(data_cache.app)
