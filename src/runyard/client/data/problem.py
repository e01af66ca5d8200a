"""Why a file of a dataset could not be had, in words for its user."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any, Mapping

FULL = (errno.ENOSPC, errno.EDQUOT)


class TransferProblem(Exception):
    """A file could not be had: `message` says which and why, `help` what to do."""

    def __init__(self, message: str, help: str = "") -> None:
        super().__init__(f"{message} {help}".strip())
        self.message, self.help = message, help


class Changed(TransferProblem):
    """A file is not the one that was listed."""

    def __init__(self, each: Mapping[str, Any], how: str) -> None:
        super().__init__(
            f"{each['source']} {how}.", "It may have changed in between: submit the run again, or list it again."
        )


class DiskFull(TransferProblem):
    """There is no space for what is to be fetched."""

    def __init__(self, folder: Path, more: str = "") -> None:
        super().__init__(
            f"There is no space left on the disk of {folder}{more}.",
            "Free some: `runyard data cache gc --limit 0` removes the data that no run uses, `runyard rm` old runs.",
        )


class Halted(Exception):
    """Somebody else has failed, or has given up: this transfer is not wanted any more."""


def refused(each: Mapping[str, Any], url: str, said: str) -> TransferProblem:
    """An address that does not give its file, with what it said."""
    source = str(each["source"])
    prefix = source.rpartition("/")[0] + "/"
    plain = url.partition("?")[0]  # what follows may be a signature
    mapped = f" (read from {plain})" if plain != source.partition("?")[0] else ""
    correct = "Correct the address, or say where its files are now: "
    return TransferProblem(
        f"{source}{mapped} does not give its file: {said}.",
        f"{correct}`runyard data map {prefix} /folder/with/the/files`.",
    )
