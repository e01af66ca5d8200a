"""`runyard files` and `runyard get`: what a run keeps in its history, and how to have it here."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from runyard.cli import errors, screen, words
from runyard.cli.options import JsonOption, RunArgument
from runyard.contracts import names

if TYPE_CHECKING:
    from runyard.cli.api import Api
    from runyard.sdk.documents import FileDocument


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
                words.size(file["size"]) + (" and growing" if file["growing"] else ""),
                words.ago(words.moment(file["updated_at"])),
            )
            for file in found
        ]
        screen.table(("FILE", "SIZE", "CHANGED"), rows)


def get(
    run: RunArgument,
    name: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="Files, or folders such as 'outputs'. None means everything."),
    ] = None,
    to: Annotated[
        Path | None,
        typer.Option("--to", metavar="DIR", help="Where to put them. Default: a folder named like the run."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Download files of a run."""
    from runyard.cli import api
    from runyard.sdk.progress import progress

    server = api.connect()
    run_id = server.find(run)["id"]
    kept = server.files(run_id)
    wanted = _wanted(run_id, kept, name or [])
    on_disk = names.on_disk(names.check_file(file["name"]) for file in kept)
    places = {file["name"]: on_disk[names.check_file(file["name"])] for file in kept}
    folder = to or Path(run_id)
    got: list[dict[str, object]] = []
    with progress("Downloading", sum(file["size"] for file in wanted)) as moved:
        for file in wanted:
            path = folder / places[file["name"]]
            got.append({"name": file["name"], "path": str(path), "size": _download(server, run_id, file, path, moved)})
    if as_json:
        screen.document(got)
        return
    for entry in got:
        print(entry["path"])
    for file in wanted:
        if places[file["name"]] != file["name"]:
            note = f"Note: {file['name']} is also a folder of the run, so the file is here as {places[file['name']]}."
            typer.echo(note, err=True)


def _wanted(run_id: str, kept: Sequence[FileDocument], asked: Sequence[str]) -> list[FileDocument]:
    """The files that the names mean: each a file, or all files of a folder."""
    if not asked:
        return list(kept)
    chosen: dict[str, FileDocument] = {}
    for name in asked:
        plain = name.rstrip("/")
        matching = [file for file in kept if file["name"] == plain or file["name"].startswith(plain + "/")]
        if not matching:
            raise errors.CommandError(
                f"Run {run_id} has no file {name!r}.",
                f"`runyard files {run_id}` lists what it has.",
                errors.NOT_FOUND,
                "file_not_found",
            )
        chosen.update({file["name"]: file for file in matching})
    return list(chosen.values())


def _download(server: Api, run_id: str, file: FileDocument, path: Path, moved: Callable[[int], None]) -> int:
    """Write one file beside its place and move it there when it is whole. What breaks off is taken up again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f".{path.name[:200]}.{os.getpid()}.part")
    try:
        with aside.open("wb") as target:
            while not _read_on(server, run_id, file["name"], target, moved):
                continue
            size = target.tell()
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)
    return size


def _read_on(server: Api, run_id: str, name: str, target: BinaryIO, moved: Callable[[int], None]) -> bool:
    """Whether the rest has come whole. A connection that brings nothing at all is not tried again."""
    begun = target.tell()
    try:
        for chunk in server.read(run_id, name, begun):
            target.write(chunk)
            moved(len(chunk))
    except ConnectionError:
        if target.tell() == begun:
            raise
        return False
    return True
