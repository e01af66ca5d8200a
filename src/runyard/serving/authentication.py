"""Who may ask: compares the key or token of a request with the file of the service, which may change at any time.

A service that asks for neither is for this machine. A page in a browser here is not: it may have its own name resolved
to this machine, and would then read the answers. So such a service answers to an address or `localhost` alone.
"""

from __future__ import annotations

import os
import re
import socket
import sys
import time
from pathlib import Path

from runyard.contracts.services.access import Access, hash_of, owner_token
from runyard.contracts.services.worker import USER_TOKEN_HEADER, Authentication
from runyard.serving.failure import CannotServe
from runyard.serving.http.head import Head
from runyard.system.json_files import BadFile

NOT_FOR_US = (
    "This service asks for no key, so that it answers to localhost and to addresses alone: a web page could have any "
    "other name lead here. Give it keys (authentication=key), or allow_unauthenticated=true if everybody may call it; "
    "for a package, set SERVICE_KEY or start it with --any-name."
)
LOOK_SECONDS = 0.5
"""How often the file is looked at."""


_OF_THIS_MACHINE = re.compile(r"(?:\[[0-9a-fA-F:.]+\]|[0-9.]+|(?:[a-z0-9-]+\.)*localhost)\.?(?::[0-9]+)?$", re.I).match


class Guard:
    """`any_name`: whether callers may know a service without keys by any name of this machine."""

    def __init__(
        self, authentication: Authentication, service: str, user_token_hash: str = "", any_name: bool = True
    ) -> None:
        self._any_name = any_name or authentication.mode != "none"
        self._mode, self._service = authentication.mode, service
        self._owner = [user_token_hash, hash_of(owner_token(user_token_hash, service))] if user_token_hash else []
        self._path = Path(authentication.file)
        self._seen: tuple[int, int, int] | None = None
        self._looked = 0.0
        self._access = Access()
        if self._mode != "none":
            try:
                self._look()
            except (OSError, BadFile) as error:
                raise CannotServe(f"The keys of the service cannot be read: {error}") from error

    @property
    def open(self) -> bool:
        """Whether everybody may ask."""
        return self._mode == "none"

    def knows(self, head: Head) -> bool:
        """Whether the request is for a name under which the service may be called."""
        if self._any_name:
            return True
        if head.for_us is None:
            host = head.headers.get("host", "")
            head.for_us = not host or bool(_OF_THIS_MACHINE(host)) or host.partition(":")[0] == socket.gethostname()
        return head.for_us

    def lets(self, head: Head) -> bool:
        if self._mode == "none":
            return True
        now = time.monotonic()
        if now - self._looked > LOOK_SECONDS:
            self._looked = now
            try:
                self._look()
            except (OSError, BadFile) as error:  # those that were read last stay valid
                print(f"The keys of the service cannot be read again: {error}", file=sys.stderr)
        if head.opened_by is self._access:
            return True
        scheme, _, shown = head.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not self._access.opens(self._mode, self._service, shown.strip(), time.time()):
            return False
        if self._mode == "key":  # a token is compared each time: it ends
            head.opened_by = self._access
        return True

    def is_users(self, head: Head) -> bool:
        """Whether the request shows the user's own token, and may see the inside of errors."""
        shown = head.headers.get(USER_TOKEN_HEADER)
        return bool(shown and self._owner) and Access(keys=self._owner).opens("key", "", shown or "", 0)

    def _look(self) -> None:
        status = os.stat(self._path)
        seen = (status.st_mtime_ns, status.st_size, status.st_ino)
        if seen != self._seen:
            self._access = Access.read(self._path)
            self._seen = seen


__all__ = ["Guard", "hash_of"]
