"""The part of `Run` for the files of its history: upload, download, and the snapshot of its folder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO, Any, Sequence

from runyard.contracts import names
from runyard.contracts.manifest import SNAPSHOT_PROPERTY
from runyard.sdk.exceptions import SnapshotException, UserErrorException
from runyard.sdk.run import file_transfer
from runyard.sdk.run.core import RunCore
from runyard.sdk.run.file_transfer import Source


class RunFiles(RunCore):
    """upload_file(s), upload_folder, get_file_names, download_file(s), snapshots."""

    def upload_file(
        self, name: str, path_or_stream: str | os.PathLike[str] | IO[Any], datastore_name: str | None = None
    ) -> None:
        """Store a file in the run's history under `name`, as it is now."""
        _refuse_datastore(datastore_name)
        if not isinstance(path_or_stream, (str, os.PathLike)):
            self._upload_stream(_file_name(name), path_or_stream)
            return
        self._upload([(_file_name(name), _existing(path_or_stream))])

    def upload_folder(self, name: str, path: str | os.PathLike[str], datastore_name: str | None = None) -> None:
        """Store a folder in the run's history: every file in it, under `name`/."""
        _refuse_datastore(datastore_name)
        folder = Path(path)
        if not folder.is_dir():
            raise UserErrorException(f"There is no folder {folder.absolute()} to upload.")
        top = _file_name(name)
        self._upload([(_file_name(f"{top}/{below}"), folder / below) for below in file_transfer.files_below(folder)])

    def upload_files(
        self,
        names: Sequence[str],
        paths: Sequence[str | os.PathLike[str]],
        return_artifacts: bool = False,
        timeout_seconds: float | None = None,
        datastore_name: str | None = None,
    ) -> None:
        """Store several files: `paths[i]` under `names[i]`."""
        _refuse_datastore(datastore_name)
        if len(names) != len(paths):
            raise TypeError(f"upload_files needs one path per name: it got {len(names)} names and {len(paths)} paths.")
        self._upload([(_file_name(name), _existing(path)) for name, path in zip(names, paths)])

    def get_file_names(self) -> list[str]:
        """The names of all files in the run's history."""
        self._deliver_before_reading()
        return [file["name"] for file in file_transfer.listed(self._service, self._run_id)]

    def download_file(
        self, name: str, output_file_path: str | os.PathLike[str] | None = None, _validate_checksum: bool = False
    ) -> None:
        """Fetch a file of the run's history; by default under its own last name into the working folder."""
        self._deliver_before_reading()
        checked = _file_name(name)
        base = checked.rpartition("/")[2]
        target = Path(output_file_path) if output_file_path is not None else Path(base)
        if target.is_dir() or (output_file_path is not None and str(output_file_path).endswith(("/", os.sep))):
            target = target / base
        file_transfer.download(self._service, self._run_id, checked, target)

    def download_files(
        self,
        prefix: str | None = None,
        output_directory: str | os.PathLike[str] | None = None,
        output_paths: str | Sequence[str | os.PathLike[str]] | None = None,
        batch_size: int = 100,
        append_prefix: bool = True,
        timeout_seconds: float | None = None,
    ) -> None:
        """Fetch every file whose name begins with `prefix` into `output_directory`.

        Each has its name below that folder; `append_prefix=False` drops the prefix. `output_paths` names each
        file's place instead, in the order of the files' names. A file whose name is also that of a folder gets a `~`
        at its end: a run's history may hold both, and a disk may not.
        """
        self._deliver_before_reading()
        wanted = [file["name"] for file in file_transfer.listed(self._service, self._run_id, prefix or "")]
        folder = Path(output_directory) if output_directory is not None else Path()
        if output_paths is None:
            below = [file_transfer.placed(name, prefix or "", append_prefix) for name in wanted]
            places = names.on_disk(below)
            targets = [folder / places[name] for name in below]
        else:
            given = [output_paths] if isinstance(output_paths, (str, os.PathLike)) else list(output_paths)
            if len(given) != len(wanted):
                raise UserErrorException(
                    f"output_paths names {len(given)} places, and {len(wanted)} files begin with {prefix or ''!r}."
                )
            targets = [folder / path for path in given]
        file_transfer.download_all(self._service, self._run_id, list(zip(wanted, targets)), timeout_seconds)

    def take_snapshot(self, file_or_folder_path: str | os.PathLike[str]) -> str:
        """Store a folder (or a file) with the run as its snapshot, once; returns the snapshot's id."""
        if self._snapshot_id() is not None:
            raise SnapshotException(f"Run {self._run_id} has a snapshot already, and a run has only one.")
        from runyard.sdk.snapshot.snapshot import take_snapshot

        snapshot_id = take_snapshot(self._service, Path(file_or_folder_path))
        self._service.patch(
            self._address(), {"snapshot_id": snapshot_id, "add_properties": {SNAPSHOT_PROPERTY: snapshot_id}}
        )
        return snapshot_id

    def get_snapshot_id(self) -> str:
        """The id of the snapshot of the folder that the run was made from."""
        found = self._snapshot_id()
        if found is None:
            raise SnapshotException(
                f"Run {self._run_id} has no snapshot. It was made without one (history.snapshot_project=False, or "
                "snapshot_directory=None)."
            )
        return found

    def restore_snapshot(self, snapshot_id: str | None = None, path: str | os.PathLike[str] | None = None) -> str:
        """Restore the folder: writes `<snapshot id>.zip` into `path` (by default, a temporary folder)
        and returns its path. The zip preserves links, run bits and empty folders."""
        from runyard.sdk.snapshot.restore import restore_zip

        wanted = snapshot_id or self.get_snapshot_id()
        return str(restore_zip(self._service, wanted, Path(path) if path is not None else None))

    def _snapshot_id(self) -> str | None:
        document = self._fetch()
        return document["snapshot_id"] or document["properties"].get(SNAPSHOT_PROPERTY)

    def _upload(self, wanted: Sequence[Source]) -> None:
        """Through the journal inside the run (the files are copied first: they may change at once)."""
        if self._own_telemetry is None:
            file_transfer.upload(self._service, self._run_id, wanted)
            return
        for name, place in wanted:
            try:
                self._own_telemetry.store_file(self._run_id, name, place)
            except OSError as error:
                if not place.exists():
                    raise UserErrorException(f"{place} went away before it was uploaded as {name!r}.") from error
                # No room beside the file itself: it is sent to the server from its own place.
                file_transfer.upload(self._service, self._run_id, [(name, place)])

    def _upload_stream(self, name: str, stream: IO[Any]) -> None:
        if not hasattr(stream, "read"):
            raise UserErrorException(
                f"{name!r} can be uploaded from a path or from a file object, not from a {type(stream).__name__}."
            )
        content = stream.read()
        held = content.encode("utf-8") if isinstance(content, str) else bytes(content)
        if self._own_telemetry is not None:
            self._own_telemetry.store_bytes(self._run_id, name, held)
        else:
            file_transfer.upload_bytes(self._service, self._run_id, name, held)


def _existing(path: str | os.PathLike[str]) -> Path:
    place = Path(path)
    if not place.is_file():
        kind = "is a folder (upload_folder takes those)" if place.is_dir() else "is not there"
        raise UserErrorException(f"{place.absolute()} cannot be uploaded: it {kind}.")
    return place


def _file_name(name: object) -> str:
    try:
        return file_transfer.sendable(names.check_file(name))
    except names.BadName as error:
        raise UserErrorException(str(error), inner_exception=error) from None


def _refuse_datastore(name: str | None) -> None:
    if name is not None:
        raise UserErrorException(
            f"The file cannot go to the datastore {name!r}: this version of Runyard has no datastores. Leave "
            "datastore_name away, and the file is kept in the run's history."
        )
