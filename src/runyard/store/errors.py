"""The errors of the store. Each carries a code of docs/protocol.md, so that the server can answer without guessing.

StoreError
  NotFound      there is no such workspace, experiment, run, file, snapshot
    Gone        there was one, and it was dropped on purpose
  Conflict      it clashes with what is there already (a name, a gap, a run that goes on)
  Refused       the request itself is wrong (a bad name, a bad journal line, bytes that have another hash)
  DiskFull      nothing more fits; what was there is untouched
  Damaged       the database, or an object, cannot be read by this code
  Mismatched    the database is not the one of this home folder
  Unavailable   the database cannot be reached now
"""

from __future__ import annotations

from collections.abc import Mapping


class StoreError(Exception):
    """`title` is what is wrong, `help` what to do, `detail` is for programs."""

    def __init__(self, code: str, title: str, help: str = "", detail: Mapping[str, object] | None = None) -> None:
        super().__init__(f"{title} {help}".strip())
        self.code = code
        self.title = title
        self.help = help
        self.detail: dict[str, object] = dict(detail or {})


class NotFound(StoreError):
    pass


class Gone(NotFound):
    pass


class Conflict(StoreError):
    pass


class Refused(StoreError):
    pass


class DiskFull(StoreError):
    pass


class Damaged(StoreError):
    pass


class Mismatched(StoreError):
    pass


class Unavailable(StoreError):
    pass


def run_not_found(run_id: str) -> NotFound:
    return NotFound("run_not_found", f"There is no run {run_id!r}.", "`runyard ls` lists the runs.", {"run": run_id})


def disk_full(where: object) -> DiskFull:
    return DiskFull(
        "disk_full",
        f"There is no space left on the disk of {where}.",
        "Free some space, then try again: `runyard du` shows what takes it, and `runyard env gc` and `uv cache clean` "
        "work without any; `runyard rm` needs a little to delete runs.",
        {"path": str(where)},
    )
