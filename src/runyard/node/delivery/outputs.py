"""Uploading the files of an outputs folder into the run's history."""

from __future__ import annotations

from pathlib import Path

from runyard.contracts import names, pack
from runyard.node.delivery.growing_files import open_regular
from runyard.node.delivery.retrying_client import Refused, RetryingClient, wire_name
from runyard.node.delivery.settling import FileChanged, Look, SettlingFolder, pieces

NAMES_PER_REQUEST = 200


class Outputs(SettlingFolder):
    """The files below `folder`, uploaded into the run's history under `name`/…"""

    def __init__(self, client: RetryingClient, folder: Path, name: str) -> None:
        super().__init__(folder, name)
        self._client = client

    def _send(self, relatives: list[str]) -> None:
        for start in range(0, len(relatives), NAMES_PER_REQUEST):
            self._upload_some(relatives[start : start + NAMES_PER_REQUEST])

    def _upload_some(self, relatives: list[str]) -> None:
        """Send the hashes first: what the server has already need not travel."""
        seen: dict[str, tuple[str, Look, str]] = {}
        for relative in relatives:
            try:
                name = names.check_file(wire_name(f"{self._name}/{relative}"))
            except names.BadName as error:
                self._leave(relative, f"was not kept: {error}")
                continue
            look = self._look(relative)
            digest = self._digest(relative)
            if look is not None and digest is not None:
                seen[name] = (relative, look, digest)
        if not seen:
            return
        try:
            missing = self._client.link({name: digest for name, (_, _, digest) in seen.items()})
        except Refused:
            missing = set(seen)  # one bad name refuses them all: one by one it shows which
        for name, (relative, look, digest) in seen.items():
            if name not in missing or self._put(relative, name, look, digest):
                self._done(relative, look)

    def _put(self, relative: str, name: str, look: Look, digest: str) -> bool:
        path = self._folder / relative
        try:
            self._client.put(name, lambda: pieces(path, look.size), look.size, digest)
        except FileChanged:
            return False  # it is looked at again once it has settled
        except Refused as refusal:
            if refusal.code == "content_mismatch":
                return False
            self._leave(relative, f"was refused by the server: {refusal}")
        else:
            return True
        return False

    def _digest(self, relative: str) -> str | None:
        try:
            with open_regular(self._folder / relative) as file:
                return pack.digest_of(file)[0]
        except FileNotFoundError:
            return None
        except OSError as error:
            self._leave(relative, f"cannot be read: {error}")
            return None
