"""Tags and properties as the server keeps them: texts by name."""

from __future__ import annotations

from typing import Mapping

from runyard.sdk.exceptions import UserErrorException
from runyard.sdk.notices import notice


def checked_labels(kind: str, labels: Mapping[str, object], none_allowed: bool) -> dict[str, str | None]:
    """Labels (`kind`: "tags" or "properties") as texts. Values of other types become texts, with a notice."""
    if not isinstance(labels, Mapping):
        raise UserErrorException(f"The {kind} must be a dict, not a {type(labels).__name__}.")
    checked: dict[str, str | None] = {}
    for key, value in labels.items():
        if value is None and none_allowed:
            checked[str(key)] = None
            continue
        if not isinstance(value, str):
            one = "tag" if kind == "tags" else "property"
            notice(
                f"The {one} {key!r} has a value of the type {type(value).__name__}; its text {str(value)!r} is kept."
            )
        checked[str(key)] = str(value)
    return checked
