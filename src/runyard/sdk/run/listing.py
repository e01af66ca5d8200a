"""Listing runs page by page, with SDK v1's filters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterator, Mapping, Sequence

from runyard.sdk.exceptions import UserErrorException
from runyard.sdk.notices import notice_once
from runyard.sdk.workspace.service import Service

if TYPE_CHECKING:
    from runyard.contracts.documents import RunDocument

PAGE = 200


def label_filter(kind: str, labels: object) -> list[str]:
    """A filter as the server takes it: `key`, or `key=value`. SDK v1 takes a key, a dict, or a list of keys.

    >>> label_filter("tags", {"model": "resnet"}), label_filter("tags", "good"), label_filter("tags", ["a", ["b", "1"]])
    (['model=resnet'], ['good'], ['a', 'b=1'])
    """
    if labels is None:
        return []
    if isinstance(labels, str):
        return [labels]
    if isinstance(labels, Mapping):
        return [str(key) if value is None else f"{key}={value}" for key, value in labels.items()]
    if isinstance(labels, Sequence):
        found = []
        for label in labels:
            if isinstance(label, (list, tuple)) and len(label) == 2:
                found.append(f"{label[0]}={label[1]}")
            elif isinstance(label, Mapping):
                found.extend(label_filter(kind, label))
            else:
                found.append(str(label))
        return found
    raise UserErrorException(f"The filter {kind} takes a text, a dict or a list, not a {type(labels).__name__}.")


def listed_runs(
    service: Service,
    place: Mapping[str, Any],
    type: str | None = None,
    tags: object = None,
    properties: object = None,
    status: str | None = None,
) -> Iterator[RunDocument]:
    """The runs of an experiment, a parent or a target, newest first, fetched page by page."""
    after = None
    params = {
        **place,
        "type": type,
        "tag": label_filter("tags", tags),
        "property": label_filter("properties", properties),
        "status": status,
        "limit": PAGE,
    }
    while True:
        page = service.get("/api/runs", {**params, "after": after})
        yield from page["runs"]
        tell_of_damage(page)
        after = page["next"]
        if after is None:
            return


def tell_of_damage(page: Mapping[str, Any]) -> None:
    """Log a notice about runs that are missing from a list because the server cannot read them."""
    for problem in page.get("damaged") or ():
        notice_once(str(problem["title"]), f"A run is left out of the list. {problem['title']} {problem['help']}")
