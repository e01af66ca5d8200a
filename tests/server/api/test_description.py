"""The description of the API: which token each route needs."""

from __future__ import annotations

from runyard.server.api.description import DescribedApp


def test_each_route_says_which_token_it_needs() -> None:
    app = DescribedApp()
    for path in ("/health", "/api/runs/{run_id}", "/runs/{run_id}"):
        app.add_api_route(path, lambda: None)
    described = app.openapi()
    needed = {path: methods["get"]["security"] for path, methods in described["paths"].items()}
    assert needed == {"/health": [], "/api/runs/{run_id}": [{"token": []}], "/runs/{run_id}": [{"key": []}]}
    assert set(described["components"]["securitySchemes"]) == {"token", "key"}
    assert app.openapi() is described  # made once
