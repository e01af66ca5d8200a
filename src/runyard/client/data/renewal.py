"""New addresses for files whose signed ones have expired, from the server that signed them."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any, Mapping

from runyard.client.data.listing import listing
from runyard.client.http import Client, Locator
from runyard.client.problems import ClientProblem

EVERY = 30.0  # seconds between two listings: a refusal may have other reasons than an old address


class Renewal:
    """Lists a dataset again, at most now and then, and gives the address that a file has by now."""

    def __init__(self, client: Client, address: str) -> None:
        self._client, self._address = client, address
        self._lock = threading.Lock()
        self._listed_at = -EVERY
        self._urls: dict[str, str] = {}

    @staticmethod
    def of(order: Mapping[str, Any] | None) -> Renewal | Nothing:
        """From `as_order`; of None, what has no new addresses."""
        if not order:
            return Nothing()
        file = Path(str(order["server_file"])) if order.get("server_file") else None
        return Renewal(Client(Locator(str(order["url"]), str(order["token"]), file)), str(order["address"]))

    def __call__(self, each: Mapping[str, Any]) -> str | None:
        with self._lock:
            if time.monotonic() - self._listed_at >= EVERY:
                self._listed_at = time.monotonic()
                try:
                    found = listing(lambda path, params: self._client.get(path, dict(params)), self._address)
                except ClientProblem:
                    return None
                self._urls = {str(file["path"]): str(file["url"]) for file in found.files if file.get("url")}
        url = self._urls.get(str(each["path"]))
        return None if url == each["url"] else url


class Nothing:
    """Addresses that do not expire."""

    def __call__(self, each: Mapping[str, Any]) -> str | None:
        return None


def as_order(url: str, token: str, server_file: str | None, address: str) -> dict[str, Any]:
    """What `Renewal.of` makes one from, in another process."""
    return {"url": url, "token": token, "server_file": server_file, "address": address}
