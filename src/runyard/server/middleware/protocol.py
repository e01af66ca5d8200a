"""Versions on the wire: refuses clients that this server would misunderstand, and adds its own to responses."""

from __future__ import annotations

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from runyard import __version__
from runyard.contracts import OLDEST_PROTOCOL, PROTOCOL
from runyard.server.middleware.problems import document


class ProtocolCheck:
    """ASGI middleware. Only /api/ is checked: whoever looks for a server's health need not speak its protocol."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def marked_send(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)["X-Runyard-Version"] = __version__
            await send(message)

        refusal = _no_text(scope) or (_refusal(Headers(scope=scope)) if scope["path"].startswith("/api/") else None)
        await (refusal or self._app)(scope, receive, marked_send)


def _no_text(scope: Scope) -> Response | None:
    """The one character that no name here holds, and that not every database can look up."""
    if "\0" in scope["path"] or b"%00" in scope["query_string"]:
        return document("bad_request", "The address holds a NUL character.", "Leave it out.")
    return None


def _refusal(headers: Headers) -> Response | None:
    given = headers.get("X-Runyard-Protocol")
    if given is None:
        return None
    try:
        protocol = int(given)
    except ValueError:
        return document("bad_request", f"X-Runyard-Protocol is {given[:40]!r}, which is not a number.")
    if OLDEST_PROTOCOL <= protocol <= PROTOCOL:
        return None
    version = headers.get("X-Runyard-Version", "of an unknown version")[:40]
    spoken = str(PROTOCOL) if PROTOCOL == OLDEST_PROTOCOL else f"{OLDEST_PROTOCOL} to {PROTOCOL}"
    title = (
        f"The client (Runyard {version}) speaks protocol {protocol}, "
        f"the server (Runyard {__version__}) speaks protocol {spoken}."
    )
    detail = {"client": version, "server": __version__, "protocol": PROTOCOL, "oldest_protocol": OLDEST_PROTOCOL}
    if protocol < OLDEST_PROTOCOL:
        help = "Upgrade Runyard where the client runs; `runyard doctor` there says how."
        return document("client_too_old", title, help, detail)
    # The command would show a stranger this machine's folders.
    help = (
        "Upgrade Runyard where the server runs (`runyard doctor` there says how), then restart it (`runyard down`, "
        "`runyard up`). If that machine has the new version already, a restart is enough."
    )
    return document("client_too_new", title, help, detail)
