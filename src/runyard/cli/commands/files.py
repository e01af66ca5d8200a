"""`runyard files` and `runyard get`: the files in the history of a run, and their download."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from runyard.cli import errors
from runyard.cli.completion import file_names
from runyard.cli.options import JsonOption, RunArgument
from runyard.cli.output import formatting, screen
from runyard.cli.parameters import Argument, Option
from runyard.contracts import names

if TYPE_CHECKING:
    from runyard.contracts.documents import FileDocument


def files(run: RunArgument, as_json: JsonOption = False) -> None:
    """List the files of a run: its outputs and its logs."""
    from runyard.cli import api

    server = api.connect()
    found = server.files(server.find(run)["id"])
    if as_json:
        screen.document(found)
    elif not found:
        print("No files.")
    else:
        rows = [
            (
                file["name"],
                formatting.size(file["size"]) + (" and growing" if file["growing"] else ""),
                formatting.ago(formatting.moment(file["updated_at"])),
            )
            for file in found
        ]
        screen.table(("FILE", "SIZE", "CHANGED"), rows)


def get(
    run: RunArgument,
    name: Annotated[
        list[str] | None,
        Argument(
            metavar="NAME",
            help="Files, or folders such as 'outputs'. None means everything.",
            autocompletion=file_names,
        ),
    ] = None,
    to: Annotated[
        Path | None,
        Option("--to", metavar="DIR", help="Where to put them. Default: a folder named like the run."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Download files of a run."""
    from runyard.cli import api
    from runyard.sdk.progress import progress

    server = api.connect()
    run_id = server.find(run)["id"]
    stored = server.files(run_id)
    wanted = _wanted(run_id, stored, name or [])
    on_disk = names.on_disk(names.check_file(file["name"]) for file in stored)
    places = {file["name"]: on_disk[names.check_file(file["name"])] for file in stored}
    folder = to or _named_like(run_id)
    got: list[dict[str, object]] = []
    with progress("Downloading", sum(file["size"] for file in wanted)) as moved:
        for file in wanted:
            path = folder / places[file["name"]]
            size = server.download(run_id, file["name"], path, moved)
            got.append({"name": file["name"], "path": str(path), "size": size})
    if as_json:
        screen.document(got)
        return
    for entry in got:
        print(entry["path"])
    for file in wanted:
        if places[file["name"]] != file["name"]:
            note = f"Note: {file['name']} is also a folder of the run, so the file is here as {places[file['name']]}."
            print(note, file=sys.stderr)


def _named_like(run_id: str) -> Path:
    """The default folder for the files of a run. A server whose id would lead elsewhere is not trusted."""
    try:
        return Path(names.check("run", run_id))
    except names.BadName:
        raise errors.CommandError(
            f"The server calls the run {run_id!r}, which is no name for a folder.",
            "Runyard gives no run such an id: look at whose server it is. --to DIR says where to put the files.",
            code="bad_name",
        ) from None


def _wanted(run_id: str, stored: Sequence[FileDocument], patterns: Sequence[str]) -> list[FileDocument]:
    """The files that the names mean: each a file, or all files of a folder."""
    if not patterns:
        return list(stored)
    chosen: dict[str, FileDocument] = {}
    for name in patterns:
        plain = name.rstrip("/")
        matching = [file for file in stored if file["name"] == plain or file["name"].startswith(plain + "/")]
        if not matching:
            raise errors.CommandError(
                f"Run {run_id} has no file {name!r}.",
                f"`runyard files {run_id}` lists what it has.",
                errors.NOT_FOUND,
                "file_not_found",
            )
        chosen.update({file["name"]: file for file in matching})
    return list(chosen.values())
