"""The part of `Run` for its child runs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Iterator, Mapping, Sequence

from runyard.sdk.exceptions import UserErrorException
from runyard.sdk.run.core import RunCore
from runyard.sdk.run.listing import listed_runs
from runyard.sdk.submit.run_request import INTERACTIVE_TYPE, make_run
from runyard.sdk.telemetry import telemetry

if TYPE_CHECKING:
    from runyard.sdk.run.run import Run

MOST_CHILDREN = 100
BATCH_TAG = "azureml.batch_child_number"


class RunChildren(RunCore):
    """child_run, create_children, submit_child, get_children, parent."""

    @property
    def parent(self) -> Run | None:
        """The parent of this run; None when it has none."""
        from runyard.sdk.run.types import run_of

        parent = self._cached()["parent_id"]
        return run_of(self._experiment.workspace, parent) if parent is not None else None

    def child_run(
        self, name: str | None = None, run_id: str | None = None, outputs: str | os.PathLike[str] | None = None
    ) -> Run:
        """Create a child run and start it; this process leads it."""
        known = self._document
        above = (known["name"] or self._run_id) if known is not None else self._run_id
        child = self._make_child({"name": f"{above}>{name}" if name else None, "display_name": name}, run_id, lead=True)
        if outputs is not None:
            child._outputs = Path(outputs).absolute()
            child._outputs.mkdir(parents=True, exist_ok=True)
        return child

    def create_children(
        self, count: int | None = None, tag_key: str | None = None, tag_values: Sequence[object] | None = None
    ) -> list[Run]:
        """Create several child runs, to be started later: `count` of them, or one per value of a tag."""
        if (count is None) == (tag_key is None and tag_values is None):
            raise UserErrorException("create_children takes either count, or tag_key and tag_values.")
        if count is not None:
            if isinstance(count, bool) or not isinstance(count, int) or count < 1:
                raise UserErrorException(f"The number of children must be a whole number from 1 on, not {count!r}.")
            tag_key, values = BATCH_TAG, [str(number) for number in range(count)]
        else:
            if not tag_key or not tag_values:
                raise UserErrorException("create_children needs both tag_key and tag_values, and neither empty.")
            values = [str(value) for value in tag_values]
        if len(values) > MOST_CHILDREN:
            raise UserErrorException(f"At most {MOST_CHILDREN} children are made at once; these are {len(values)}.")
        return [self._make_child({"tags": {tag_key: value}, "start": False}, None, lead=False) for value in values]

    def submit_child(self, config: object, tags: Mapping[str, object] | None = None, **kwargs: Any) -> Run:
        """Submit a child run, as `Experiment.submit` does."""
        from runyard.sdk.submit.submit import submit_config

        return submit_config(self._experiment, config, tags, parent_id=self._run_id, **kwargs)

    def get_children(
        self,
        recursive: bool = False,
        tags: object = None,
        properties: object = None,
        type: str | None = None,
        status: str | None = None,
        _rehydrate_runs: bool = True,
    ) -> Iterator[Run]:
        """The child runs, newest first; with `recursive`, all descendants."""
        from runyard.sdk.run.types import run_from

        self._deliver_before_reading()
        place = {"root" if recursive else "parent": self._run_id, "include_children": True}
        for document in listed_runs(self._service, place, type, tags, properties, status):
            yield run_from(self._experiment.workspace, document)

    def _make_child(self, wanted: dict[str, Any], run_id: str | None, lead: bool) -> Run:
        from uuid import uuid4

        from runyard.sdk.run.run import Run

        document = make_run(
            self._service,
            {
                **wanted,
                "kind": "child",
                "type": INTERACTIVE_TYPE,
                "parent_id": self._run_id,
                "run_id": run_id or str(uuid4()),
            },
            chosen=run_id is not None,
        )
        own_telemetry = self._own_telemetry
        if own_telemetry is None and lead:
            own_telemetry = telemetry.led(self._service, document["id"], document.get("token"))
        return Run(self._experiment, document["id"], _document=document, _own_telemetry=own_telemetry)
