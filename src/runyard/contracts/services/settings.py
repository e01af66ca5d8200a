"""How a service is to run: cores, memory, replicas, authentication, limits of requests. Checked here, and nowhere else.

Whatever is not given is decided by the kind of the service, as SDK v1's services did: one of the kind `aks` asks for a
key and is scaled between one and ten replicas, one of the kinds `aci` and `local` is open and has one replica.
"""

from __future__ import annotations

from typing import Any, Callable, Mapping

from runyard.contracts.services.states import AKS, ENDPOINT
from runyard.contracts.services.worker import is_loopback
from runyard.system.records import asdict, field, fields, record, replace

LOOPBACK = "127.0.0.1"
NO_KEY, KEY, TOKEN = "none", "key", "token"
MOST_REPLICAS = 100


class BadSettings(ValueError):
    """A setting that cannot be; the message names it and says what it can be."""


@record(frozen=True)
class Autoscale:
    """Replicas by load: busy places by all places, against a target in percent."""

    enabled: bool = False
    min: int = 1
    max: int = 10
    target_utilization: int = 70
    refresh_seconds: float = 1.0
    down_seconds: float = 60.0  # for which fewer replicas must do before some are stopped


@record(frozen=True)
class Probes:
    """When a replica counts as one that answers, and when not any more."""

    period_seconds: float = 10.0
    initial_delay_seconds: float = 310.0  # within which it must be ready for the first time
    timeout_seconds: float = 2.0
    success_threshold: int = 1
    failure_threshold: int = 3


@record(frozen=True)
class Batch:
    """Requests that are answered together, by a model that can. A size of 1 is none."""

    size: int = 1
    wait_ms: float = 2.0


@record(frozen=True)
class Settings:
    cpu: float | None = None  # cores; None: what the machine has
    memory_gb: float | None = None
    gpu: int | None = None
    workers: int = 1  # processes of one replica
    replicas: int = 1
    autoscale: Autoscale = field(default_factory=Autoscale)
    authentication: str = NO_KEY
    host: str = LOOPBACK
    port: int | None = None  # None: any that is free, the same for as long as the service lives
    concurrency: int = 1  # calls of run() at once in one worker
    queue_length: int = 100
    queue_wait_ms: int = 0  # 0: for as long as a call may take
    scoring_timeout_ms: int = 60_000
    probes: Probes = field(default_factory=Probes)
    cors_origins: list[str] = field(default_factory=list)
    batch: Batch = field(default_factory=Batch)
    drain_seconds: float = 30.0
    max_request_bytes: int = 100 * 1024 * 1024
    environment_variables: dict[str, str] = field(default_factory=dict)
    allow_unauthenticated: bool = False
    log_requests: bool = True

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    def check(self) -> None:
        """BadSettings when there is something that no service can have."""
        for name, fits, rule in _RULES:
            value = getattr(self, name)
            if value is not None and not fits(value):
                raise BadSettings(f"`{name}` is {value!r}: it must be {rule}.")
        scale = self.autoscale
        if not 0 <= scale.min <= scale.max <= MOST_REPLICAS or scale.max < 1:
            raise BadSettings(
                f"`autoscale` goes from {scale.min} to {scale.max} replicas: min may be 0, max 1 to {MOST_REPLICAS}, "
                "and min not more than max."
            )
        if not 1 <= scale.target_utilization <= 100:
            raise BadSettings(f"`autoscale.target_utilization` is {scale.target_utilization}: it is a percentage.")
        if scale.refresh_seconds <= 0 or scale.down_seconds < 0:
            raise BadSettings("`autoscale.refresh_seconds` must be more than 0, and `down_seconds` not less.")
        if self.batch.size < 1 or self.batch.wait_ms < 0:
            raise BadSettings("`batch.size` must be at least 1, and `batch.wait_ms` not less than 0.")
        for each in fields(Probes):
            if getattr(self.probes, each.name) <= 0:
                raise BadSettings(f"`probes.{each.name}` must be more than 0.")
        if self.authentication == NO_KEY and not is_loopback(self.host) and not self.allow_unauthenticated:
            raise BadSettings(
                f"The service would listen on {self.host}, where other machines reach it, and ask for no key: set "
                "`authentication` to 'key', or `allow_unauthenticated` to true if everybody may call it."
            )

    @property
    def on_demand(self) -> bool:
        """Whether the service may have no replica at all, so that somebody must wake it."""
        return self.autoscale.enabled and self.autoscale.min == 0


def of_kind(kind: str) -> Settings:
    """What a service of a kind has where nothing is said."""
    if kind in (AKS, ENDPOINT):
        return Settings(authentication=KEY, autoscale=Autoscale(enabled=True), queue_wait_ms=500)
    return Settings()


def from_dict(document: Mapping[str, Any], base: Settings) -> Settings:
    """`base` with what a document gives; None stands for what is not given. BadSettings when a name or a type is
    wrong."""
    values: dict[str, Any] = {}
    known = {each.name for each in fields(Settings)}
    for name, value in document.items():
        if value is None:
            continue
        if name not in known:
            raise BadSettings(f"There is no setting `{name}`. There is {_listed(known)}.")
        values[name] = _taken(name, value, getattr(base, name))
    if "replicas" in values and "autoscale" not in document:
        values["autoscale"] = replace(base.autoscale, enabled=False)
    made = replace(base, **values)
    made.check()
    return made


def _taken(name: str, value: Any, base: Any) -> Any:
    parts = {"autoscale": Autoscale, "probes": Probes, "batch": Batch}
    if name not in parts:
        wanted = _TYPES[name]
        if isinstance(value, bool) != (wanted is bool) or not isinstance(value, wanted):
            raise BadSettings(f"`{name}` is {value!r}: it must be {_KINDS[wanted]}.")
        return value
    if not isinstance(value, Mapping):
        raise BadSettings(f"`{name}` is no object.")
    known = {each.name for each in fields(parts[name])}
    unknown = sorted(set(value) - known)
    if unknown:
        raise BadSettings(f"There is no setting `{name}.{unknown[0]}`. `{name}` has {_listed(known)}.")
    given = {key: each for key, each in value.items() if each is not None}
    for key, each in given.items():
        before = getattr(base, key)
        if isinstance(each, bool) != isinstance(before, bool) or not isinstance(each, (bool, int, float)):
            wanted = bool if isinstance(before, bool) else _NUMBER
            raise BadSettings(f"`{name}.{key}` is {each!r}: it must be {_KINDS[wanted]}.")
    return replace(base, **given)


def _listed(names: set[str]) -> str:
    return ", ".join(f"`{each}`" for each in sorted(names))


_NUMBER = (int, float)
_KINDS: dict[Any, str] = {
    _NUMBER: "a number",
    int: "a whole number",
    str: "a text",
    bool: "true or false",
    list: "a list of texts",
    Mapping: "an object of names and texts",
}
_TYPES: dict[str, Any] = {
    **dict.fromkeys(("cpu", "memory_gb", "drain_seconds"), _NUMBER),
    **dict.fromkeys(("gpu", "workers", "replicas", "port", "concurrency", "queue_length"), int),
    **dict.fromkeys(("queue_wait_ms", "scoring_timeout_ms", "max_request_bytes"), int),
    **dict.fromkeys(("authentication", "host"), str),
    **dict.fromkeys(("allow_unauthenticated", "log_requests"), bool),
    "cors_origins": list,
    "environment_variables": Mapping,
}

_RULES: list[tuple[str, Callable[[Any], bool], str]] = [
    ("cpu", lambda value: value > 0, "more than 0"),
    ("memory_gb", lambda value: value > 0, "more than 0"),
    ("gpu", lambda value: value >= 0, "0 or more"),
    ("workers", lambda value: 1 <= value <= 64, "1 to 64"),
    ("replicas", lambda value: 0 <= value <= MOST_REPLICAS, f"0 to {MOST_REPLICAS}"),
    ("authentication", lambda value: value in (NO_KEY, KEY, TOKEN), "'none', 'key' or 'token'"),
    ("host", lambda value: bool(value) and len(value) < 255, "an address of this machine"),
    ("port", lambda value: 1 <= value <= 65535, "1 to 65535"),
    ("concurrency", lambda value: 1 <= value <= 1000, "1 to 1000"),
    ("queue_length", lambda value: 0 <= value <= 100_000, "0 to 100000"),
    ("queue_wait_ms", lambda value: value >= 0, "0 or more"),
    ("scoring_timeout_ms", lambda value: value > 0, "more than 0"),
    ("max_request_bytes", lambda value: value > 0, "more than 0"),
    ("drain_seconds", lambda value: 0 <= value <= 3600, "0 to 3600"),
    ("cors_origins", lambda value: all(isinstance(each, str) for each in value), "a list of texts"),
    (
        "environment_variables",
        lambda value: all(isinstance(each, str) for pair in value.items() for each in pair),
        "names with texts",
    ),
]
