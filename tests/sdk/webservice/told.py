"""Documents of services as the server sends them, for tests that need none to run."""

from __future__ import annotations

from typing import Any


def service(kind: str = "aci", **more: Any) -> dict[str, Any]:
    """A service that is up; `more` replaces parts of it."""
    return {
        "name": "birds",
        "id": "0123",
        "workspace": "local",
        "kind": kind,
        "state": "Healthy",
        "error": None,
        "scoring_uri": "http://localhost:4321/score",
        "swagger_uri": "http://localhost:4321/swagger.json",
        "port": 4321,
        "revision": 2,
        "revisions": [
            {"number": 1, "models": ["bird:1"], "entry_script": "score.py", "environment": "env", "settings": {}},
            {"number": 2, "models": ["bird:2"], "entry_script": "score.py", "environment": "env", "settings": {}},
        ],
        "versions": [],
        "replicas": [{"run_id": "r", "revision": 2, "state": "ready", "memory": 1 << 26}],
        "settings": {
            "cpu": 1,
            "memory_gb": 0.5,
            "replicas": 1,
            "authentication": "none",
            "concurrency": 1,
            "queue_wait_ms": 500,
            "scoring_timeout_ms": 60000,
            "autoscale": {"enabled": True, "min": 1, "max": 10, "target_utilization": 70, "refresh_seconds": 1},
            "probes": {
                "period_seconds": 10,
                "initial_delay_seconds": 310,
                "timeout_seconds": 2,
                "success_threshold": 1,
                "failure_threshold": 3,
            },
        },
        "tags": {"stage": "test", "owner": "me"},
        "properties": {"made": "here"},
        "description": "of birds",
        "compute_target": None,
        "created_at": "2026-11-17T10:00:00.250Z",
        "updated_at": "2026-11-17T10:00:01Z",
        "operation": {"id": "op1", "state": "Succeeded", "steps": [], "error": None},
        **more,
    }
