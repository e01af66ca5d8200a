"""Keys and tokens of a service: the file that its workers read, and tokens that expire.

A worker never has a key itself, only its hash. A token is a JSON Web Token signed with HMAC-SHA-256: it names the
service and the moment it ends, and is checked without asking anybody.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from pathlib import Path
from typing import Any

from runyard.system.json_files import made_of, read_object
from runyard.system.records import asdict, field, record


@record(frozen=True)
class Access:
    """What the file of a service's `Authentication` holds. Write it aside and rename it: workers read it any time."""

    keys: list[str] = field(default_factory=list)  # SHA-256 of each key that is valid, in hexadecimal
    token_secret: str = ""  # what tokens are signed with

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def read(path: Path) -> Access:
        return made_of(Access, read_object(path), path)

    def opens(self, mode: str, service: str, shown: str, now: float) -> bool:
        """Whether a key or token lets its holder ask this service. Takes as long for a wrong one as for a right one."""
        if mode == "token":
            return token_is_valid(self.token_secret, service, shown, now)
        found = hash_of(shown)
        right = False
        for each in self.keys:
            right |= hmac.compare_digest(found, each)
        return right


def hash_of(key: str) -> str:
    """
    >>> hash_of("a key")[:8]
    '8fa3aab2'
    """
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()


def owner_token(user_token_hash: str, service: str) -> str:
    """What whoever has the user's token shows a service to get its errors in full: made of it, and good for nothing
    else, so that a script, or another program at the service's port, never sees the user's token.

    >>> owner_token(hash_of("mine"), "adds") == owner_token(hash_of("mine"), "other")
    False
    """
    return hash_of(f"errors of {service} for {user_token_hash}")


def issue_token(secret: str, service: str, now: float, expires_at: float) -> str:
    """A token for a service, valid until `expires_at` (seconds since 1970).

    >>> token = issue_token("secret", "mine", 0, 60)
    >>> [token_is_valid("secret", "mine", token, now) for now in (59, 61)], token_is_valid("secret", "other", token, 1)
    ([True, False], False)
    """
    claims = {"sub": service, "iat": int(now), "exp": int(expires_at)}
    signed = f"{_packed({'alg': 'HS256', 'typ': 'JWT'})}.{_packed(claims)}"
    return f"{signed}.{_signature(secret, signed)}"


def token_is_valid(secret: str, service: str, token: str, now: float) -> bool:
    signed, _, signature = token.rpartition(".")
    if not secret or not hmac.compare_digest(_signature(secret, signed).encode(), signature.encode("utf-8", "replace")):
        return False
    try:
        claims = json.loads(base64.urlsafe_b64decode(signed.partition(".")[2] + "=="))
    except (ValueError, RecursionError):
        return False
    until = claims.get("exp") if isinstance(claims, dict) else None
    return isinstance(until, int) and now < until and claims.get("sub") == service


def _packed(part: dict[str, object]) -> str:
    return base64.urlsafe_b64encode(json.dumps(part, separators=(",", ":")).encode()).rstrip(b"=").decode()


def _signature(secret: str, signed: str) -> str:
    made = hmac.new(secret.encode(), signed.encode("utf-8", "replace"), hashlib.sha256).digest()
    return base64.urlsafe_b64encode(made).rstrip(b"=").decode()
