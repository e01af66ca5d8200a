"""A server with one of everything in it, so that generated requests can name things that exist."""

from __future__ import annotations

import hashlib
import itertools
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from tests.server.conftest import Client, serve
from tests.support import broken_services

from runyard.contracts.delivery import Delivery, JournalPart, encode
from runyard.server.settings import Settings

WHEEL = "pkg-1.0-py3-none-any.whl"
JOURNAL = b'["v","loss",0.5,1700000000.0,1]\n["g",{"a":"b"}]\n["l","list",[1,true,null],1700000000.0]\n'

DATASET = {"definition": {"kind": "file", "sources": [{"url": "http://gone.example/a.txt"}], "steps": []}}


class RealThings:
    """What the requests may name, by the route and its parameters. What a request removes is made for it."""

    def __init__(self, client: Client, home: Path) -> None:
        self.client, self.home = client, home
        self._number = itertools.count()
        self._run = client.make_run()
        client.call("PUT", f"/api/runs/{self._run['id']}/files/outputs/a.txt", body=b"content")
        client.call("POST", f"/api/runs/{self._run['id']}/journals/1-ab?offset=0", body=JOURNAL)
        client.end(self._run)
        self._live = client.make_run()
        self._experiment = client.ok("PUT", "/api/workspaces/local/experiments/trial")
        client.ok("POST", "/api/workspaces/local/environments", {"definition": {"name": "env-a"}})
        client.call("PUT", f"/api/workspaces/local/wheels/{WHEEL}?exist_ok=true", body=b"wheel")
        client.ok("POST", "/api/workspaces/local/compute", {"name": "cluster", "max_nodes": 1})
        self._put = {"pattern": "env-*", "interpreter": "/usr/bin/python3"}
        client.ok("PUT", "/api/workspaces/local/environment-maps", self._put)
        (home / "data").mkdir(exist_ok=True)
        (home / "data" / "a.txt").write_bytes(b"content")
        self._map = {"prefix": "http://gone.example/", "place": str(home / "data")}
        client.ok("PUT", "/api/workspaces/local/data-map", self._map)
        self._store = {"name": "store", "kind": "folder", "settings": {"path": str(home / "data")}, "overwrite": True}
        client.ok("POST", "/api/workspaces/local/datastores", self._store)
        self._dataset = client.ok("POST", "/api/workspaces/local/datasets", DATASET)["id"]
        self._registered("images")
        self._model()
        self._launch = broken_services.launch(client)
        for name, authentication in (("served", "key"), ("tokens", "token")):
            self._service(name, {"authentication": authentication})

    def fresh(self, stem: str) -> str:
        return f"{stem}{next(self._number)}"

    def path(self, label: str) -> dict[str, Any]:
        """Parameters of a route's path that lead to something."""
        for prefix, found in self._paths().items():
            if label.split(" ")[1].startswith(prefix):
                known = found(label)
        return known

    def _paths(self) -> dict[str, Callable[[str], dict[str, Any]]]:
        """The longest prefix that fits comes last."""
        run, live = self._run["id"], self._live["id"]
        return {
            "/": lambda label: {},
            "/api/workspaces/{name}": lambda label: {"name": self._workspace() if _removes(label) else "local"},
            "/api/workspaces/{workspace}/settings": lambda label: {"workspace": "local", "key": "environments.relax"},
            "/api/workspaces/{workspace}/environment": lambda label: {
                "workspace": "local",
                "name": "env-a",
                "version": "1",
            },
            "/api/workspaces/{workspace}/secrets": lambda label: {"workspace": "local", "name": self._secret()},
            "/api/workspaces/{workspace}/wheels": lambda label: {"workspace": "local", "name": WHEEL},
            "/api/workspaces/{workspace}/compute": lambda label: {
                "workspace": "local",
                "name": self._cluster() if _removes(label) else "cluster",
            },
            "/api/workspaces/{workspace}/data": lambda label: {
                "workspace": "local",
                "id": self._dataset,
                "name": self._registered(self.fresh("images")) if _removes(label) else "images",
                "version": 1,
            },
            "/api/workspaces/{workspace}/datastores": lambda label: {
                "workspace": "local",
                "name": self._removable_store() if _removes(label) else "store",
            },
            "/api/workspaces/{workspace}/models": lambda label: {
                "workspace": "local",
                "name": "model",
                "version": self._model() if _removes(label) else "latest",
                "path": "a.txt",
            },
            "/api/workspaces/{workspace}/services": lambda label: {
                "workspace": "local",
                "name": _service_of(label),
                "version": "blue" if label.startswith("PATCH") else self._version(_removes(label)),
            },
            "/api/workspaces/{workspace}/retention": lambda label: {"workspace": "local"},
            "/api/workspaces/{workspace}/experiments": lambda label: {"workspace": "local", "name": "trial"},
            "/api/experiments/{id}": lambda label: {
                "id": self._new_experiment() if _removes(label) else self._experiment["id"]
            },
            "/api/runs/{run_id}": lambda label: {
                "run_id": self._ended() if _removes(label) else run if label.startswith("GET") else live,
                "name": "outputs/a.txt" if label.startswith("GET") else self.fresh("outputs/file"),
                "writer": self.fresh("1-"),
                "node": 0,
            },
            "/api/snapshots": lambda label: {"id": hashlib.sha256(b"").hexdigest()},
            "/runs/{run_id}": lambda label: {"run_id": run, "name": "outputs/a.txt"},
            "/models/": lambda label: {"workspace": "local", "name": "model", "version": 1, "path": "a.txt"},
        }

    def query(self, label: str) -> dict[str, Any]:
        """What else a request must say to be about something that exists."""
        if label.split(" ")[1].startswith("/runs/"):
            return {"key": self._run["web_url"].rpartition("key=")[2]}
        if label.split(" ")[1].startswith("/models/"):
            link = self.client.ok("GET", "/api/workspaces/local/models/model/1/links")["links"]["a.txt"]
            return dict(parse_qsl(urlsplit(link).query))
        if label.startswith("GET") and label.endswith("/models"):
            return {"after": None}
        if "/services" in label:
            return {"wait": None, "revision": None, "tail": 10}
        if label.split(" ")[1].startswith("/api/comparisons"):
            runs = {"run": [self._run["id"], self._live["id"]]}
            return {**runs, "name": ["loss"]} if label.endswith("/curves") else runs
        if label == "GET /api/workspaces/{workspace}/environments/{name}":
            return {"version": None, "label": None}
        if label.startswith("DELETE") and "environment-maps" in label:
            self.client.ok("PUT", "/api/workspaces/local/environment-maps", self._put)
            return {"pattern": "env-*"}
        if label.startswith("DELETE") and "data-map" in label:
            self.client.ok("PUT", "/api/workspaces/local/data-map", self._map)
            return {"prefix": self._map["prefix"]}
        if "/datastores" in label:
            path = "a.txt" if label.startswith("GET") else self.fresh("sent")
            return {"path": path, "below": "", "after": None, "upload": None, "offset": 0, "size": None}
        if label.startswith("GET") and "/datasets" in label:
            return {"version": None, "after": None, "path": "/a.txt"}
        if "/appends/" in label or "/journals/" in label:
            return {"offset": 0}
        if label.startswith("GET") and label.endswith("/retention"):
            return {"logs": "90d", "series": "none"}
        return {}

    def body(self, label: str, generated: Any) -> Any:
        """The generated body, with nothing in it that would start a program or speak to another machine."""
        if "/journals/" in label:
            return JOURNAL
        if label.endswith("/deliveries"):
            return encode(Delivery(parts=[JournalPart(self.fresh("1-"), 0, JOURNAL)]))
        if label.startswith("PUT /api/snapshots") or label == "POST /api/objects":
            return b""
        if not isinstance(generated, dict):
            return generated
        if label.endswith("/objects/handed"):
            return {"token": "0" * 32, "objects": {hashlib.sha256(b"never handed").hexdigest(): 12}}
        if label == "POST /api/runs":
            usual = {"workspace": "local", "experiment": "trial", "kind": "interactive", "target": "local"}
            absent = {"launch", "sweep", "parent_id", "run_id", "snapshot_id"}
            return {**{key: value for key, value in generated.items() if key not in absent}, **usual}
        if "/compute" in label:
            plain = {key: value for key, value in generated.items() if key not in ("engine", "options", "type")}
            named = {"name": self.fresh("cluster"), "vm_size": "", "vm_priority": "dedicated"}
            sizes = {"min_nodes": 0, "max_nodes": 2, "idle_seconds": 1}
            return {**plain, **(named if label.startswith("POST") else {}), **sizes}
        if label == "POST /api/workspaces/{workspace}/environments":
            return {"definition": {"name": self.fresh("env-")}}
        if label == "PUT /api/workspaces/{workspace}/environment-maps":
            return self._put
        if label == "PUT /api/workspaces/{workspace}/data-map":
            return self._map
        if label == "POST /api/workspaces/{workspace}/datastores":
            return self._store
        if label.endswith("/addresses"):
            return {"method": "GET", "paths": ["a.txt"]}
        if label == "POST /api/workspaces/{workspace}/datasets":
            return DATASET
        if label == "POST /api/workspaces/{workspace}/models":
            files = {"run_id": self._run["id"], "path": "outputs/a.txt", "snapshot_id": None}
            absent = {"datasets", "sample_input_dataset", "sample_output_dataset", "framework_version"}
            told = {key: value for key, value in generated.items() if key not in absent}
            return {**told, **files, "name": "model", "request": None}
        if label == "PATCH /api/workspaces/{workspace}/models/{name}/{version}":
            absent = {"add_datasets", "sample_input_dataset", "sample_output_dataset", "add_properties"}
            return {key: value for key, value in generated.items() if key not in absent}
        if label == "POST /api/workspaces/{workspace}/services":
            return {"name": self.fresh("svc-"), "launch": self._launch}
        if "/services/{name}" in label:
            return self._about_service(label, generated)
        if label.endswith("/registrations"):
            return {**generated, "name": self.fresh("images")}
        if label == "POST /api/workspaces":
            return {**generated, "name": self.fresh("workspace-")}
        if "/settings/" in label:
            return {"value": "true"}
        if label.endswith("/links"):
            return {"files": {self.fresh("outputs/link"): hashlib.sha256(b"content").hexdigest()}}
        if label.endswith("/facts"):
            return {"fact": "started"}
        return generated

    def _removable_store(self) -> str:
        name = self.fresh("store")
        self.client.ok("POST", "/api/workspaces/local/datastores", {**self._store, "name": name})
        return name

    def _registered(self, name: str) -> str:
        body = {"name": name, "create_new_version": True}
        self.client.ok("POST", f"/api/workspaces/local/datasets/{self._dataset}/registrations", body)
        return name

    def _model(self) -> int:
        body = {"name": "model", "run_id": self._run["id"], "path": "outputs/a.txt"}
        return int(self.client.ok("POST", "/api/workspaces/local/models", body)["version"])

    def _about_service(self, label: str, generated: Any) -> Any:
        told = {
            "/scale": {"replicas": 2},
            "/keys": {"key": "Primary"},
            "/services/{name}": {"tags": {"a": "b"}, "description": "x"},
        }
        if label.startswith("POST") and "/versions/" in label:
            return {"launch": self._launch, "traffic_percentile": 1}
        if label.startswith("PATCH") and "/versions/" in label:
            return {"traffic_percentile": 5}
        return next((body for end, body in told.items() if label.endswith(end)), generated)

    def _service(self, name: str, settings: dict[str, Any]) -> str:
        body = {"name": name, "kind": "endpoint", "version_name": "blue", "launch": self._launch, "settings": settings}
        self.client.ok("POST", "/api/workspaces/local/services", body)
        return name

    def _version(self, made: bool) -> str:
        """A version to be removed, or a name that no version has. Those that were there before go."""
        base = "/api/workspaces/local/services/served"
        for each in self.client.ok("GET", base)["versions"]:
            if each["name"] != "blue":
                self.client.ok("DELETE", f"{base}/versions/{each['name']}")
        name = self.fresh("version")
        if made:
            self.client.ok("POST", f"{base}/versions/{name}", {"launch": self._launch, "traffic_percentile": 1})
        return name

    def _secret(self) -> str:
        self.client.ok("PUT", "/api/workspaces/local/secrets/mine", {"value": "s"})
        return "mine"

    def _workspace(self) -> str:
        name = self.fresh("workspace-")
        self.client.ok("POST", "/api/workspaces", {"name": name, "subscription_id": "s", "resource_group": "g"})
        return name

    def _cluster(self) -> str:
        name = self.fresh("cluster")
        self.client.ok("POST", "/api/workspaces/local/compute", {"name": name, "max_nodes": 1})
        return name

    def _new_experiment(self) -> str:
        name = self.fresh("trial-")
        return str(self.client.ok("PUT", f"/api/workspaces/local/experiments/{name}")["id"])

    def _ended(self) -> str:
        run = self.client.make_run()
        self.client.end(run)
        return str(run["id"])


def _removes(label: str) -> bool:
    return label.startswith("DELETE")


def _service_of(label: str) -> str:
    if label.startswith("DELETE") and label.endswith("/services/{name}"):
        return "gone"  # a removal is awaited, and nobody does it here
    return "tokens" if label.endswith("/token") else "served"


@contextmanager
def real_things(home: Path) -> Iterator[RealThings]:
    home.mkdir(mode=0o700)
    with serve(Settings(home=home, token=secrets.token_hex(16), secret="s3cret")) as served:
        served.app.state.context.scheduler.services.close()  # what is asked for is stored, and no process is started
        yield RealThings(served.client, home)
