"""Putting the secrets of a stored launch back where its processes need them: the plan is read by them alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from runyard.contracts import secrets


def reveal(launch: Mapping[str, Any], secret_of: Callable[[str], str]) -> tuple[dict[str, Any], dict[str, str]]:
    """A launch with its secrets in place, and those of its environment by name.

    The names stay in the environment: whoever builds it gets the values beside it, and logs the names.
    """
    values = {name: secret_of(name) for name in sorted(secrets.names_in(launch))}
    if not values:
        return dict(launch), {}
    revealed = {
        key: value if key in ("environment", "notes") else _in_place(value, values) for key, value in launch.items()
    }
    return revealed, {name: values[name] for name in sorted(secrets.names_in(launch.get("environment")))}


def _in_place(document: Any, values: Mapping[str, str]) -> Any:
    if isinstance(document, str):
        return secrets.reveal(document, values)
    if isinstance(document, Mapping):
        return {key: _in_place(value, values) for key, value in document.items()}
    if isinstance(document, list):
        return [_in_place(each, values) for each in document]
    return document
