"""The same work in BentoML."""

from __future__ import annotations

from typing import Any

import bentoml  # type: ignore[import-not-found, unused-ignore]


@bentoml.service(workers=1)  # type: ignore[untyped-decorator, unused-ignore]
class Scored:
    @bentoml.api(route="/score")  # type: ignore[untyped-decorator, unused-ignore]
    def score(self, data: list[list[float]]) -> dict[str, Any]:
        return {"sum": sum(data[0])}
