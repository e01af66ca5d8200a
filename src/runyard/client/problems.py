"""What can go wrong with a request: it was refused, or there was no response."""

from __future__ import annotations

import json
from typing import Any, Mapping


class ClientProblem(Exception):
    """A request that was refused, or got no response. Fields as in the problem documents of the protocol."""

    def __init__(
        self, code: str, title: str, help: str = "", status: int = 0, detail: dict[str, Any] | None = None
    ) -> None:
        super().__init__(f"{title} {help}".rstrip())
        self.code, self.title, self.help, self.status = code, title, help, status
        self.detail: dict[str, Any] = detail or {}


class Unreachable(ClientProblem):
    """No response: `sent` is true when the server may have received the request nevertheless."""

    def __init__(self, url: str, reason: BaseException, sent: bool, help: str) -> None:
        from runyard.contracts.secrets import mask

        cause = str(reason) or type(reason).__name__
        super().__init__("server_unreachable", f"The Runyard server at {mask(url)} does not answer ({cause}).", help)
        self.sent = sent


def problem(status: int, content: bytes, url: str) -> ClientProblem:
    """The refusal in a response, also when it comes from something that is no Runyard server."""
    try:
        return of_document(json.loads(content), status)
    except (ValueError, KeyError, TypeError):
        from runyard.contracts.secrets import mask

        excerpt = content[:200].decode("utf-8", "replace").strip()
        return ClientProblem(
            f"http_{status}",
            f"{mask(url)} answered with HTTP status {status} and no reason that Runyard knows: {excerpt!r}.",
            "Check that this is the address of a Runyard server.",
            status,
        )


def of_document(document: Mapping[str, Any], status: int) -> ClientProblem:
    """The refusal that a problem document describes; KeyError or TypeError when it is none."""
    code, title = str(document["code"]), str(document["title"])
    detail = document.get("detail")
    help = _upgrade_of_this_client() if code == "client_too_old" else str(document.get("help") or "")
    return ClientProblem(code, title, help, status, detail if isinstance(detail, dict) else {})


def _upgrade_of_this_client() -> str:
    """The server does not know how this client was installed."""
    from runyard.contracts.installation import installation

    return f"Upgrade Runyard where this client runs: `{installation().upgrade()}`."
