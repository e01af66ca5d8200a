"""A file on its way to the disk: what lies beside it, and whether it is the one that was listed once it is whole."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path
from typing import Any, Mapping

from runyard.client.data.problem import Changed

BUFFER = 1 << 20


def pieces_of(part: Path) -> Path:
    return part.with_name(part.name + ".pieces")


def check(each: Mapping[str, Any], part: Path) -> None:
    """That a file has the size, and the hash, that it was listed with; else it is removed, and Changed."""
    got = part.stat().st_size
    how = ""
    if each["size"] is not None and got != each["size"]:
        how = f"came with {got:,} bytes, and was listed with {each['size']:,}"
    elif each.get("sha256") and _hash(part, "sha256").hex() != str(each["sha256"]).lower():
        how = "came with other bytes than its hash says (SHA-256)"
    elif each.get("md5") and _hash(part, "md5") != _md5(str(each["md5"])):
        how = "came with other bytes than its hash says (MD5)"
    if how:
        part.unlink()
        raise Changed(each, how)


def _hash(path: Path, kind: str) -> bytes:
    found = hashlib.new(kind)
    with open(path, "rb") as file:
        for block in iter(lambda: file.read(BUFFER), b""):
            found.update(block)
    return found.digest()


def _md5(text: str) -> bytes:
    return bytes.fromhex(text) if len(text) == 32 else base64.b64decode(text)
