"""What /openapi.json has beyond the routes: which token each of them needs."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI

OPEN = ("/", "/health", "/ready")
"""Routes that ask for no token at all."""

_TOKEN = {"type": "http", "scheme": "bearer", "description": "The user's token, or the token of a run."}
_KEY = {"type": "apiKey", "in": "query", "name": "key", "description": "The key in a run's `web_url`."}


class DescribedApp(FastAPI):
    def openapi(self) -> dict[str, Any]:
        if self.openapi_schema is None:
            described = super().openapi()
            described.setdefault("components", {})["securitySchemes"] = {"token": _TOKEN, "key": _KEY}
            for path, methods in described["paths"].items():
                for operation in methods.values():
                    operation["security"] = _needed(path)
        return super().openapi()


def _needed(path: str) -> list[dict[str, list[str]]]:
    if path in OPEN:
        return []
    return [{"key": []}] if path.startswith("/runs/") else [{"token": []}]
