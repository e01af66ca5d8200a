"""Keeping secrets out of what is stored and shown: credentials in addresses, and the passwords of image registries.

In a stored definition a secret is a name such as `${RUNYARD_SECRET_1f0c...}`, in the form in which requirements files
name variables. The values are stored beside the database, in files that only the user can read; builders receive them.

Any text of users passes through here, so no pattern may scan the same characters repeatedly: each begins at
a character that cannot be part of what it then matches.
"""

from __future__ import annotations

import re
from typing import Any, Callable, Iterable, Mapping

PREFIX = "RUNYARD_SECRET_"
SHOWN = "***"
"""What replaces a secret in a text for people."""

_REFERENCE = re.compile(r"\$\{(" + PREFIX + r"[0-9a-f]+)\}")
_VARIABLES = re.compile(r"(?:\$\{\w+\}:?)+|\$\w+")
_PASSWORDS = ("password", "registry_password")

_LOGIN = re.compile(r"(?<=://)(?P<secret>[^/?#\s\"]+)@")
_PARAMETER = re.compile(r"(?<=[?&;])(?P<name>[\w.-]{1,64})=(?P<secret>[^?&#;\s'\"]+)", re.ASCII)
_SIGNATURE = re.compile(
    r"(?:^|[-_.])(?:sig|key|pwd|pass|auth|jwt)$"
    r"|(?:signature|token|secret|password|passwd|apikey|accesskey|accountkey|sharedaccesskey|credentials?)$",
    re.IGNORECASE,
)
"""Parameters that are credentials: `sig` of a storage account, `X-Amz-Signature`, `AccountKey`, `access_token`."""

_WORD = re.compile(r"[^\s'\"]+")
_CHANNEL_TOKEN = re.compile(r"(?<=/t/)(?P<secret>[^/?#]+)")
_BARE_CHANNEL_TOKEN = re.compile(r"(?<=\bt/)(?P<secret>tk-[\w-]{8,}|[a-z]{2}-[0-9a-f]{8}-[0-9a-f-]{27})", re.ASCII)
"""What conda's channels carry as `/t/<token>/`: after a host any text, else one that has the form of a token."""


def veil(document: Any, store: Callable[[str], str]) -> Any:
    """A copy of a JSON document in which each secret value is replaced by the name that `store(value)` returns."""
    if isinstance(document, str):
        return _replace(document, lambda secret: f"${{{store(secret)}}}") if _may_hold_one(document) else document
    if isinstance(document, (dict, Mapping)):  # a dict is known at once, an abstract class asks around
        return {key: _veil_entry(key, value, store) for key, value in document.items()}
    if isinstance(document, (list, tuple)):
        return [veil(each, store) for each in document]
    return document


def names_in(document: Any) -> set[str]:
    """The names of the secrets that a document refers to."""
    if isinstance(document, str):
        return set(_REFERENCE.findall(document)) if PREFIX in document else set()
    if document is None or isinstance(document, (int, float)):  # most values: the abstract class is not asked
        return set()
    if isinstance(document, (dict, Mapping)):
        document = list(document.values())
    if isinstance(document, (list, tuple)):
        return {name for each in document for name in names_in(each)}
    return set()


def is_reference(text: str) -> bool:
    """Whether the text is the name of a secret and nothing else."""
    return _REFERENCE.fullmatch(text) is not None


def reveal(text: str, values: Mapping[str, str]) -> str:
    """The text with the secrets in place; a name that is not known stays."""
    return _REFERENCE.sub(lambda match: values.get(match[1], match[0]), text)


def mask(text: str, values: Iterable[str] = ()) -> str:
    """The text as it may be shown: with no credentials in addresses, and with none of `values`.

    >>> mask("looking at https://me:secret@host/simple and https://host/data?sv=1&sig=s3cr3t")
    'looking at https://***@host/simple and https://host/data?sv=1&sig=***'
    """
    for value in values:
        if len(value) > 3:
            text = text.replace(value, SHOWN)
    return _replace(text, lambda secret: SHOWN) if _may_hold_one(text) else text


def mask_all(document: Any) -> Any:
    """A copy of a JSON document in which every text is as it may be shown."""
    if isinstance(document, str):
        return mask(document)
    if isinstance(document, (dict, Mapping)):
        return {key: mask_all(value) for key, value in document.items()}
    if isinstance(document, (list, tuple)):
        return [mask_all(each) for each in document]
    return document


def _veil_entry(key: str, value: Any, store: Callable[[str], str]) -> Any:
    if key.lower() in _PASSWORDS and isinstance(value, str) and value and not _VARIABLES.fullmatch(value):
        return f"${{{store(value)}}}"
    return veil(value, store)


def _may_hold_one(text: str) -> bool:
    """Whether a text has a mark of what `_replace` looks for. Most have none."""
    return "=" in text or "t/" in text or "://" in text


def _replace(text: str, hidden: Callable[[str], str]) -> str:
    """The text with `hidden(secret)` in the place of each secret."""

    def instead(match: re.Match[str]) -> str:
        return match["secret"] if _is_open(match["secret"]) else hidden(match["secret"])

    def login(match: re.Match[str]) -> str:
        return f"{hidden(match['secret'])}@" if _is_login(match) else match[0]

    def parameter(match: re.Match[str]) -> str:
        return f"{match['name']}={instead(match)}" if _SIGNATURE.search(match["name"]) else match[0]

    if "://" in text:
        text = _LOGIN.sub(login, text)
        if "/t/" in text:
            text = _WORD.sub(lambda match: _channel(match[0], instead), text)
    if "t/" in text:
        text = _BARE_CHANNEL_TOKEN.sub(instead, text)
    if "=" in text:
        text = _PARAMETER.sub(parameter, text)
    return text


def _channel(text: str, instead: Callable[[re.Match[str]], str]) -> str:
    """A text with the token of a conda channel replaced, where it is an address on another machine."""
    scheme, mark, place = text.partition("://")
    if not mark or scheme.lower().endswith("file"):
        return text
    return f"{scheme}{mark}{_CHANNEL_TOKEN.sub(instead, place)}"


def _is_login(match: re.Match[str]) -> bool:
    """A user name alone is no secret where it is only a login name (`git+ssh://git@host`)."""
    user, colon, password = match["secret"].partition(":")
    if colon:
        return not (_is_open(password) or _is_open(match["secret"]))
    scheme = match.string[max(0, match.start() - len("https://")) : match.start() - len("://")]
    return scheme.lower().endswith(("http", "https")) and not _is_open(user)


def _is_open(secret: str) -> bool:
    """Whether it is the name of a variable, and not its value."""
    return not secret or secret == SHOWN or _VARIABLES.fullmatch(secret) is not None
