"""Keeping secrets out of what is stored and shown: credentials in addresses, and the passwords of image registries.

In a stored definition a secret is a name such as `${RUNYARD_SECRET_1f0c...}`, in the form in which requirements files
name variables. The values lie beside the database, in files that only the user can read; whoever builds is handed them.
"""

from __future__ import annotations

import re
from typing import Any, Callable, Iterable, Mapping

PREFIX = "RUNYARD_SECRET_"

_REFERENCE = re.compile(r"\$\{(" + PREFIX + r"[0-9a-f]+)\}")
_VARIABLES = re.compile(r"(\$\{\w+\}:?)+")
_CREDENTIALS = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]*)://(?P<secret>[^/?#\s'\"]+)@", re.IGNORECASE)
_PASSWORDS = ("password", "registry_password")


def veil(document: Any, keep: Callable[[str], str]) -> Any:
    """A copy of a JSON document in which `keep(value)`, the name of a secret, stands for each secret value."""
    if isinstance(document, str):
        return _veil_text(document, keep)
    if isinstance(document, Mapping):
        return {key: _veil_entry(key, value, keep) for key, value in document.items()}
    if isinstance(document, (list, tuple)):
        return [veil(each, keep) for each in document]
    return document


def names_in(document: Any) -> set[str]:
    """The names of the secrets that a document refers to."""
    if isinstance(document, str):
        return set(_REFERENCE.findall(document))
    if isinstance(document, Mapping):
        document = list(document.values())
    if isinstance(document, (list, tuple)):
        return {name for each in document for name in names_in(each)}
    return set()


def reveal(text: str, values: Mapping[str, str]) -> str:
    """The text with the secrets in place; a name that is not known stays."""
    return _REFERENCE.sub(lambda match: values.get(match[1], match[0]), text)


def mask(text: str, values: Iterable[str] = ()) -> str:
    """The text as it may be shown: with no credentials in addresses, and with none of `values`.

    >>> mask("looking at https://me:secret@host/simple")
    'looking at https://***@host/simple'
    """
    for value in values:
        if len(value) > 3:
            text = text.replace(value, "***")
    return _CREDENTIALS.sub(lambda match: f"{match['scheme']}://***@" if _is_secret(match) else match[0], text)


def _veil_entry(key: str, value: Any, keep: Callable[[str], str]) -> Any:
    if key.lower() in _PASSWORDS and isinstance(value, str) and value and not _VARIABLES.fullmatch(value):
        return f"${{{keep(value)}}}"
    return veil(value, keep)


def _veil_text(text: str, keep: Callable[[str], str]) -> str:
    def hidden(match: re.Match[str]) -> str:
        return f"{match['scheme']}://${{{keep(match['secret'])}}}@" if _is_secret(match) else match[0]

    return _CREDENTIALS.sub(hidden, text)


def _is_secret(match: re.Match[str]) -> bool:
    """A user name alone is none where it only says who logs in (`git+ssh://git@host`)."""
    secret = match["secret"]
    if _VARIABLES.fullmatch(secret):
        return False
    return ":" in secret or match["scheme"].lower().endswith(("http", "https"))
