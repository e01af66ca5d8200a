"""What the browser is told to refuse, and which requests of a browser are refused: those that another site has caused.

A page of another site can make a browser send requests here, with the session's cookie if it counts as the same site
(another port of this machine does). So whatever comes with the cookie alone must come from a page of this server, and
whatever changes something must carry a header besides, which browsers let no other site set. A name of another site
that is made to lead to this machine is none that a session was opened under, and gets no page at all.
"""

from __future__ import annotations

import ipaddress
import socket
from functools import lru_cache
from urllib.parse import urlsplit

from starlette.datastructures import Headers

from runyard.server.settings import Settings

CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "font-src 'self'; frame-src 'self'; frame-ancestors 'self'; base-uri 'none'; form-action 'self'"
)

HEADERS = {
    "Content-Security-Policy": CONTENT_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
"""What every page of the studio carries."""

MARK = "X-Runyard-Studio"
"""The header of every change that a page of the studio makes."""

_READING = ("GET", "HEAD")


def host_of(headers: Headers) -> str:
    """Under which address the sender of a request knows the server, in small letters and with the port."""
    return headers.get("host", "").strip().lower()


def is_own_name(host: str, settings: Settings) -> bool:
    """Whether a name may lead here without a session that was opened under it: addresses, and names that only this
    machine's own administrator can give."""
    try:
        name = urlsplit(f"//{host}").hostname if host and "@" not in host else None
    except ValueError:  # brackets that belong to no address
        return False
    if not name:
        return False
    try:
        ipaddress.ip_address(name)
    except ValueError:
        known = {"localhost", (settings.host or "").lower(), urlsplit(settings.url).hostname, *_machine()}
        return name in known or name.endswith(".localhost")
    return True


def foreign(method: str, headers: Headers, marks: bool = True) -> str | None:
    """Why a request that shows no more than the session's cookie is taken for another site's; None when it is not.

    Pages that were not made here give their changes no mark (`marks`). Then the browser's word must do: it says with
    every change which page it comes from.
    """
    host, origin = host_of(headers), headers.get("origin")
    if origin is not None and origin.lower().partition("://")[2] != host:
        return f"It comes from a page of {origin[:200]}."
    site = headers.get("sec-fetch-site", "same-origin")
    if site not in ("same-origin", "none"):
        return "Another site has caused it."
    if method not in _READING:
        if marks and MARK.lower() not in headers:
            return f"A change needs the header {MARK}."
        if not marks and origin is None:
            return "It does not say which page it comes from (`Origin`)."
    return None


@lru_cache(maxsize=1)
def _machine() -> tuple[str, ...]:
    name = socket.gethostname().lower()
    return (name, name.partition(".")[0], f"{name.partition('.')[0]}.local")
