"""Runs the checks of a file in every rank of a gang: each check is a function, and a report says how each went."""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any


def run_all(names: Mapping[str, Any]) -> None:
    """Call every `check_...` in the order of the file. One that fails in one rank only would leave the others waiting:
    the layer is asked to find that out, so no limit is set here."""
    wanted = os.environ.get("ONLY", "")
    report: dict[str, str] = {}
    for name, check in names.items():
        if not name.startswith("check_") or (wanted and name != wanted):
            continue
        try:
            check()
            report[name] = "ok"
        except BaseException:  # noqa: BLE001 - it goes into the report
            report[name] = traceback.format_exc()
            print(f"{name}:\n{report[name]}", file=sys.stderr, flush=True)
    path = os.path.join(os.environ["REPORTS"], f"{os.environ['RANK']}.json")
    with open(path + ".part", "w", encoding="utf-8") as file:
        json.dump(report, file)
    os.replace(path + ".part", path)


@contextmanager
def refused(kind: type[BaseException], *words: str) -> Iterator[None]:
    """As pytest.raises, which a rank does not have."""
    try:
        yield
    except kind as error:
        missing = [word for word in words if word not in str(error)]
        if missing:
            raise AssertionError(f"{missing} is not in: {error}") from error
    else:
        raise AssertionError(f"it was let pass, and should have raised {kind.__name__}")
