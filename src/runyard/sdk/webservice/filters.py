"""Which services a list is about: those of a kind, with a model, with labels."""

from __future__ import annotations

from typing import Any, Mapping, Sequence

from runyard.sdk.exceptions import WebserviceException
from runyard.sdk.webservice.wire import Document


def kind_of(compute_type: str) -> str:
    """What the server calls a kind of services of SDK v1."""
    named = {"ACI": "aci", "AKS": "aks", "AKSENDPOINT": "endpoint", "AKS_ENDPOINT": "endpoint", "LOCAL": "local"}
    known = named.get(str(compute_type).upper())
    if known is None:
        raise WebserviceException(f"compute_type is one of ACI, AKS, AKSENDPOINT and LOCAL, not {compute_type!r}.")
    return known


def has_model(document: Document, name: str | None, id: str | None) -> bool:
    if name is None and id is None:
        return True
    current = [each for each in document.get("revisions") or () if each["number"] == document.get("revision")]
    served = [model for each in current or document.get("revisions") or () for model in each.get("models") or ()]
    return (id is None or id in served) and (name is None or name in [each.rpartition(":")[0] for each in served])


def has_labels(labels: Mapping[str, str], wanted: Sequence[Any] | None, what: str) -> bool:
    """Whether all of `wanted` are among them: names, or pairs of a name and a value."""
    if wanted is None:
        return True
    if isinstance(wanted, (str, Mapping)):
        raise WebserviceException(f"{what} are a list of names, or of pairs: ['stage', ['owner', 'me']].")
    for each in wanted:
        key, *value = [each] if isinstance(each, str) else list(each)
        if key not in labels or (value and labels[key] != str(value[0])):
            return False
    return True
