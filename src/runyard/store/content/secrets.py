"""The values of secrets, in files that only the user can read. The database knows their names alone.

A name is made from the value with the server's own secret: the same value has the same name, so that two definitions
with the same password are the same, and nobody learns from a name whether a guess is right.
"""

from __future__ import annotations

import errno
import hashlib
import hmac
import os
import re
import threading
from pathlib import Path

from runyard.contracts.home import write_private
from runyard.contracts.secrets import PREFIX
from runyard.store.errors import disk_full

_NAME = re.compile(PREFIX + r"[0-9a-f]{32}")


class SecretMissing(Exception):
    """The value of a secret is not available; the message names the secret and the remedy."""


class Secrets:
    """Safe to use from many threads."""

    def __init__(self, folder: Path, key: str) -> None:
        self._folder = folder
        self._key = key.encode("utf-8")
        self._lock = threading.Lock()

    def keep(self, value: str) -> str:
        """Store a value; returns its name."""
        name = PREFIX + hmac.new(self._key, value.encode("utf-8"), hashlib.sha256).hexdigest()[:32]
        with self._lock:
            if not (self._folder / name).exists():
                self._write(name, value)
        return name

    def keep_own(self, value: str) -> str:
        """Store a value in a file of its own, which `forget` removes; returns its name."""
        name = PREFIX + os.urandom(16).hex()
        self._write(name, value)
        return name

    def forget(self, name: str) -> None:
        """Remove a value that `keep_own` has stored."""
        if _NAME.fullmatch(name):
            (self._folder / name).unlink(missing_ok=True)

    def _write(self, name: str, value: str) -> None:
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._folder.chmod(0o700)
            write_private(self._folder / name, value)
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise disk_full(self._folder) from error
            raise

    def value(self, name: str) -> str:
        if not _NAME.fullmatch(name):
            raise _missing(name, "that is no name of a secret")
        try:
            return (self._folder / name).read_bytes().decode("utf-8")
        except FileNotFoundError:
            raise _missing(name, f"there is no file of that name in {self._folder}") from None
        except OSError as error:
            raise _missing(name, str(error)) from error


def _missing(name: str, why: str) -> SecretMissing:
    return SecretMissing(
        f"The environment refers to the secret {name}, whose value cannot be had: {why}. "
        "Register the environment again, or submit the run again, with the credentials in place."
    )
