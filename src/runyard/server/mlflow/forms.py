"""What MLflow's clients send: the parts that many requests have. Unknown fields are ignored, and whole numbers may come
as texts."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from typing import Annotated

from fastapi import Depends, Query
from pydantic import BaseModel, BeforeValidator, ConfigDict

from runyard.store.tables import EPOCH

LATEST = datetime(9999, 1, 1, tzinfo=timezone.utc)


class Form(BaseModel):
    model_config = ConfigDict(extra="ignore", coerce_numbers_to_str=True, protected_namespaces=())


def _flat(value: object) -> object:
    return "" if value is None else value


Text = Annotated[str, BeforeValidator(_flat)]
"""A text; null is an empty one."""


class Pair(Form):
    """A tag or a parameter."""

    key: str
    value: Text = ""


class RunNamed(Form):
    """A request about one run, which older clients name by `run_uuid`."""

    run_id: str | None = None
    run_uuid: str | None = None

    @property
    def run(self) -> str:
        return self.run_id or self.run_uuid or ""


class Search(Form):
    """What is sought, in which order, and how much of it."""

    filter: str | None = None
    max_results: int | None = None
    order_by: list[str] | None = None
    page_token: str | None = None


async def _sought(
    filter: str | None = None,
    max_results: int | None = None,
    order_by: Annotated[list[str] | None, Query()] = None,
    page_token: str | None = None,
) -> Search:
    return Search(filter=filter, max_results=max_results, order_by=order_by, page_token=page_token)


Sought = Annotated[Search, Depends(_sought)]
"""A search that comes as an address."""


def pairs(given: list[Pair] | None) -> dict[str, str]:
    return {each.key: each.value for each in given or []}


def listed(given: Mapping[str, str | None]) -> list[dict[str, str]]:
    """Tags or parameters as MLflow lists them."""
    return [{"key": key, "value": value or ""} for key, value in given.items()]


def moment(milliseconds: int | None) -> datetime | None:
    """A time that a client has sent; one that no calendar has is brought into its bounds."""
    if milliseconds is None:
        return None
    most = (LATEST - EPOCH) // timedelta(milliseconds=1)
    return EPOCH + timedelta(milliseconds=min(max(milliseconds, 0), most))
