"""What a node runner is told of the service that its run is a replica of: part of the run's launch.

<home>/services/<id>/                the folder of a service
    authentication.json              hashes of its keys (`contracts.services.access`)
    listener.<pid>                   where a process that has the listening socket hands it over
    routes.json                      which version a gateway passes requests on to (`Routes`)
    versions/<name>/listener.<pid>   the same for the processes of one version, where a gateway is in front of them
"""

from __future__ import annotations

from typing import Any, Mapping

from runyard.contracts.services.settings import NO_KEY, Settings, from_dict
from runyard.contracts.services.states import WORKER
from runyard.system.records import asdict, field, fields, record

ROUTES = "routes.json"
ACCESS = "authentication.json"


@record(frozen=True)
class ServicePlan:
    service: str  # its name
    folder: str  # of the service
    listener: str  # the place where the socket is handed over (`serving.listener`)
    revision: int
    host: str
    port: int
    settings: Settings
    role: str = WORKER
    version: str = ""
    replica: int = 0
    models: list[dict[str, Any]] = field(default_factory=list)  # {name, version, tree, root, framework, ...}
    entry_script: str | None = None
    source_directory: str = ""
    user_token_hash: str = ""

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_dict(document: Mapping[str, Any]) -> ServicePlan:
        given = {each.name: document[each.name] for each in fields(ServicePlan) if each.name in document}
        given["settings"] = from_dict(document.get("settings") or {}, Settings(allow_unauthenticated=True))
        return ServicePlan(**given)


@record(frozen=True)
class Route:
    """A version, its share of the requests in percent, and where its replicas listen; port 0: none is ready."""

    version: str
    share: float
    host: str = "127.0.0.1"
    port: int = 0


@record(frozen=True)
class Routes:
    """What `routes.json` holds. Replaced as a whole: a gateway looks at it again when it changes."""

    routes: list[Route] = field(default_factory=list)
    authentication: str = NO_KEY  # what callers are asked for
    allow_unauthenticated: bool = True  # without keys: whether callers may know it by any name
    cors_origins: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_dict(document: Mapping[str, Any]) -> Routes:
        found = [Route(**each) for each in document.get("routes", ())]
        return Routes(
            found,
            str(document.get("authentication") or NO_KEY),
            bool(document.get("allow_unauthenticated", True)),  # a server of before does not say
            [str(each) for each in document.get("cors_origins", ())],
        )
